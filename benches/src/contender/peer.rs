//! The Bloom filters of other crates as contenders. They get our hasher where they take one.

use core::f64::consts::LN_2;
use core::hash::BuildHasher;

use bloomfilter::Bloom;
use growable_bloom_filter::GrowableBloom;
use quickbloom::{AtomicBloomFilter as Quick, BloomConfig};
use solana_bloom::bloom::{Bloom as SolanaBloom, ConcurrentBloom};
use tamis::hash::DefaultHashBuilder;

use crate::contender::{Contender, Filter, Shared, SharedVisitor, Visitor};
use crate::hasher;
use crate::item::Item;

pub(super) fn each<K: Item>(visitor: &mut impl Visitor<K>) {
    visitor.visit::<fastbloom::BloomFilter<DefaultHashBuilder>>();
    visitor.visit::<SplitBlock>();
    visitor.visit::<Bloom<K>>();
    visitor.visit::<Growable>();
}

pub(super) fn each_shared<K: Item>(visitor: &mut impl SharedVisitor<K>) {
    visitor.visit::<fastbloom::AtomicBloomFilter<DefaultHashBuilder>>();
    visitor.visit::<Quick>();
    visitor.visit::<CBloom>();
    visitor.visit::<Solana>();
}

/// The rate of the best classic filter with so many bits an item.
fn best_rate(bits: f64) -> f64 {
    (-bits * LN_2 * LN_2).exp()
}

/// The bits of the best classic filter with this rate.
fn best_bits(rate: f64) -> f64 {
    -rate.ln() / LN_2 / LN_2
}

macro_rules! fastbloom {
    ($($filter:ident, $name:literal;)*) => {$(
        impl<K: Item> Filter<K> for fastbloom::$filter<DefaultHashBuilder> {
            const NAME: &'static str = $name;

            fn new(items: u64, rate: f64) -> Option<Self> {
                let builder = fastbloom::$filter::with_false_pos(rate).hasher(hasher());
                Some(builder.expected_items(items as usize))
            }

            fn with_bits(items: u64, bits: f64) -> Option<Self> {
                let builder = fastbloom::$filter::with_num_bits((items as f64 * bits) as usize);
                Some(builder.hasher(hasher()).expected_items(items as usize))
            }

            fn bytes(&self) -> u64 {
                size_of_val(self.as_slice()) as u64
            }

            #[inline]
            fn contains(&self, item: &K) -> bool {
                fastbloom::$filter::contains(self, item)
            }

            fn clear(&mut self) -> bool {
                fastbloom::$filter::clear(self);
                true
            }
        }
    )*};
}

fastbloom! {
    AtomicBloomFilter, "fastbloom, atomic";
    BloomFilter, "fastbloom";
}

contends!(fastbloom::AtomicBloomFilter<DefaultHashBuilder>);

impl<K: Item> Shared<K> for fastbloom::AtomicBloomFilter<DefaultHashBuilder> {
    #[inline]
    fn insert(&self, item: &K) -> bool {
        // It says whether the item was in before.
        !Self::insert(self, item)
    }
}

impl<K: Item> Contender<K> for fastbloom::BloomFilter<DefaultHashBuilder> {
    #[inline]
    fn insert(&mut self, item: &K) -> bool {
        !Self::insert(self, item)
    }
}

/// sbbf-rs-safe: eight words of 32 bits a block, one bit in each; it takes hashes and whole bits an item.
struct SplitBlock {
    filter: sbbf_rs_safe::Filter,
    hasher: DefaultHashBuilder,
}

impl SplitBlock {
    /// The rate with so many bits an item: the items of a block are Poisson.
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

impl<K: Item> Filter<K> for SplitBlock {
    const NAME: &'static str = "sbbf-rs-safe";

    fn new(items: u64, rate: f64) -> Option<Self> {
        // It sets eight bits whatever the rate, so low ones would take too much.
        let bits = (1..100).find(|&bits| Self::rate(bits) <= rate)?;
        Filter::<K>::with_bits(items, bits as f64)
    }

    fn with_bits(items: u64, bits: f64) -> Option<Self> {
        let filter = sbbf_rs_safe::Filter::new(bits as usize, items as usize);
        Some(Self { filter, hasher: hasher() })
    }

    fn bytes(&self) -> u64 {
        self.filter.as_bytes().len() as u64
    }

    #[inline]
    fn contains(&self, item: &K) -> bool {
        self.filter.contains_hash(self.hasher.hash_one(item))
    }

    fn clear(&mut self) -> bool {
        self.filter.reset();
        true
    }
}

impl<K: Item> Contender<K> for SplitBlock {
    #[inline]
    fn insert(&mut self, item: &K) -> bool {
        !self.filter.insert_hash(self.hasher.hash_one(item))
    }
}

/// Two keys that differ: it hashes twice.
const SEED: [u8; 32] = *b"one of bloomfilter's, the other.";

/// bloomfilter: it always hashes by SipHash.
impl<K: Item> Filter<K> for Bloom<K> {
    const NAME: &'static str = "bloomfilter";

    fn new(items: u64, rate: f64) -> Option<Self> {
        Self::new_for_fp_rate_with_seed(items as usize, rate, &SEED).ok()
    }

    fn with_bits(items: u64, bits: f64) -> Option<Self> {
        let bytes = (items as f64 * bits / 8.0) as usize;
        Self::new_with_seed(bytes, items as usize, &SEED).ok()
    }

    fn bytes(&self) -> u64 {
        self.len() / 8
    }

    #[inline]
    fn contains(&self, item: &K) -> bool {
        self.check(item)
    }

    fn clear(&mut self) -> bool {
        Self::clear(self);
        true
    }
}

impl<K: Item> Contender<K> for Bloom<K> {
    #[inline]
    fn insert(&mut self, item: &K) -> bool {
        !self.check_and_set(item)
    }
}

/// growable-bloom-filter, made for all items at once, so that it does not grow. It keeps its size to itself.
struct Growable {
    filter: GrowableBloom,
    bytes: u64,
}

impl<K: Item> Filter<K> for Growable {
    const NAME: &'static str = "growable-bloom-filter";

    fn new(items: u64, rate: f64) -> Option<Self> {
        // The words of its source: a slice for each factor of two in the rate.
        let bits = (1.0 / rate).log2().ceil() * (items as f64 / LN_2).ceil();
        let filter = GrowableBloom::new(rate, items as usize);
        Some(Self { filter, bytes: (bits / 8.0).ceil() as u64 })
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    fn contains(&self, item: &K) -> bool {
        self.filter.contains(item)
    }

    fn clear(&mut self) -> bool {
        self.filter.clear();
        true
    }
}

impl<K: Item> Contender<K> for Growable {
    #[inline]
    fn insert(&mut self, item: &K) -> bool {
        self.filter.insert(item)
    }
}

/// quickbloom: its hasher is its own, and it does not say what was new.
impl<K: Item> Filter<K> for Quick {
    const NAME: &'static str = "quickbloom";

    fn new(items: u64, rate: f64) -> Option<Self> {
        Some(Self::from_config(&BloomConfig::new(items as usize, rate)))
    }

    fn with_bits(items: u64, bits: f64) -> Option<Self> {
        Filter::<K>::new(items, best_rate(bits))
    }

    fn bytes(&self) -> u64 {
        self.size().div_ceil(8) as u64
    }

    #[inline]
    fn contains(&self, item: &K) -> bool {
        Self::contains(self, item)
    }
}

contends!(Quick);

impl<K: Item> Shared<K> for Quick {
    #[inline]
    fn insert(&self, item: &K) -> bool {
        Self::insert(self, item);
        true
    }
}

/// cbloom: it takes hashes, and uses the lowest eight bits of each word of 64. What it calls bytes is the
/// bits of a classic filter, and with as many it keeps the rate, in eight times the memory.
struct CBloom {
    filter: cbloom::Filter,
    bytes: u64,
    hasher: DefaultHashBuilder,
}

impl<K: Item> Filter<K> for CBloom {
    const NAME: &'static str = "cbloom";

    fn new(items: u64, rate: f64) -> Option<Self> {
        let bytes = (items as f64 * best_bits(rate)) as u64;
        let filter = cbloom::Filter::new(bytes as usize, items as usize);
        Some(Self { filter, bytes, hasher: hasher() })
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    fn contains(&self, item: &K) -> bool {
        self.filter.maybe_contains(self.hasher.hash_one(item))
    }

    fn clear(&mut self) -> bool {
        self.filter.clear();
        true
    }
}

contends!(CBloom);

impl<K: Item> Shared<K> for CBloom {
    #[inline]
    fn insert(&self, item: &K) -> bool {
        self.filter.insert(self.hasher.hash_one(item));
        true
    }
}

/// solana-bloom, shared. It hashes bytes by FNV, once for each bit, which keeps the rate only if they are
/// hashes already, as they are where it comes from.
struct Solana {
    filter: ConcurrentBloom<[u8; 8]>,
    bytes: u64,
    hasher: DefaultHashBuilder,
}

impl<K: Item> Filter<K> for Solana {
    const NAME: &'static str = "solana-bloom";

    fn new(items: u64, rate: f64) -> Option<Self> {
        let filter = SolanaBloom::random(items as usize, rate, usize::MAX);
        let bytes = filter.bits.len().div_ceil(8);
        Some(Self { filter: filter.into(), bytes, hasher: hasher() })
    }

    fn with_bits(items: u64, bits: f64) -> Option<Self> {
        Filter::<K>::new(items, best_rate(bits))
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    fn contains(&self, item: &K) -> bool {
        self.filter.contains(&self.hasher.hash_one(item).to_ne_bytes())
    }

    fn clear(&mut self) -> bool {
        self.filter.clear();
        true
    }
}

contends!(Solana);

impl<K: Item> Shared<K> for Solana {
    #[inline]
    fn insert(&self, item: &K) -> bool {
        self.filter.add(&self.hasher.hash_one(item).to_ne_bytes())
    }
}
