//! What several tests need: filters with items, their bytes, and the answers of every loader.

#![allow(dead_code, reason = "each test uses a part")]

use std::fs::File;
use std::path::Path;

use tamis_bloom::{BlockedBloomFilter, BloomFilter, OnceBloomFilter};
use tamis_cuckoo::{CuckooFilter, OnceCuckooFilter};
use tamis_formats::{
    LoadError, MapFile, Options, Saved, load, load_frozen, map, read, read_frozen, write,
};
use tamis_hash::{HashItem, Rapid, StableHasher};

pub(crate) type Bloom = BloomFilter<u64, Rapid>;
pub(crate) type Blocked = BlockedBloomFilter<u64, Rapid>;
pub(crate) type Once = OnceBloomFilter<u64, Rapid>;
pub(crate) type Cuckoo = CuckooFilter<u64, Rapid>;
pub(crate) type OnceCuckoo = OnceCuckooFilter<u64, Rapid>;

/// Returns the bytes that a stream of the filter has.
pub(crate) fn bytes_of<F: Saved>(filter: &F) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(filter, &mut bytes).unwrap();
    bytes
}

/// Inserts the numbers from 0 to `items`, as far as they fit.
pub(crate) fn filled<F: Saved>(filter: F, items: u64) -> F
where
    F::Hasher: HashItem<u64>,
{
    for item in 0..items {
        let _ = filter.try_insert_hash(filter.hasher().hash_item(&item));
    }
    filter
}

/// Returns a small filter of each kind. The once filter has a lock in each line.
pub(crate) fn small_bloom() -> Bloom {
    let builder = BloomFilter::<u64>::builder().bits(999).probes(7);
    filled(builder.hasher(Rapid::with_seed(1)).build().unwrap(), 50)
}

pub(crate) fn small_blocked() -> Blocked {
    let builder = BlockedBloomFilter::<u64>::builder().bits(1024).probes(6).words(2);
    filled(builder.hasher(Rapid::with_seed(2)).build().unwrap(), 50)
}

pub(crate) fn small_once() -> Once {
    let builder = OnceBloomFilter::<u64>::builder().bits(1024).probes(6).words(2);
    filled(builder.hasher(Rapid::with_seed(3)).build().unwrap(), 50)
}

pub(crate) fn small_cuckoo() -> Cuckoo {
    let builder = CuckooFilter::<u64>::builder().buckets(10).slots(5).fingerprint_bits(12);
    filled(builder.hasher(Rapid::with_seed(4)).build().unwrap(), 30)
}

pub(crate) fn small_once_cuckoo() -> OnceCuckoo {
    let builder = OnceCuckooFilter::<u64>::builder().buckets(14).slots(4).fingerprint_bits(16);
    filled(builder.hasher(Rapid::with_seed(5)).build().unwrap(), 30)
}

/// Maps a file.
pub(crate) fn map_file(path: &Path) -> MapFile {
    // SAFETY: the tests do not make a mapped file shorter.
    unsafe { MapFile::new(File::open(path).unwrap()) }
}

/// Returns the verdict of each loader on a file: what `Debug` prints of the error, or an empty text.
pub(crate) fn verdicts<F: Saved>(path: &Path, bytes: &[u8]) -> [String; 3] {
    let text = |error: LoadError| format!("{error:?}");
    [
        load::<F>(path).err().map_or_else(String::new, text),
        read::<F>(bytes).err().map_or_else(String::new, text),
        map::<F>(map_file(path))
            .and_then(|mapped| mapped.verify())
            .err()
            .map_or_else(String::new, text),
    ]
}

/// Saves the filter and reads it back in every way. All have the same answers, and the same bytes when saved again.
pub(crate) fn check_round_trip<F: Saved>(filter: &F)
where
    F::Hasher: HashItem<u64>,
{
    check_answers(filter, &bytes_of(filter), &Options::new());
}

/// As [`check_round_trip`], with bytes that are given.
pub(crate) fn check_answers<F: Saved>(filter: &F, bytes: &[u8], options: &Options)
where
    F::Hasher: HashItem<u64>,
{
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter");
    options.save(filter, &path).unwrap();
    assert!(std::fs::read(&path).unwrap() == bytes, "a file has other bytes than a stream");
    assert_eq!(bytes.len() as u64, tamis_formats::encoded_len(filter));

    // Items that are in the filter, and items that are not.
    let hashes: Vec<u64> = (0..3000).map(|item| filter.hasher().hash_item(&item)).collect();
    let answers: Vec<bool> = hashes.iter().map(|hash| filter.contains_hash(*hash)).collect();
    let check = |how: &str, contains: &dyn Fn(u64) -> bool| {
        let same = hashes.iter().zip(&answers).all(|(hash, answer)| contains(*hash) == *answer);
        assert!(same, "{how} gives other answers");
    };

    let loaded: F = options.load(&path).unwrap();
    let from_stream: F = options.read(bytes).unwrap();
    for (how, again) in [("load", loaded), ("read", from_stream)] {
        check(how, &|hash| again.contains_hash(hash));
        let mut again_bytes = Vec::new();
        options.write(&again, &mut again_bytes).unwrap();
        assert!(again_bytes == bytes, "{how}: other bytes when written again");
        options.save(&again, folder.path().join(how)).unwrap();
        assert!(
            std::fs::read(folder.path().join(how)).unwrap() == bytes,
            "{how}: other bytes when saved again"
        );
        assert_eq!(again.capacity(), filter.capacity());
        assert_eq!(again.size_in_bytes(), filter.size_in_bytes());
        assert_eq!(again.len_estimate(), filter.len_estimate());
        assert_eq!(again.hasher().key(), filter.hasher().key());
    }
    let frozen = options.load_frozen::<F>(&path).unwrap();
    check("load_frozen", &|hash| frozen.contains_hash(hash));
    let frozen = options.read_frozen::<F>(bytes).unwrap();
    check("read_frozen", &|hash| frozen.contains_hash(hash));
    let mapped = options.map::<F>(map_file(&path)).unwrap();
    check("map", &|hash| mapped.contains_hash(hash));
    mapped.verify().unwrap();
    let mut several = Vec::new();
    mapped.contains_hashes(hashes.iter().copied(), |_, hit| several.push(hit));
    assert!(several == answers, "map gives other answers to many");
    // The options are those of the file, so that the plain functions refuse a file with a policy.
    if *options == Options::new() {
        assert!(load_frozen::<F>(&path).is_ok() && read_frozen::<F>(bytes).is_ok());
    }
}
