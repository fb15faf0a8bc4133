//! The filters of other crates that store fingerprints, as contenders. All get ahash. Most have a power of
//! two of slots; all get so many that they are at most 95 % full.

use ahash::AHasher;
use atomic_cuckoo_filter::{CuckooFilter as AtomicCuckoo, CuckooFilterBuilder};
use cuckoo_clock::CuckooFilter as CuckooClock;
use cuckoo_clock::config::CuckooConfiguration;
use cuckoofilter::CuckooFilter as Cuckoofilter;
use scalable_cuckoo_filter::{ScalableCuckooFilter, ScalableCuckooFilterBuilder};
use tamis::hash::DefaultHashBuilder;

use crate::contender::{Contender, Filter, Shared, SharedVisitor, Visitor};
use crate::hasher;
use crate::item::Item;

pub(super) fn each<K: Item>(visitor: &mut impl Visitor<K>) {
    visitor.visit::<Cuckoofilter<AHasher>>();
    visitor.visit::<ScalableCuckooFilter<K, AHasher>>();
    visitor.visit::<Quotient>();
}

pub(super) fn each_shared<K: Item>(visitor: &mut impl SharedVisitor<K>) {
    visitor.visit::<Atomic>();
    visitor.visit::<CuckooClock<DefaultHashBuilder>>();
}

/// The slots in which items fill 95 %.
fn slots(items: u64) -> usize {
    (items * 20).div_ceil(19) as usize
}

/// The bits of a fingerprint with which a query, which looks at eight slots, keeps the rate.
fn fingerprint_bits(rate: f64) -> usize {
    (8.0 / rate).log2().ceil() as usize
}

/// atomic-cuckoo-filter, which says how many slots it has, but not of how many bits.
struct Atomic {
    filter: AtomicCuckoo<AHasher>,
    bits: usize,
}

impl<K: Item> Filter<K> for Atomic {
    const NAME: &'static str = "atomic-cuckoo-filter";

    fn new(items: u64, rate: f64) -> Option<Self> {
        let bits = [4, 8, 16, 32].into_iter().find(|&bits| bits >= fingerprint_bits(rate))?;
        let builder = CuckooFilterBuilder::default().capacity(slots(items));
        let filter = builder.fingerprint_size(bits).build().ok()?;
        Some(Self { filter, bits })
    }

    fn bytes(&self) -> u64 {
        (self.filter.capacity() * self.bits / 8) as u64
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

contends!(Atomic);

impl<K: Item> Shared<K> for Atomic {
    #[inline]
    fn insert(&self, item: &K) -> bool {
        self.filter.insert(item).is_ok()
    }
}

/// cuckoo-clock: a lock and an allocation for each bucket; what the allocator adds is not in its account.
impl<K: Item> Filter<K> for CuckooClock<DefaultHashBuilder> {
    const NAME: &'static str = "cuckoo-clock";

    fn new(items: u64, rate: f64) -> Option<Self> {
        let bits = fingerprint_bits(rate).try_into().ok()?;
        let builder = CuckooConfiguration::builder(slots(items)).fingerprint_bits(bits);
        Some(Self::new(builder.build().ok()?, hasher()))
    }

    fn bytes(&self) -> u64 {
        self.get_memory_usage() as u64
    }

    #[inline]
    fn contains(&self, item: &K) -> bool {
        Self::contains(self, item)
    }
}

contends!(CuckooClock<DefaultHashBuilder>);

impl<K: Item> Shared<K> for CuckooClock<DefaultHashBuilder> {
    #[inline]
    fn insert(&self, item: &K) -> bool {
        // It returns what it has thrown out.
        Self::insert(self, item).is_none()
    }
}

/// cuckoofilter: four slots of 8 bits, nothing else.
impl<K: Item> Filter<K> for Cuckoofilter<AHasher> {
    const NAME: &'static str = "cuckoofilter";
    const LOWEST: f64 = 0.03;

    fn new(items: u64, _: f64) -> Option<Self> {
        Some(Self::with_capacity(slots(items)))
    }

    fn bytes(&self) -> u64 {
        self.memory_usage() as u64
    }

    #[inline]
    fn contains(&self, item: &K) -> bool {
        Self::contains(self, item)
    }
}

impl<K: Item> Contender<K> for Cuckoofilter<AHasher> {
    #[inline]
    fn insert(&mut self, item: &K) -> bool {
        self.add(item).is_ok()
    }
}

/// scalable_cuckoo_filter, with room for all from the start, so that it does not grow.
impl<K: Item> Filter<K> for ScalableCuckooFilter<K, AHasher> {
    const NAME: &'static str = "scalable_cuckoo_filter";

    fn new(items: u64, rate: f64) -> Option<Self> {
        let builder = ScalableCuckooFilterBuilder::new().initial_capacity(slots(items));
        Some(builder.false_positive_probability(rate).hasher(AHasher::default()).finish())
    }

    fn bytes(&self) -> u64 {
        self.bits() / 8
    }

    #[inline]
    fn contains(&self, item: &K) -> bool {
        Self::contains(self, item)
    }
}

impl<K: Item> Contender<K> for ScalableCuckooFilter<K, AHasher> {
    #[inline]
    fn insert(&mut self, item: &K) -> bool {
        Self::insert(self, item);
        true
    }
}

/// qfilter: a quotient filter, no cuckoo filter.
type Quotient = qfilter::Filter<Box<[u8]>, DefaultHashBuilder>;

impl<K: Item> Filter<K> for Quotient {
    const NAME: &'static str = "qfilter";

    fn new(items: u64, rate: f64) -> Option<Self> {
        Self::new_with_hasher(items, rate, hasher()).ok()
    }

    fn bytes(&self) -> u64 {
        self.memory_usage() as u64
    }

    #[inline]
    fn contains(&self, item: &K) -> bool {
        Self::contains(self, item)
    }
}

impl<K: Item> Contender<K> for Quotient {
    #[inline]
    fn insert(&mut self, item: &K) -> bool {
        // It finds the item in, or else inserts it.
        Self::insert(self, item).unwrap_or(false)
    }
}
