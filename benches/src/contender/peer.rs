//! The filters of other crates as contenders. They get our hasher where they
//! accept one. Their names say how threads share them.

mod bloom;
mod fingerprint;

use ahash::AHasher;
use scalable_cuckoo_filter::ScalableCuckooFilter;
use tamis::hash::DefaultHashBuilder;

use crate::contender::entry::Contender;

/// Returns all of them.
pub(super) fn all() -> Vec<Contender> {
    vec![
        Contender::of_shared::<fastbloom::AtomicBloomFilter<DefaultHashBuilder>>(),
        Contender::of_shared::<fingerprint::AtomicCuckoo>(),
        Contender::of_shared::<cuckoo_clock::CuckooFilter<DefaultHashBuilder>>(),
        Contender::of::<fastbloom::BloomFilter<DefaultHashBuilder>>(),
        Contender::of::<bloom::SplitBlock>(),
        Contender::of::<bloomfilter::Bloom<u64>>(),
        Contender::of::<bloom::Growable>(),
        Contender::of::<cuckoofilter::CuckooFilter<AHasher>>(),
        Contender::of::<ScalableCuckooFilter<u64, AHasher>>(),
        Contender::of::<fingerprint::Quotient>(),
    ]
}
