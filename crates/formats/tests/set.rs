//! Sets of filters against exact sets: no key is missed, false positives are as rare as the filters
//! report, the cache stays within its budget, and threads agree.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread;

use statrs::distribution::{Binomial, DiscreteCDF};
use tamis_bloom::{BlockedBloomFilter, BloomFilter, OnceBloomFilter};
use tamis_cuckoo::{CuckooFilter, OnceCuckooFilter};
use tamis_formats::{FilterSet, Kind, LoadError, MapFile, SetError, SetInfo, SetWriter};
use tamis_hash::{Algorithm, HashItem, Rapid};
use tempfile::TempDir;

const FILTERS: u64 = 40;
const KEYS: u64 = 3000;

/// Returns the keys of a filter. Each key is in several filters, and neighbours share keys.
fn keys(filter: u64) -> BTreeSet<u64> {
    (0..KEYS).filter(|key| key % 7 == filter % 7 || key / 100 == filter).collect()
}

/// Writes a set of filters of all kinds and of different sizes.
fn example() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    let mut set = SetWriter::<u64>::create(&path).unwrap();
    for number in 0..FILTERS {
        let keys = keys(number);
        let name = format!("segment {number}");
        macro_rules! add {
            ($type:ident) => {{
                let filter = $type::<u64>::builder()
                    .capacity(keys.len())
                    .false_positive_rate(0.01)
                    .hasher(Rapid::with_seed(5))
                    .build()
                    .unwrap();
                keys.iter().for_each(|key| _ = filter.insert(key));
                set.add(&name, &filter).unwrap();
            }};
        }
        match number % 5 {
            0 => add!(BloomFilter),
            1 => add!(BlockedBloomFilter),
            2 => add!(OnceBloomFilter),
            3 => add!(CuckooFilter),
            _ => add!(OnceCuckooFilter),
        }
    }
    assert!(!path.exists(), "the set has its path before it is complete");
    set.finish().unwrap();
    (folder, path)
}

#[test]
fn the_index_describes_the_filters() {
    let (_folder, path) = example();
    let info = SetInfo::open(&path).unwrap();
    assert_eq!((info.len(), info.algorithm()), (FILTERS as usize, Some(Algorithm::Rapid)));
    for (number, name) in info.names().enumerate() {
        assert_eq!(name, format!("segment {number}").as_bytes());
        assert_eq!(info.position(name), Some(number));
        assert_eq!(info.info(number).unwrap().kind(), Kind::ALL[number % 5]);
    }
    assert_eq!((info.name(FILTERS as usize), info.position("segment")), (None, None));
}

/// Of every kind: the copy of a set is the set.
#[test]
fn a_set_of_copies_is_the_same_file() {
    let (folder, path) = example();
    let set = FilterSet::<u64>::open(&path, 0).unwrap();
    let hasher = set.hasher().expect("there are filters");
    assert_eq!(hasher.hash_item(&7_u64), Rapid::with_seed(5).hash_item(&7_u64));
    let copy = folder.path().join("copy");
    let mut copies = SetWriter::<u64>::create(&copy).unwrap();
    (0..set.len()).for_each(|filter| copies.copy_from(set.info(), filter).unwrap());
    copies.finish().unwrap();
    assert!(std::fs::read(&copy).unwrap() == std::fs::read(&path).unwrap());
}

#[test]
fn which_misses_no_key_and_adds_as_few_as_the_filters_report() {
    let (_folder, path) = example();
    let set = FilterSet::<u64>::open(&path, 1 << 30).unwrap();
    // Every key is found in each of its filters.
    let exact: Vec<BTreeSet<u64>> = (0..FILTERS).map(keys).collect();
    for key in 0..KEYS {
        let found = set.which(&key).unwrap();
        assert!(found.is_sorted());
        let right = (0..exact.len()).filter(|filter| exact[*filter].contains(&key));
        assert!(right.into_iter().all(|filter| found.contains(&filter)), "key {key} is missed");
    }
    // Other keys, in each filter: by exact binomial bounds at alpha = 1e-6 for all filters
    // together.
    let others: Vec<u64> = (KEYS..KEYS + 200_000).collect();
    let mut hits = [0_u64; FILTERS as usize];
    for found in set.which_many(&others).unwrap() {
        found.into_iter().for_each(|filter| hits[filter] += 1);
    }
    for (filter, hits) in hits.into_iter().enumerate() {
        let rate = set.get(filter).unwrap().false_positive_rate();
        assert!(rate < 0.02, "filter {filter} has the rate {rate}");
        let expected = Binomial::new(rate, others.len() as u64).unwrap();
        let alpha = 1e-6 / (2 * FILTERS) as f64;
        let range = expected.inverse_cdf(alpha)..=expected.inverse_cdf(1.0 - alpha);
        assert!(range.contains(&hits), "filter {filter}: {hits} false positives of {range:?}");
    }
}

#[test]
fn all_ways_to_ask_give_the_same_answers() {
    let (_folder, path) = example();
    let set = FilterSet::<u64>::open(&path, 1 << 30).unwrap();
    let keys: Vec<u64> = (0..2 * KEYS).collect();
    let together = set.which_many(&keys).unwrap();
    for (key, found) in keys.iter().zip(&together) {
        assert_eq!(set.which(key).unwrap(), *found);
        let each = (0..set.len()).filter(|filter| set.get(*filter).unwrap().contains(key));
        assert_eq!(each.collect::<Vec<_>>(), *found);
    }
}

/// Maps the file of a set.
fn mapped(path: &Path, budget: u64) -> FilterSet<u64> {
    // SAFETY: the tests do not make a mapped file shorter.
    let file = unsafe { MapFile::new(File::open(path).unwrap()) };
    FilterSet::map(file, budget).unwrap()
}

#[test]
fn a_mapped_set_gives_the_answers_of_a_loaded_one() {
    let (_folder, path) = example();
    let loaded = FilterSet::<u64>::open(&path, 1 << 30).unwrap();
    let keys: Vec<u64> = (0..2 * KEYS).collect();
    let answers = loaded.which_many(&keys).unwrap();
    for budget in [0, 10_000, u64::MAX] {
        let set = mapped(&path, budget);
        assert_eq!(set.which_many(&keys).unwrap(), answers);
        assert_eq!(set.which(&7).unwrap(), answers[7]);
        assert!(set.cached_bytes() <= budget.min(loaded.cached_bytes()));
        for filter in 0..set.len() {
            set.verify(filter).unwrap();
            let (one, other) = (set.get(filter).unwrap(), loaded.get(filter).unwrap());
            assert_eq!(one.false_positive_rate(), other.false_positive_rate());
            assert_eq!(one.size_in_bytes(), other.size_in_bytes());
        }
        assert!(matches!(
            set.verify(FILTERS as usize),
            Err(SetError::NoFilter { filter: 40, len: 40 })
        ));
    }
    // An empty set, and a normalization.
    SetWriter::<u64>::create(&path).unwrap().finish().unwrap();
    assert!(mapped(&path, 0).which(&1).unwrap().is_empty());
    // The set that was replaced is still there.
    assert_eq!(loaded.which(&7).unwrap(), answers[7]);
}

/// A mapping reads the header of a filter. A damaged body is found by `verify`.
#[test]
fn a_mapped_filter_is_checked_on_demand() {
    let (_folder, path) = example();
    let mut bytes = std::fs::read(&path).unwrap();
    let first = SetInfo::open(&path).unwrap().info(0).unwrap();
    bytes[first.body_offset() as usize + 5] ^= 1;
    // The zeros after filter 0.
    let end = first.file_len() as usize;
    assert!(!end.is_multiple_of(4096));
    std::fs::write(&path, &bytes).unwrap();
    let set = mapped(&path, u64::MAX);
    assert!(set.get(0).is_ok() && set.verify(1).is_ok());
    let error = set.verify(0).unwrap_err();
    assert!(
        matches!(error, SetError::Filter { filter: 0, error: LoadError::ChunkChecksum { .. }, .. }),
        "{error:?}"
    );
    bytes[first.body_offset() as usize + 5] ^= 1;
    bytes[end] = 1;
    std::fs::write(&path, &bytes).unwrap();
    let error = mapped(&path, 0).verify(0).unwrap_err();
    assert!(matches!(error, SetError::NotZero { offset } if offset == end as u64), "{error:?}");
}

#[test]
fn the_cache_stays_within_its_budget_and_changes_no_answer() {
    let (_folder, path) = example();
    let unlimited = FilterSet::<u64>::open(&path, u64::MAX).unwrap();
    let keys: Vec<u64> = (0..50).collect();
    let answers = unlimited.which_many(&keys).unwrap();
    let all = unlimited.cached_bytes();
    let arrays: u64 = (0..set_len()).map(|i| unlimited.get(i).unwrap().size_in_bytes()).sum();
    assert!(all >= arrays && all <= arrays + FILTERS * 1024, "{all} bytes for {arrays}");
    for budget in [0, 1, all / 10, all / 3, all - 1, all] {
        let set = FilterSet::<u64>::open(&path, budget).unwrap();
        assert_eq!(set.which_many(&keys).unwrap(), answers);
        for (key, answer) in keys.iter().zip(&answers) {
            assert_eq!(set.which(key).unwrap(), *answer);
            assert!(set.cached_bytes() <= budget, "{} of {budget}", set.cached_bytes());
        }
        // What fits is used: less than one filter is left over.
        let largest = (0..set_len()).map(|i| unlimited.get(i).unwrap().size_in_bytes()).max();
        let unused = budget.min(all) - set.cached_bytes();
        assert!(unused <= largest.unwrap() + 1024, "{unused} of {budget} bytes are unused");
    }
}

const fn set_len() -> usize {
    FILTERS as usize
}

#[test]
fn a_filter_in_memory_is_not_loaded_again() {
    let (_folder, path) = example();
    let set = FilterSet::<u64>::open(&path, u64::MAX).unwrap();
    let answer = set.which(&3).unwrap();
    // Without the file's bytes, only filters in memory can answer.
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    assert_eq!(set.which(&3).unwrap(), answer);
    // A set with half of the budget keeps half of the filters from one call to the next.
    let (_folder, path) = example();
    let set_of_half = FilterSet::<u64>::open(&path, set.cached_bytes() / 2).unwrap();
    set_of_half.which(&3).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    let held = (0..set_len()).rev().take_while(|filter| set_of_half.get(*filter).is_ok());
    assert!(held.count() >= set_len() / 3);
}

#[test]
fn four_threads_get_the_same_answers_as_one() {
    let (_folder, path) = example();
    let all = FilterSet::<u64>::open(&path, u64::MAX).unwrap();
    let keys: Vec<u64> = (0..400).collect();
    let answers = all.which_many(&keys).unwrap();
    // One budget makes the threads drop and load filters all the time.
    for budget in [all.cached_bytes() / 4, u64::MAX] {
        let set = FilterSet::<u64>::open(&path, budget).unwrap();
        thread::scope(|scope| {
            for thread in 0..4 {
                let (set, keys, answers) = (&set, &keys, &answers);
                scope.spawn(move || {
                    for at in (0..keys.len()).map(|at| (at + 100 * thread) % keys.len()) {
                        assert_eq!(set.which(&keys[at]).unwrap(), answers[at]);
                        assert!(set.cached_bytes() <= budget);
                    }
                });
            }
        });
    }
}

/// A set can be shared by threads whatever its items are.
#[test]
fn sets_are_send_and_sync() {
    const fn both<T: Send + Sync>() {}
    both::<FilterSet<std::rc::Rc<str>>>();
    both::<SetInfo>();
}
