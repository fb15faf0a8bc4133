//! The filters of other crates, and exact sets, as contenders. They get our hasher where they
//! accept one.

#[macro_use]
mod adapter;
mod bloom;
mod bloomcraft;
mod exact;
mod fingerprint;

use std::collections::HashSet;
use std::sync::Mutex;

use ahash::AHasher;
use dashmap::DashSet;
use scalable_cuckoo_filter::ScalableCuckooFilter;
use tamis::hash::DefaultHashBuilder;

use crate::contender::entry::Contender;
use crate::item::Item;

/// Returns all of them.
pub(super) fn all<K: Item>() -> Vec<Contender<K>> {
    vec![
        Contender::of_shared::<fastbloom::AtomicBloomFilter<DefaultHashBuilder>>(),
        Contender::of_shared::<quickbloom::AtomicBloomFilter>(),
        Contender::of_shared::<bloom::CBloom>(),
        Contender::of_shared::<bloom::Solana>(),
        Contender::of_shared::<fingerprint::AtomicCuckoo>(),
        Contender::of_shared::<cuckoo_clock::CuckooFilter<DefaultHashBuilder>>(),
        Contender::of_shared::<Mutex<HashSet<K, DefaultHashBuilder>>>(),
        Contender::of_shared::<DashSet<K, DefaultHashBuilder>>(),
        Contender::of_shared::<papaya::HashSet<K, DefaultHashBuilder>>(),
        Contender::of::<fastbloom::BloomFilter<DefaultHashBuilder>>(),
        Contender::of::<bloom::SplitBlock>(),
        Contender::of::<bloomfilter::Bloom<K>>(),
        Contender::of::<bloom::Growable>(),
        Contender::of::<cuckoofilter::CuckooFilter<AHasher>>(),
        Contender::of::<ScalableCuckooFilter<K, AHasher>>(),
        Contender::of::<fingerprint::Quotient>(),
    ]
}

/// Returns those that grow.
pub(super) fn growing() -> Vec<Contender<u64>> {
    vec![
        Contender::of::<bloomcraft::Scalable>(),
        Contender::of::<bloom::Growable>(),
        Contender::of::<ScalableCuckooFilter<u64, AHasher>>(),
    ]
}

/// Returns the one that counts.
pub(super) fn counting() -> Contender<u64> {
    Contender::of::<bloomcraft::Counting>()
}
