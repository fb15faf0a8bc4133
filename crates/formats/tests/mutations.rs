//! Every flipped bit and every truncation of a small file of each kind is refused, by all loaders
//! with one verdict.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use crate::common::{self, Small, bytes_of, map_file};
use crate::reader::Reader;
use tamis_formats::{Live, LoadError, MapFile, Options, Parts, SavedBloom, map, read};
use tamis_hash::Rapid;

/// A file whose bytes are changed in place.
struct Changed<'p>(File, &'p Path, Vec<u8>);

impl<'p> Changed<'p> {
    fn new(path: &'p Path, bytes: &[u8]) -> Self {
        fs::write(path, bytes).unwrap();
        Self(File::options().write(true).open(path).unwrap(), path, bytes.to_vec())
    }

    fn set(&mut self, at: usize, byte: u8) {
        self.2[at] = byte;
        self.0.seek(SeekFrom::Start(at as u64)).unwrap();
        self.0.write_all(&[byte]).unwrap();
    }
}

/// Checks that all loaders refuse what the bytes are now, with one verdict. Returns it.
fn refused(small: &Small, path: &Path, bytes: &[u8], what: &str) -> String {
    let [load, read, map] = (small.verdicts)(path, bytes);
    assert!(!load.is_empty(), "{what}: loaded");
    assert!(
        load == read && load == map,
        "{what}: {load} from a file, {read} from a stream, {map} mapped"
    );
    assert!(Reader::new(bytes).is_err(), "{what}: the second reader takes it");
    load
}

fn every_bit(small: &Small) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let bytes = &small.bytes;
    let mut file = Changed::new(&path, bytes);
    let mut found = std::collections::BTreeMap::new();
    for (at, byte) in bytes.iter().copied().enumerate() {
        for bit in 0..8 {
            file.set(at, byte ^ 1 << bit);
            let verdict = refused(small, file.1, &file.2, &format!("bit {bit} of byte {at}"));
            let name = verdict.split([' ', '(']).next().unwrap_or_default().to_owned();
            *found.entry(name).or_insert(0) += 1;
        }
        file.set(at, byte);
    }
    // Each part of the file is refused by its own check: 8 bits per byte.
    assert_eq!(found["Magic"], 8 * 8);
    assert_eq!(found["Version"], 4 * 8);
    assert_eq!(found["Field"], 4 * 8);
    assert_eq!(found["HeaderChecksum"], (256 - 16) * 8);
    assert_eq!(found["TableChecksum"], 8 * 8);
    assert_eq!(found["NotZero"], (4096 - 256 - 8) * 8);
    assert_eq!(found["ChunkChecksum"], (bytes.len() - 4096) * 8);
    assert_eq!(found.len(), 7);
    assert_eq!((small.verdicts)(&path, bytes), ["", "", ""]);
}

fn every_truncation(small: &Small) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let bytes = &small.bytes;
    let file = Changed::new(&path, bytes);
    // From the end. To write each length anew would wait for the disk: ext4 flushes a file that was
    // emptied first.
    for len in (0..bytes.len()).rev() {
        file.0.set_len(len as u64).unwrap();
        let verdict = refused(small, &path, &bytes[..len], &format!("{len} bytes"));
        let expected = if len < 256 { 256 } else { bytes.len() };
        assert_eq!(verdict, format!("Truncated {{ found: {len}, expected: {expected} }}"));
    }
}

/// Parts cut out, repeated and swapped.
fn splices(small: &Small) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let bytes = &small.bytes;
    let len = bytes.len();
    for (from, to) in
        [(0, 8), (8, 16), (88, 96), (256, 264), (250, 300), (4096, 4104), (len - 8, len)]
    {
        let cut = [&bytes[..from], &bytes[to..]].concat();
        let zeroed = [&bytes[..from], &vec![0; to - from], &bytes[to..]].concat();
        let repeated = [&bytes[..to], &bytes[from..]].concat();
        let moved = [&bytes[..from], &bytes[to..], &bytes[from..to]].concat();
        for changed in [cut, zeroed, repeated, moved] {
            if changed == *bytes {
                continue;
            }
            fs::write(&path, &changed).unwrap();
            let [load, read, map] = (small.verdicts)(&path, &changed);
            // A stream may go on after the filter, so it does not see bytes behind the end.
            let trails = changed.starts_with(bytes);
            assert!(!load.is_empty() && load == map, "{from}..{to}: {load}, {map}");
            assert_eq!(read.is_empty(), trails, "{from}..{to}: {read}");
            assert!(!trails || load.starts_with("Trailing"), "{from}..{to}: {load}");
        }
    }
}

macro_rules! for_each_kind {
    ($name:ident $check:ident) => {
        mod $name {
            use super::*;

            for_each_kind! {
                $check: bloom small_bloom, blocked small_blocked, once small_once,
                cuckoo small_cuckoo, once_cuckoo small_once_cuckoo, scalable small_scalable,
                once_scalable small_once_scalable, counting small_counting,
                rotating small_rotating, growing_cuckoo small_growing_cuckoo,
                growing_once small_growing_once
            }

            #[test]
            fn foreign() {
                $check(&crate::foreign::small());
            }
        }
    };
    ($check:ident: $($kind:ident $filter:ident),*) => {$(
        #[test]
        fn $kind() {
            $check(&Small::of(&common::$filter()));
        }
    )*};
}

for_each_kind!(every_flipped_bit_is_refused every_bit);
for_each_kind!(every_truncation_is_refused every_truncation);
for_each_kind!(every_splice_is_refused splices);

/// A merge from a damaged file changes nothing.
#[test]
fn a_damaged_file_is_not_merged() {
    fn check<F: SavedBloom>(target: &F, full: &F) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let bytes = bytes_of(full);
        let empty = bytes_of(target);
        let mut changed = Changed::new(&path, &bytes);
        for at in (0..bytes.len()).step_by(7) {
            changed.set(at, bytes[at] ^ 4);
            let result = Options::new().merge_from(target, &path);
            assert!(result.is_err() && bytes_of(target) == empty, "byte {at}");
            changed.set(at, bytes[at]);
        }
    }
    macro_rules! check {
        ($($filter:ident)*) => {$(
            let mut target = common::$filter();
            target.clear();
            check(&target, &common::$filter());
        )*};
    }
    check!(small_bloom small_blocked small_once);
}

/// Nor does one that is damaged in its second chunk.
#[test]
fn the_chunks_before_the_damaged_one_are_not_merged() {
    let builder = tamis_bloom::BlockedBloomFilter::<u64>::builder().bits(3 << 23).probes(1);
    let builder = builder.hasher(Rapid::with_seed(1));
    let full = common::filled(builder.clone().build().unwrap(), 100_000);
    let target = builder.build().unwrap();
    let mut bytes = bytes_of(&full);
    bytes[4096 + (1 << 20) + 12345] ^= 1;
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), &bytes).unwrap();
    assert!(matches!(
        Options::new().merge_from(&target, file.path()),
        Err(LoadError::ChunkChecksum { chunk: 1, .. })
    ));
    assert!(
        bytes_of(&target)[4096..].iter().all(|byte| *byte == 0),
        "a damaged file was merged in part"
    );
}

/// The checks of a live file are those of its header, its length, its zeros and its spare bits.
#[test]
fn every_bit_before_the_body_of_a_live_file_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live");
    let builder = tamis_bloom::BloomFilter::<u64>::builder().bits(999).probes(5);
    let parts =
        Parts { geometry: builder.geometry().unwrap(), capacity: 9, hasher: Rapid::with_seed(1) };
    Live::<common::Bloom>::create_file(&path, &parts, &Options::new()).unwrap();
    let bytes = fs::read(&path).unwrap();
    let mut file = Changed::new(&path, &bytes);
    let options = Options::new().live(true);
    let body_of_items = 4096..4096 + 999 / 8;
    for (at, byte) in bytes.iter().copied().enumerate() {
        for bit in 0..8 {
            file.set(at, byte ^ 1 << bit);
            let loaded = options.load::<common::Bloom>(file.1);
            let streamed = options.read::<common::Bloom>(&file.2[..]);
            assert_eq!(format!("{loaded:?}"), format!("{streamed:?}"), "bit {bit} of byte {at}");
            let is_item = body_of_items.contains(&at) || (at == 4096 + 999 / 8 && bit < 999 % 8);
            assert_eq!(loaded.is_ok(), is_item, "bit {bit} of byte {at}");
            assert_eq!(Reader::new(&file.2).is_ok(), is_item, "bit {bit} of byte {at}");
            // The mapping reads only the header. A flag that is flipped makes it no live file.
            // SAFETY: nothing makes the file shorter.
            let file = unsafe {
                MapFile::new(File::options().read(true).write(true).open(&path).unwrap())
            };
            assert_eq!(
                Live::<common::Bloom>::open(file).is_ok(),
                at >= 256,
                "bit {bit} of byte {at}"
            );
        }
        file.set(at, byte);
    }
    assert!(map::<common::Bloom>(map_file(&path)).is_err());
    assert!(read::<common::Bloom>(&bytes[..]).is_err());
}
