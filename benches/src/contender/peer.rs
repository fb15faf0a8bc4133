//! The filters of other crates, and exact sets, as contenders. They get our hasher where they accept one.

use core::f64::consts::LN_2;
use core::hash::BuildHasher;
use std::collections::HashSet;
use std::sync::Mutex;

use ahash::AHasher;
use atomic_cuckoo_filter::CuckooFilterBuilder;
use cuckoo_clock::config::CuckooConfiguration;
use dashmap::DashSet;
use growable_bloom_filter::GrowableBloom;
use quickbloom::{AtomicBloomFilter as QuickBloom, BloomConfig};
use scalable_cuckoo_filter::{ScalableCuckooFilter, ScalableCuckooFilterBuilder};
use solana_bloom::bloom::{Bloom as SolanaBloom, ConcurrentBloom};
use tamis::hash::DefaultHashBuilder;

use crate::contender::{Contender, Filter};
use crate::hasher;
use crate::item::Item;

/// Returns all of them.
pub(super) fn all<K: Item>() -> Vec<Contender<K>> {
    vec![
        Contender::of_shared::<fastbloom::AtomicBloomFilter<DefaultHashBuilder>>(),
        Contender::of_shared::<QuickBloom>(),
        Contender::of_shared::<CBloom>(),
        Contender::of_shared::<Solana>(),
        Contender::of_shared::<AtomicCuckoo>(),
        Contender::of_shared::<cuckoo_clock::CuckooFilter<DefaultHashBuilder>>(),
        Contender::of_shared::<Mutex<HashSet<K, DefaultHashBuilder>>>(),
        Contender::of_shared::<DashSet<K, DefaultHashBuilder>>(),
        Contender::of_shared::<papaya::HashSet<K, DefaultHashBuilder>>(),
        Contender::of::<fastbloom::BloomFilter<DefaultHashBuilder>>(),
        Contender::of::<SplitBlock>(),
        Contender::of::<bloomfilter::Bloom<K>>(),
        Contender::of::<Growable>(),
        Contender::of::<cuckoofilter::CuckooFilter<AHasher>>(),
        Contender::of::<ScalableCuckooFilter<K, AHasher>>(),
        Contender::of::<Quotient>(),
    ]
}

/// Makes a type a contender: an expression for each capability, those in `$(…)?` optional.
macro_rules! peer {
    (
        $filter:ty, $name:literal,
        $(EXACT = $exact:literal,)? $(LOWEST = $lowest:literal,)?
        $(REMOVES = $removes:literal,)? $(COPIES = $copies:literal,)? $(SURE = $sure:literal,)?
        new = |$items:ident, $rate:ident| $new:expr,
        $(with_bits = |$bit_items:ident, $bits:ident| $with_bits:expr,)?
        bytes = |$sized:ident| $bytes:expr,
        contains = |$asked:ident, $query:ident| $contains:expr,
        $(insert = |$taker:ident, $new_item:ident| $insert:expr,)?
        $(insert_shared = |$shared:ident, $shared_item:ident| $insert_shared:expr,)?
        $(remove = |$giver:ident, $old_item:ident| $remove:expr,)?
        $(remove_shared = |$shared_giver:ident, $shared_old:ident| $remove_shared:expr,)?
        $(clear = |$full:ident| $clear:expr,)?
    ) => {
        impl<K: Item> Filter<K> for $filter {
            const NAME: &'static str = $name;
            $(const EXACT: bool = $exact;)?
            $(const LOWEST: f64 = $lowest;)?
            $(const REMOVES: bool = $removes;)?
            $(const COPIES: bool = $copies;)?
            $(const SURE: bool = $sure;)?

            fn new($items: u64, $rate: f64) -> Option<Self> {
                $new
            }

            $(fn with_bits($bit_items: u64, $bits: f64) -> Option<Self> {
                $with_bits
            })?

            fn bytes(&self) -> u64 {
                let $sized = self;
                $bytes as u64
            }

            #[inline]
            fn contains(&self, $query: &K) -> bool {
                let $asked = self;
                $contains
            }

            $(#[inline]
            fn insert(&mut self, $new_item: &K) -> bool {
                let $taker = self;
                $insert
            })?

            $(#[inline]
            fn insert_shared(&self, $shared_item: &K) -> bool {
                let $shared = self;
                $insert_shared
            })?

            $(#[inline]
            fn remove(&mut self, $old_item: &K) -> bool {
                let $giver = self;
                $remove
            })?

            $(#[inline]
            fn remove_shared(&self, $shared_old: &K) -> bool {
                let $shared_giver = self;
                $remove_shared
            })?

            $(fn clear(&mut self) -> bool {
                let $full = self;
                $clear;
                true
            })?
        }
    };
}

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

/// sbbf-rs-safe: blocks of eight words of 32 bits, one bit set in each; it takes hashes and whole bits per item.
struct SplitBlock {
    filter: sbbf_rs_safe::Filter,
    hasher: DefaultHashBuilder,
}

impl SplitBlock {
    /// Makes a filter with this number of bits per item.
    fn with_whole_bits(items: u64, bits: u64) -> Self {
        let filter = sbbf_rs_safe::Filter::new(bits as usize, items as usize);
        Self { filter, hasher: hasher() }
    }

    /// Returns the rate with this number of bits per item: the number of items in a block is Poisson.
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

/// growable-bloom-filter, made for all items at once, so that it does not grow. It does not report its size.
struct Growable {
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

/// cbloom: it takes hashes, and uses the lowest eight bits of each word of 64. What it calls bytes is the
/// number of bits of a classic filter; given that number it keeps the rate, in eight times the memory.
struct CBloom {
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

/// solana-bloom, shared. It hashes bytes by FNV, once for each bit, which keeps the rate only if they are
/// hashes already, as they are in its own use.
struct Solana {
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

/// Returns the slots of which the items fill 95 %. Most filters round up to a power of two.
fn slots(items: u64) -> usize {
    (items * 20).div_ceil(19) as usize
}

/// Returns the bits of a fingerprint with which a query, which compares eight slots, keeps the rate.
fn fingerprint_bits(rate: f64) -> usize {
    (8.0 / rate).log2().ceil() as usize
}

/// atomic-cuckoo-filter, which reports how many slots it has, but not of how many bits.
struct AtomicCuckoo {
    filter: atomic_cuckoo_filter::CuckooFilter<AHasher>,
    bits: usize,
}

peer!(
    AtomicCuckoo,
    "atomic-cuckoo-filter",
    REMOVES = true,
    // It looks for the item before it takes the lock under which others relocate it.
    SURE = false,
    new = |items, rate| {
        let bits = [4, 8, 16, 32].into_iter().find(|&bits| bits >= fingerprint_bits(rate))?;
        let builder = CuckooFilterBuilder::default().capacity(slots(items));
        let filter = builder.fingerprint_size(bits).build().ok()?;
        Some(Self { filter, bits })
    },
    bytes = |it| it.filter.capacity() * it.bits / 8,
    contains = |it, item| it.filter.contains(item),
    insert_shared = |it, item| it.filter.insert(item).is_ok(),
    remove_shared = |it, item| it.filter.remove(item),
    clear = |it| it.filter.clear(),
);

// A lock and an allocation for each bucket; what the allocator adds is not counted. Queries write, too.
peer!(
    cuckoo_clock::CuckooFilter<DefaultHashBuilder>,
    "cuckoo-clock",
    REMOVES = true,
    COPIES = false,
    new = |items, rate| {
        let bits = fingerprint_bits(rate).try_into().ok()?;
        let builder = CuckooConfiguration::builder(slots(items)).fingerprint_bits(bits);
        Some(Self::new(builder.build().ok()?, hasher()))
    },
    bytes = |filter| filter.get_memory_usage(),
    contains = |filter, item| Self::contains(filter, item),
    // It returns the item that it has dropped for this one.
    insert_shared = |filter, item| Self::insert(filter, item).is_none(),
    remove_shared = |filter, item| Self::remove(filter, item),
);

// Four slots of 8 bits, nothing else. A refused insert drops another item.
peer!(
    cuckoofilter::CuckooFilter<AHasher>,
    "cuckoofilter",
    LOWEST = 0.03,
    REMOVES = true,
    new = |items, _rate| Some(Self::with_capacity(slots(items))),
    bytes = |filter| filter.memory_usage(),
    contains = |filter, item| Self::contains(filter, item),
    insert = |filter, item| filter.add(item).is_ok(),
    remove = |filter, item| filter.delete(item),
);

// With capacity for all items from the start, so that it does not grow.
peer!(
    ScalableCuckooFilter<K, AHasher>,
    "scalable_cuckoo_filter",
    REMOVES = true,
    new = |items, rate| {
        let builder = ScalableCuckooFilterBuilder::new().initial_capacity(slots(items));
        Some(builder.false_positive_probability(rate).hasher(AHasher::default()).finish())
    },
    bytes = |filter| filter.bits() / 8,
    contains = |filter, item| Self::contains(filter, item),
    insert = |filter, item| {
        Self::insert(filter, item);
        true
    },
    remove = |filter, item| Self::remove(filter, item),
);

/// qfilter: a quotient filter.
type Quotient = qfilter::Filter<Box<[u8]>, DefaultHashBuilder>;

peer!(
    Quotient,
    "qfilter",
    REMOVES = true,
    COPIES = false,
    new = |items, rate| Self::new_with_hasher(items, rate, hasher()).ok(),
    bytes = |filter| filter.memory_usage(),
    contains = |filter, item| Self::contains(filter, item),
    // It inserts the item unless it finds it.
    insert = |filter, item| Self::insert(filter, item).unwrap_or(false),
    remove = |filter, item| Self::remove(filter, item),
);

/// The number of items up to which exact sets take part: more would fill the memory of small machines.
const MOST: u64 = 10_000_000;

/// Returns the bytes of a table of the standard library's kind: a byte per slot in addition to the item, seven of
/// eight slots in use. What a `String` has on the heap is left out.
fn table<K>(capacity: usize) -> usize {
    (capacity * 8).div_ceil(7) * (size_of::<K>() + 1)
}

peer!(
    Mutex<HashSet<K, DefaultHashBuilder>>,
    "Mutex<HashSet>",
    EXACT = true,
    new = |items, _rate| {
        let set = || HashSet::with_capacity_and_hasher(items as usize, hasher()).into();
        (items <= MOST).then(set)
    },
    bytes = |set| table::<K>(set.lock().expect("no panic under the lock").capacity()),
    contains = |set, item| set.lock().expect("no panic under the lock").contains(item),
    insert_shared = |set, item| set.lock().expect("no panic under the lock").insert(item.clone()),
    clear = |set| set.get_mut().expect("no panic under the lock").clear(),
);

peer!(
    DashSet<K, DefaultHashBuilder>,
    "DashSet",
    EXACT = true,
    new = |items, _rate| {
        let set = || Self::with_capacity_and_hasher(items as usize, hasher());
        (items <= MOST).then(set)
    },
    bytes = |set| table::<K>(set.capacity()),
    contains = |set, item| Self::contains(set, item),
    insert_shared = |set, item| Self::insert(set, item.clone()),
    clear = |set| Self::clear(set),
);

peer!(
    papaya::HashSet<K, DefaultHashBuilder>,
    "papaya",
    EXACT = true,
    new = |items, _rate| {
        let set = || Self::with_capacity_and_hasher(items as usize, hasher());
        (items <= MOST).then(set)
    },
    // At least: it reports no capacity. A pointer and a byte in the table, and an allocation, for each item.
    bytes = |set| set.len() * (size_of::<usize>() + 1 + size_of::<K>()),
    contains = |set, item| set.pin().contains(item),
    insert_shared = |set, item| set.pin().insert(item.clone()),
);
