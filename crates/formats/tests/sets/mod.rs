//! What several tests of sets need: small sets, and an encoder.

#![allow(dead_code, reason = "each test uses a part")]

mod parts;

use std::path::Path;

use tamis_bloom::BlockedBloomFilter;
use tamis_cuckoo::CuckooFilter;
use tamis_formats::{FilterSet, Options, SetError, SetStream};
use tamis_hash::Rapid;

use crate::common::bytes_of;

pub(crate) use self::parts::{Entry, Parts};

/// The items of a small set: filter 0 has the numbers below 20, filter 1 those from 10 to 29.
pub(crate) const ITEMS: u64 = 30;

/// Returns the filters that may contain a number of a small set.
pub(crate) fn right(item: u64) -> Vec<usize> {
    (0..2)
        .filter(|filter| (10 * filter..10 * filter + 20).contains(&item))
        .map(|i| i as usize)
        .collect()
}

pub(crate) fn blocked(seed: u64) -> BlockedBloomFilter<u64, Rapid> {
    let builder = BlockedBloomFilter::<u64>::builder().bits(1024).probes(6).words(2);
    let filter = builder.hasher(Rapid::with_seed(seed)).build().unwrap();
    (0..20).for_each(|item| _ = filter.insert(&item));
    filter
}

pub(crate) fn cuckoo(seed: u64) -> CuckooFilter<u64, Rapid> {
    let builder = CuckooFilter::<u64>::builder().buckets(10).slots(5).fingerprint_bits(12);
    let filter = builder.hasher(Rapid::with_seed(seed)).build().unwrap();
    (10..30).for_each(|item| filter.insert(&item).unwrap());
    filter
}

/// Returns the bytes of a set of two filters.
pub(crate) fn small() -> Vec<u8> {
    let mut set = SetStream::new(Vec::new());
    set.add("one", &blocked(1)).unwrap();
    set.add("two", &cuckoo(1)).unwrap();
    set.finish().unwrap()
}

/// Opens a set, and loads all of its filters.
pub(crate) fn open_all(path: &Path) -> Result<FilterSet<u64>, SetError> {
    let set = FilterSet::<u64>::open(path, 1 << 20)?;
    (0..set.len()).try_for_each(|filter| set.get(filter).map(drop))?;
    Ok(set)
}

impl Parts {
    /// Returns the parts of [`small`].
    pub(crate) fn small() -> Self {
        Self::of(&[("one", bytes_of_blocked(1)), ("two", bytes_of_cuckoo(1))])
    }
}

pub(crate) fn bytes_of_blocked(seed: u64) -> Vec<u8> {
    bytes_of(&blocked(seed))
}

pub(crate) fn bytes_of_cuckoo(seed: u64) -> Vec<u8> {
    bytes_of(&cuckoo(seed))
}

pub(crate) fn bytes_with(options: &Options, seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    options.write(&cuckoo(seed), &mut bytes).unwrap();
    bytes
}
