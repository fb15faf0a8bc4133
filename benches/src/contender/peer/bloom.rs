//! The Bloom filters of other crates.

use core::f64::consts::LN_2;
use core::hash::BuildHasher;

use growable_bloom_filter::GrowableBloom;
use tamis::hash::DefaultHashBuilder;

use crate::filter::{Filter, Traits};
use crate::hasher;

macro_rules! fastbloom {
    ($filter:ident, $name:literal, $insert:ident) => {
        contender!(
            fastbloom::$filter<DefaultHashBuilder>,
            $name,
            new = |items, rate| {
                let builder = fastbloom::$filter::with_false_pos(rate).hasher(hasher());
                Some(builder.expected_items(items as usize))
            },
            bytes = |filter| size_of_val(filter.as_slice()),
            contains = |filter, item| Self::contains(filter, item),
            // It returns whether the item was in before.
            $insert = |filter, item| !Self::insert(filter, item),
            clear = |filter| Self::clear(filter),
        );
    };
}

fastbloom!(AtomicBloomFilter, "fastbloom, atomic", insert_shared);
fastbloom!(BloomFilter, "fastbloom, one thread", insert);

/// sbbf-rs-safe: blocks of eight words of 32 bits, one bit set in each; it takes hashes and whole
/// bits per item.
pub(super) struct SplitBlock {
    filter: sbbf_rs_safe::Filter,
    hasher: DefaultHashBuilder,
}

impl SplitBlock {
    /// Returns the rate with this number of bits per item: the number of items in a block is
    /// Poisson.
    fn rate(bits: u64) -> f64 {
        let mean = 256.0 / bits as f64;
        let mut chance = (-mean).exp();
        let mut rate = 0.0;
        for items in 1..1000 {
            chance *= mean / f64::from(items);
            rate += chance * (1.0 - (31.0_f64 / 32.0).powi(items)).powi(8);
        }
        rate
    }
}

contender!(
    SplitBlock,
    "sbbf-rs-safe, one thread",
    new = |items, rate| {
        // It sets eight bits whatever the rate, so low rates would take too much.
        let bits = (1..100).find(|&bits| Self::rate(bits) <= rate)?;
        let filter = sbbf_rs_safe::Filter::new(bits as usize, items as usize);
        Some(Self { filter, hasher: hasher() })
    },
    bytes = |it| it.filter.as_bytes().len(),
    contains = |it, item| it.filter.contains_hash(it.hasher.hash_one(item)),
    insert = |it, item| !it.filter.insert_hash(it.hasher.hash_one(item)),
    clear = |it| it.filter.reset(),
);

/// Two keys that differ: bloomfilter hashes twice.
const SEED: [u8; 32] = *b"one of bloomfilter's, the other.";

// It always hashes by SipHash.
contender!(
    bloomfilter::Bloom<u64>,
    "bloomfilter, one thread",
    new = |items, rate| Self::new_for_fp_rate_with_seed(items as usize, rate, &SEED).ok(),
    bytes = |filter| filter.len() / 8,
    contains = |filter, item| filter.check(item),
    insert = |filter, item| !filter.check_and_set(item),
    clear = |filter| Self::clear(filter),
);

/// growable-bloom-filter. It does not report its size; this is the size of its first slice.
pub(super) struct Growable {
    filter: GrowableBloom,
    bytes: u64,
}

contender!(
    Growable,
    "growable-bloom-filter, one thread",
    new = |items, rate| {
        // As in its source: a slice for each factor of two in the rate.
        let bits = (1.0 / rate).log2().ceil() * (items as f64 / LN_2).ceil();
        let filter = GrowableBloom::new(rate, items as usize);
        Some(Self { filter, bytes: (bits / 8.0).ceil() as u64 })
    },
    bytes = |it| it.bytes,
    contains = |it, item| it.filter.contains(item),
    insert = |it, item| it.filter.insert(item),
    clear = |it| it.filter.clear(),
);
