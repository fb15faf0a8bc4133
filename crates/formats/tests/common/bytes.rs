//! The bytes of a file, to be changed, with right checksums.

#![allow(dead_code, reason = "each test uses a part")]

use std::fs;
use std::io::{self, Read};

use tamis_formats::load;
use twox_hash::XxHash3_64;

use crate::common::{Ways, bytes_of, verdicts};
use crate::reader::Reader;

/// The bytes of a file, to be changed.
#[derive(Clone)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Bytes {
    pub(crate) fn of<F: Ways>(filter: &F) -> Self {
        Self(bytes_of(filter))
    }

    pub(crate) fn put(mut self, at: usize, field: impl AsRef<[u8]>) -> Self {
        let field = field.as_ref();
        self.0[at..at + field.len()].copy_from_slice(field);
        self
    }

    pub(crate) fn u32(self, at: usize, value: u32) -> Self {
        self.put(at, value.to_le_bytes())
    }

    pub(crate) fn u64(self, at: usize, value: u64) -> Self {
        self.put(at, value.to_le_bytes())
    }

    /// Makes the checksum of the header right.
    pub(crate) fn sum_header(self) -> Self {
        let sum = XxHash3_64::oneshot(&self.0[..248]);
        self.u64(248, sum)
    }

    /// Makes all checksums right, of a body of one chunk.
    pub(crate) fn sum_all(self) -> Self {
        let chunk = XxHash3_64::oneshot(&self.0[4096..]);
        let table = XxHash3_64::oneshot(&chunk.to_le_bytes());
        self.u64(256, chunk).u64(144, table).sum_header()
    }

    /// Sets the sizes, and the offset and length of a body with this number of lines.
    pub(crate) fn sizes(self, size: u64, probes: u32, words: u32, lines: u128) -> Self {
        let len = (lines * 64) as u64;
        let offset = (256 + 8 * len.div_ceil(1 << 20)).next_multiple_of(4096);
        self.u64(88, size)
            .u32(96, probes)
            .u32(100, words)
            .u64(120, offset)
            .u64(128, len)
            .sum_header()
    }

    /// Checks that every loader refuses the bytes with this error, and that its message contains
    /// the text.
    #[track_caller]
    pub(crate) fn refused<F: Ways>(&self, error: &str, text: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, &self.0).unwrap();
        let [load_text, read_text, map_text] = verdicts::<F>(&path, &self.0);
        assert!(load_text.starts_with(error), "{load_text}");
        assert!(
            load_text == read_text && load_text == map_text,
            "{load_text}, {read_text}, {map_text}"
        );
        let message = load::<F>(&path).err().unwrap().to_string();
        assert!(message.contains(text), "{message}");
        assert!(Reader::new(&self.0).is_err());
    }
}

/// A reader that returns an error.
pub(crate) struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the line is cut"))
    }
}
