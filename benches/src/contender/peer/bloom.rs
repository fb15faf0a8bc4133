//! The Bloom filters of other crates.

use core::f64::consts::LN_2;
use core::hash::BuildHasher;

use growable_bloom_filter::GrowableBloom;
use quickbloom::{AtomicBloomFilter as QuickBloom, BloomConfig};
use solana_bloom::bloom::{Bloom as SolanaBloom, ConcurrentBloom};
use tamis::hash::DefaultHashBuilder;

use crate::contender::filter::{Filter, Traits};
use crate::hasher;
use crate::item::Item;

macro_rules! fastbloom {
    ($filter:ident, $name:literal, $insert:ident) => {
        peer!(
            fastbloom::$filter<DefaultHashBuilder>,
            $name,
            new = |items, rate| {
                let builder = fastbloom::$filter::with_false_pos(rate).hasher(hasher());
                Some(builder.expected_items(items as usize))
            },
            with_bits = |items, bits| {
                let builder = fastbloom::$filter::with_num_bits((items as f64 * bits) as usize);
                Some(builder.hasher(hasher()).expected_items(items as usize))
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
fastbloom!(BloomFilter, "fastbloom", insert);

/// Returns the rate of the best classic filter with this number of bits per item.
fn best_rate(bits: f64) -> f64 {
    (-bits * LN_2 * LN_2).exp()
}

/// Returns the bits per item of the best classic filter with this rate.
fn best_bits(rate: f64) -> f64 {
    -rate.ln() / LN_2 / LN_2
}

/// sbbf-rs-safe: blocks of eight words of 32 bits, one bit set in each; it takes hashes and whole
/// bits per item.
pub(super) struct SplitBlock {
    filter: sbbf_rs_safe::Filter,
    hasher: DefaultHashBuilder,
}

impl SplitBlock {
    /// Makes a filter with this number of bits per item.
    fn with_whole_bits(items: u64, bits: u64) -> Self {
        let filter = sbbf_rs_safe::Filter::new(bits as usize, items as usize);
        Self { filter, hasher: hasher() }
    }

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

peer!(
    SplitBlock,
    "sbbf-rs-safe",
    new = |items, rate| {
        // It sets eight bits whatever the rate, so low rates would take too much.
        let bits = (1..100).find(|&bits| Self::rate(bits) <= rate)?;
        Some(Self::with_whole_bits(items, bits))
    },
    with_bits = |items, bits| Some(Self::with_whole_bits(items, bits as u64)),
    bytes = |it| it.filter.as_bytes().len(),
    contains = |it, item| it.filter.contains_hash(it.hasher.hash_one(item)),
    insert = |it, item| !it.filter.insert_hash(it.hasher.hash_one(item)),
    clear = |it| it.filter.reset(),
);

/// Two keys that differ: bloomfilter hashes twice.
const SEED: [u8; 32] = *b"one of bloomfilter's, the other.";

// It always hashes by SipHash.
peer!(
    bloomfilter::Bloom<K>,
    "bloomfilter",
    new = |items, rate| Self::new_for_fp_rate_with_seed(items as usize, rate, &SEED).ok(),
    with_bits = |items, bits| {
        Self::new_with_seed((items as f64 * bits / 8.0) as usize, items as usize, &SEED).ok()
    },
    bytes = |filter| filter.len() / 8,
    contains = |filter, item| filter.check(item),
    insert = |filter, item| !filter.check_and_set(item),
    clear = |filter| Self::clear(filter),
);

/// growable-bloom-filter, made for all items at once, so that it does not grow. It does not report
/// its size.
pub(super) struct Growable {
    filter: GrowableBloom,
    bytes: u64,
}

peer!(
    Growable,
    "growable-bloom-filter",
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

// Its hasher is its own, and it does not report what was new.
peer!(
    QuickBloom,
    "quickbloom",
    new = |items, rate| Some(Self::from_config(&BloomConfig::new(items as usize, rate))),
    with_bits = |items, bits| Filter::<K>::new(items, best_rate(bits)),
    bytes = |filter| filter.size().div_ceil(8),
    contains = |filter, item| Self::contains(filter, item),
    insert_shared = |filter, item| {
        Self::insert(filter, item);
        true
    },
);

/// cbloom: it takes hashes, and uses the lowest eight bits of each word of 64. What it calls bytes
/// is the number of bits of a classic filter; given that number it keeps the rate, in eight times
/// the memory.
pub(super) struct CBloom {
    filter: cbloom::Filter,
    bytes: u64,
    hasher: DefaultHashBuilder,
}

peer!(
    CBloom,
    "cbloom",
    new = |items, rate| {
        let bytes = (items as f64 * best_bits(rate)) as u64;
        let filter = cbloom::Filter::new(bytes as usize, items as usize);
        Some(Self { filter, bytes, hasher: hasher() })
    },
    bytes = |it| it.bytes,
    contains = |it, item| it.filter.maybe_contains(it.hasher.hash_one(item)),
    insert_shared = |it, item| {
        it.filter.insert(it.hasher.hash_one(item));
        true
    },
    clear = |it| it.filter.clear(),
);

/// solana-bloom, shared. It hashes bytes by FNV, once for each bit, which keeps the rate only if
/// they are hashes already, as they are in its own use.
pub(super) struct Solana {
    filter: ConcurrentBloom<[u8; 8]>,
    bytes: usize,
    hasher: DefaultHashBuilder,
}

peer!(
    Solana,
    "solana-bloom",
    new = |items, rate| {
        let filter = SolanaBloom::random(items as usize, rate, usize::MAX);
        let bytes = filter.bits.len().div_ceil(8) as usize;
        Some(Self { filter: filter.into(), bytes, hasher: hasher() })
    },
    with_bits = |items, bits| Filter::<K>::new(items, best_rate(bits)),
    bytes = |it| it.bytes,
    contains = |it, item| it.filter.contains(&it.hasher.hash_one(item).to_ne_bytes()),
    insert_shared = |it, item| it.filter.add(&it.hasher.hash_one(item).to_ne_bytes()),
    clear = |it| it.filter.clear(),
);
