//! Loads arbitrary files in every way: all ways have one verdict, which is that of a second reader.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_core::de::value::{BytesDeserializer, Error, StrDeserializer};
use tamis::hash::AnyStable;
use tamis_formats::{Info, LoadError, MapFile, Options, Saved};

use crate::file::{file_of, types, with_kind};
use crate::load_second;
use crate::memory_file::memory_file;
use crate::reader::Reader;

/// A type of filter that can be saved, and mapped or not.
pub(crate) trait Ways: Saved {
    /// Maps a file and checks all of it. Where the filter cannot be mapped, loads it for queries.
    fn mapped(file: File, options: &Options) -> Option<LoadError>;
}

macro_rules! ways {
    ($($name:ident)*, |$file:ident, $options:ident, $frozen:ident| $error:expr) => {$(
        impl Ways for types::$name {
            fn mapped($file: File, $options: &Options) -> Option<LoadError> {
                let path = format!("/proc/self/fd/{}", $file.as_raw_fd());
                let $frozen = || $options.load_frozen::<Self>(path).err();
                $error
            }
        }
    )*};
}

ways!(Bloom BlockedBloom OnceBloom Cuckoo OnceCuckoo, |file, options, frozen| {
    let mapping = file.try_clone().and_then(MapFile::sealed).map_err(LoadError::from);
    match mapping.and_then(|file| options.map::<Self>(file)) {
        Err(LoadError::NotInPlace { .. }) => frozen(),
        map => map.and_then(|mapped| mapped.verify()).err(),
    }
});
ways!(ScalableBloom OnceScalableBloom CountingBloom RotatingBloom, |file, options, frozen| frozen());

/// Checks one file.
pub(crate) fn load_diff(data: &[u8]) {
    let bytes = file_of(data);
    let (info, reader) = (Info::read(&bytes[..]).ok(), Reader::new(&bytes));
    assert!(info.is_some() || reader.is_err(), "the second reader takes a header that is refused");
    let kind = info.as_ref().map_or(tamis_formats::Kind::Bloom, Info::kind);
    with_kind!(kind, F => {
        check::<F>(&bytes, info.as_ref());
        if let Some(info) = &info {
            load_second::check::<F>(&bytes, info, reader);
        }
    });
}

/// Loads bytes in every way: from a file, from a stream, mapped, and through serde. Returns the
/// errors.
pub(crate) fn verdicts<F: Ways>(bytes: &[u8], options: &Options) -> [Option<LoadError>; 4] {
    let file = memory_file(bytes);
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let load = options.load::<F>(&path).err();
    let frozen = options.load_frozen::<F>(&path).err();
    let read = options.read::<F>(Drip(bytes)).err();
    let map = F::mapped(file, options);
    // serde has the text of the error.
    let text = load.as_ref().map(ToString::to_string);
    let of_bytes = options.deserialize::<F, _>(BytesDeserializer::<Error>::new(bytes)).err();
    assert_eq!(of_bytes.map(|error| error.to_string()), text);
    let base64 = STANDARD.encode(bytes);
    let of_text = options.deserialize::<F, _>(StrDeserializer::<Error>::new(&base64)).err();
    assert_eq!(of_text.map(|error| error.to_string()), text);
    [load, frozen, read, map]
}

fn check<F: Ways<Hasher = AnyStable>>(bytes: &[u8], info: Option<&Info>) {
    let normalization = info.map_or_else(Default::default, Info::normalization);
    let text = |error: &Option<LoadError>| format!("{error:?}");
    for live in [false, true] {
        let options = Options::new().normalization(normalization).live(live);
        let [load, frozen, read, map] = verdicts::<F>(bytes, &options);
        let is_writable = !matches!(load, Some(LoadError::Unsupported { .. }));
        assert!(!is_writable || text(&frozen) == text(&load), "{frozen:?} frozen, {load:?} loaded");
        // The end of a stream is not known before: it may go on after the filter, and before it
        // ends early, another fault may be found.
        match &load {
            Some(LoadError::Trailing { .. }) => {}
            Some(LoadError::Truncated { .. }) => assert!(read.is_some()),
            _ => assert_eq!(text(&read), text(&load), "read and loaded"),
        }
        // A live file is never mapped for queries.
        match (info, &map) {
            (Some(info), Some(LoadError::Live)) if live => assert!(info.is_live()),
            _ => assert_eq!(text(&map), text(&frozen), "mapped and loaded"),
        }
    }
}

/// A reader that returns few bytes at a time, like a slow pipe.
pub(crate) struct Drip<'b>(pub(crate) &'b [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let len = to.len().min(1 + self.0.len() / 3);
        self.0.read(&mut to[..len])
    }
}
