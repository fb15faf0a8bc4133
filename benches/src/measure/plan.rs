//! What is measured, as data: which filters, of which sizes, at which rates, by which operations.

use crate::contender::ours::GROWTH;
use crate::operation::Operation::{
    self, Half, Hit, HitMany, Insert, InsertMany, Miss, MissMany, Remove,
};

/// Filters that are measured in turn, at each size and rate.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) contenders: &'static [&'static str],
    pub(super) items: &'static [u64],
    pub(super) rates: &'static [f64],
    /// A filter is made for its items divided by this, and grows.
    pub(super) growth: u64,
    pub(super) operations: &'static [Operation],
}

/// One size and rate, without growth.
const PLAN: Plan =
    Plan { contenders: &[], items: &[100_000], rates: &[0.01], growth: 1, operations: COMMON };

const COMMON: &[Operation] = &[Insert, Hit, Miss, Half, InsertMany, HitMany];
const OTHERS: &[Operation] = &[Insert, Hit, Miss, InsertMany, HitMany, MissMany, Remove];

/// All filters of a fixed size.
const FIXED: &[&str] = &[
    "bare memory",
    "BlockedBloomFilter",
    "OnceBloomFilter",
    "BloomFilter",
    "CuckooFilter",
    "OnceCuckooFilter",
    "fastbloom, atomic",
    "atomic-cuckoo-filter, atomic",
    "cuckoo-clock, locks",
    "sbbf-rs-safe, one thread",
    "fastbloom, one thread",
    "bloomfilter, one thread",
    "growable-bloom-filter, one thread",
    "cuckoofilter, one thread",
    "scalable_cuckoo_filter, one thread",
    "qfilter, one thread",
];

/// Ours, and the fastest of the others.
const BEST: &[&str] = &[
    "bare memory",
    "BlockedBloomFilter",
    "OnceBloomFilter",
    "BloomFilter",
    "CuckooFilter",
    "OnceCuckooFilter",
    "fastbloom, atomic",
    "sbbf-rs-safe, one thread",
    "fastbloom, one thread",
];

/// More than 1 GiB of memory.
pub(crate) const LARGEST: u64 = 750_000_000;

pub(super) const ONE_THREAD: &[Plan] = &[
    Plan { contenders: FIXED, items: &[100_000, 10_000_000], ..PLAN },
    Plan {
        contenders: BEST,
        items: &[10_000, 1_000_000, 3_000_000, 30_000_000, 100_000_000],
        ..PLAN
    },
    Plan { contenders: BEST, rates: &[1e-4, 1e-6], ..PLAN },
    Plan {
        contenders: &["BlockedBloomFilter, get_mut", "BloomFilter, get_mut"],
        items: &[100_000, 10_000_000],
        operations: &[Insert, InsertMany],
        ..PLAN
    },
    Plan {
        contenders: &["bare memory", "BlockedBloomFilter", "CuckooFilter"],
        items: &[LARGEST],
        ..PLAN
    },
    Plan {
        contenders: &["BlockedBloomFilter, get_mut"],
        items: &[LARGEST],
        operations: &[InsertMany],
        ..PLAN
    },
];

pub(super) const CHAINS: &[Plan] = &[
    Plan {
        contenders: &["BlockedBloomFilter", "OnceBloomFilter", "CuckooFilter"],
        items: &[1_000_000, 10_000_000],
        operations: OTHERS,
        ..PLAN
    },
    Plan {
        contenders: &[
            "ScalableBloomFilter",
            "OnceScalableBloomFilter",
            "CuckooFilter, growing",
            "OnceCuckooFilter, growing",
            "growable-bloom-filter, one thread",
            "scalable_cuckoo_filter, one thread",
        ],
        items: &[1_000_000, 10_000_000],
        growth: GROWTH,
        operations: OTHERS,
        ..PLAN
    },
];

pub(super) const REMOVING: &[Plan] = &[Plan {
    contenders: &[
        "OnceBloomFilter",
        "RotatingBloomFilter",
        "CountingBloomFilter",
        "CuckooFilter",
        "atomic-cuckoo-filter, atomic",
        "cuckoo-clock, locks",
        "cuckoofilter, one thread",
        "scalable_cuckoo_filter, one thread",
        "qfilter, one thread",
    ],
    items: &[1_000_000],
    operations: OTHERS,
    ..PLAN
}];

/// The memory at about three rates per decade, as cuckoo filters have a few shapes only. The number
/// of items is just below 95 % of a power of two, so that filters that round up to one are not
/// charged for it.
pub(super) const BITS: Plan = Plan {
    contenders: FIXED,
    items: &[950_000],
    rates: &[
        1e-1, 5e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2e-6,
        1e-6,
    ],
    ..PLAN
};

/// Filters that threads share. Smaller ones are full before all threads have begun.
pub(super) const THREADS: &[Plan] = &[
    Plan { contenders: FIXED, items: &[1_000_000], ..PLAN },
    Plan { contenders: BEST, items: &[10_000_000], ..PLAN },
];
