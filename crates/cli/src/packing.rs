//! The compression of an input, recognised by its first bytes and not by its name.

use core::fmt;
use std::io::{self, BufReader, ErrorKind, Read};

use crate::gz::Members;
use crate::zst::Frames;

/// The compression of some data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// None.
    Plain,
    Gzip,
    Zstandard,
    /// A compression that is recognised but not supported.
    Foreign(Foreign),
}

/// A compression that is recognised but not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    name: &'static str,
    /// The command that prints the decompressed contents of a file.
    tool: &'static str,
}

/// The first bytes ("magic") of each compression. They contain bytes that do not occur in text, or
/// are so long that no text begins with them by chance.
const MAGIC: [(&[u8], Packing); 18] = [
    // The third byte is the method; there is only one.
    (b"\x1f\x8b\x08", Packing::Gzip),
    (b"\x28\xb5\x2f\xfd", Packing::Zstandard),
    // Level 9 (`of` maps the other levels to it), and then the first block, or the end if there is
    // none.
    (b"BZh91AY&SY", foreign("bzip2", "bzip2 -dc")),
    (b"BZh9\x17\x72\x45\x38\x50\x90", foreign("bzip2", "bzip2 -dc")),
    (b"\xfd7zXZ\0", foreign("xz", "xz -dc")),
    (b"\x04\x22\x4d\x18", foreign("lz4", "lz4 -dc")),
    (b"\x02\x21\x4c\x18", foreign("lz4 (the legacy format)", "lz4 -dc")),
    (b"\x1f\x9d", foreign("compress (.Z)", "gzip -dc")),
    (b"\x1f\xa0", foreign("compress -H", "gzip -dc")),
    (b"PK\x03\x04", foreign("zip", "unzip -p")),
    (b"PK\x05\x06", foreign("zip", "unzip -p")),
    (b"PK\x07\x08", foreign("zip", "unzip -p")),
    (b"LZIP\x01", foreign("lzip", "lzip -dc")),
    (b"\x89LZO\0\r\n\x1a\n", foreign("lzop", "lzop -dc")),
    (b"7z\xbc\xaf\x27\x1c", foreign("7z", "7z x -so")),
    (b"\xff\x06\0\0sNaPpY", foreign("snappy", "snzip -dc")),
    (b"Rar!\x1a\x07", foreign("rar", "unrar p -inul")),
    (b"MSCF\0\0\0\0", foreign("cab", "cabextract -p")),
];

/// The length of the longest magic: no more bytes are needed.
pub(crate) const HEAD: usize = 10;

const fn foreign(name: &'static str, tool: &'static str) -> Packing {
    Packing::Foreign(Foreign { name, tool })
}

impl Packing {
    /// Returns the compression of data that begins with `head`, or `None` if more bytes are needed
    /// to decide.
    fn of(head: &[u8]) -> Option<Self> {
        // The levels of bzip2, 1 to 9, make no difference.
        let mut head = head.to_vec();
        if let [b'B', b'Z', b'h', level @ b'1'..=b'9', ..] = head.as_mut_slice() {
            *level = b'9';
        }
        // A skippable frame of Zstandard begins with any of 16 bytes.
        let skipped = match head.as_slice() {
            [0x50..=0x5f, rest @ ..] => starts(rest, b"\x2a\x4d\x18"),
            _ => Some(false),
        };
        // `open`: more bytes could still complete a magic.
        let mut open = skipped.is_none();
        if skipped == Some(true) {
            return Some(Self::Zstandard);
        }
        for (magic, packing) in MAGIC {
            match starts(&head, magic) {
                Some(true) => return Some(packing),
                Some(false) => {}
                None => open = true,
            }
        }
        (!open).then_some(Self::Plain)
    }

    /// Recognises the compression of `reader` by its first bytes; returns it and the bytes read. It
    /// calls `read` only until it can decide, so that it does not wait for more of a slow pipe.
    pub(crate) fn peek(reader: &mut impl Read) -> io::Result<(Self, Vec<u8>)> {
        let mut head = [0; HEAD];
        let mut length = 0;
        let packing = loop {
            if let Some(packing) = Self::of(&head[..length]) {
                break packing;
            }
            match reader.read(&mut head[length..]) {
                // Data that ends within a magic is not compressed.
                Ok(0) => break Self::Plain,
                Ok(read) => length += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        Ok((packing, head[..length].to_vec()))
    }

    /// Returns a reader of the decompressed data.
    pub(crate) fn unpack(self, reader: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        match self {
            Self::Plain | Self::Foreign(_) => Box::new(reader),
            Self::Gzip => Box::new(Members::new(BufReader::new(reader))),
            Self::Zstandard => Box::new(Frames::new(BufReader::new(reader))),
        }
    }
}

/// Returns whether `head` starts with `magic`, or `None` if it is too short to decide.
fn starts(head: &[u8], magic: &[u8]) -> Option<bool> {
    let both = head.len().min(magic.len());
    let same = head[..both] == magic[..both];
    if same && both < magic.len() { None } else { Some(same) }
}

impl Foreign {
    /// The error for an input with this compression, and what to do.
    pub(crate) fn refusal(self) -> Refusal {
        let Self { name, tool } = self;
        Refusal(format!(
            "compressed with {name}, which is not supported; decompress it with '{tool}' first, or give --no-decompress \
             to read the compressed bytes"
        ))
    }
}

/// Why an input is not read. It travels inside an `io::Error` if the input is opened while the run
/// goes on.
#[derive(Debug)]
pub(crate) struct Refusal(String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_magic_is_recognised_only_when_complete() {
        for (magic, packing) in MAGIC {
            assert_eq!(Packing::of(magic), Some(packing), "{magic:?}");
            assert!(magic.len() <= HEAD, "{magic:?}");
            for length in 0..magic.len() {
                assert_eq!(Packing::of(&magic[..length]), None, "{magic:?} {length}");
                let mut other = magic.to_vec();
                other[length] = b'\n';
                // The magic of lzop contains a line end itself.
                assert_eq!(Packing::of(&other[..=length]), plain_unless(&other[..=length], magic));
            }
        }
    }

    /// The expected result for a changed magic: plain, unless the change made no difference.
    fn plain_unless(changed: &[u8], magic: &[u8]) -> Option<Packing> {
        if magic.starts_with(changed) { Packing::of(changed) } else { Some(Packing::Plain) }
    }

    #[test]
    fn bzip2_levels_and_skippable_frames_are_recognised() {
        for level in b'1'..=b'9' {
            let head = [b"BZh".as_slice(), &[level], b"1AY&SY"].concat();
            assert!(matches!(Packing::of(&head), Some(Packing::Foreign(_))), "{level}");
        }
        for first in 0x50..=0x5f {
            assert_eq!(Packing::of(&[first, 0x2a, 0x4d, 0x18]), Some(Packing::Zstandard));
        }
    }

    #[test]
    fn text_is_recognised_at_the_first_byte_that_no_magic_has() {
        for text in
            ["o", "P\n", "BZ\n", "BZh91AY&S\n", "BZh0", "7z\n", "Rar!\n", "\n", "LZIP\n", "PK\n"]
        {
            assert_eq!(Packing::of(text.as_bytes()), Some(Packing::Plain), "{text:?}");
            let open = text.strip_suffix('\n').unwrap_or("");
            assert_eq!(Packing::of(open.as_bytes()), None, "{open:?}");
            let (packing, head) = Packing::peek(&mut open.as_bytes()).expect("memory");
            assert_eq!((packing, head), (Packing::Plain, open.as_bytes().to_vec()), "{open:?}");
        }
    }
}
