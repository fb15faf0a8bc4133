//! The filters of other crates. All get ahash; what differs in size or rate is in the table.

use ahash::AHasher;
use atomic_cuckoo_filter::{CuckooFilter as AtomicCuckoo, CuckooFilterBuilder};
use cuckoo_clock::CuckooFilter as CuckooClock;
use cuckoo_clock::config::CuckooConfiguration;
use cuckoofilter::CuckooFilter as Cuckoofilter;
use scalable_cuckoo_filter::{ScalableCuckooFilter, ScalableCuckooFilterBuilder};
use tamis::hash::DefaultHashBuilder;

use crate::cuckoo::{Cuckoo, Shared, SharedVisitor, Visitor};
use crate::hasher;

pub(super) fn each(visitor: &mut impl Visitor) {
    visitor.visit::<Atomic<16>>();
    visitor.visit::<Atomic<8>>();
    visitor.visit::<CuckooClock<DefaultHashBuilder>>();
    visitor.visit::<Plain>();
    visitor.visit::<Scalable>();
    visitor.visit::<qfilter::Filter<Box<[u8]>, DefaultHashBuilder>>();
}

pub(super) fn each_shared(visitor: &mut impl SharedVisitor) {
    visitor.visit::<Atomic<16>>();
}

/// atomic-cuckoo-filter, with fingerprints of so many bits.
struct Atomic<const BITS: usize>(AtomicCuckoo<AHasher>);

impl<const BITS: usize> Shared for Atomic<BITS> {
    const NAME: &'static str =
        if BITS == 16 { "atomic-cuckoo-filter 4 × 16" } else { "atomic-cuckoo-filter 4 × 8" };
    // It looks for the item before it takes the lock under which others move it.
    const SURE: bool = false;

    fn new(slots: u64) -> Self {
        let builder = CuckooFilterBuilder::default().capacity(slots as usize);
        Self(builder.fingerprint_size(BITS).build().expect("a filter that fits in memory"))
    }

    fn slots(&self) -> u64 {
        self.0.capacity() as u64
    }

    fn bytes(&self) -> u64 {
        (self.0.capacity() * BITS / 8) as u64
    }

    #[inline]
    fn insert(&self, item: u64) -> bool {
        self.0.insert(&item).is_ok()
    }

    #[inline]
    fn contains(&self, item: u64) -> bool {
        self.0.contains(&item)
    }

    #[inline]
    fn remove(&self, item: u64) -> bool {
        self.0.remove(&item)
    }
}

/// A lock and an allocation for each bucket; what the allocator adds is not in its account. Queries
/// write, too. An item is merged with one that its bucket cannot tell from it.
impl Cuckoo for CuckooClock<DefaultHashBuilder> {
    const NAME: &'static str = "cuckoo-clock 4 × 16";
    const SHARED: bool = true;
    const COPIES: bool = false;

    fn new(slots: u64) -> Self {
        let builder = CuckooConfiguration::builder(slots as usize);
        let builder = builder.fingerprint_bits(16.try_into().expect("at most 32 bits"));
        Self::new(builder.build().expect("a filter that fits in memory"), hasher())
    }

    fn slots(&self) -> u64 {
        self.get_bucket_count() as u64 * 4
    }

    fn bytes(&self) -> u64 {
        self.get_memory_usage() as u64
    }

    #[inline]
    fn insert(&mut self, item: u64) -> bool {
        // It returns what it has thrown out.
        Self::insert(self, &item).is_none()
    }

    #[inline]
    fn contains(&self, item: u64) -> bool {
        Self::contains(self, &item)
    }

    #[inline]
    fn remove(&mut self, item: u64) -> bool {
        Self::remove(self, &item)
    }
}

/// cuckoofilter: four slots of 8 bits, nothing else. A refused insert throws out another item.
type Plain = Cuckoofilter<AHasher>;

impl Cuckoo for Plain {
    const NAME: &'static str = "cuckoofilter 4 × 8";
    const SHARED: bool = false;

    fn new(slots: u64) -> Self {
        Self::with_capacity(slots as usize)
    }

    fn slots(&self) -> u64 {
        (self.memory_usage() - size_of::<Self>()) as u64
    }

    fn bytes(&self) -> u64 {
        self.memory_usage() as u64
    }

    #[inline]
    fn insert(&mut self, item: u64) -> bool {
        self.add(&item).is_ok()
    }

    #[inline]
    fn contains(&self, item: u64) -> bool {
        Self::contains(self, &item)
    }

    #[inline]
    fn remove(&mut self, item: u64) -> bool {
        self.delete(&item)
    }
}

type Scalable = ScalableCuckooFilter<u64, AHasher>;

/// With room for all from the start, so that it does not grow.
impl Cuckoo for Scalable {
    const NAME: &'static str = "scalable_cuckoo_filter 4 × 16";
    const SHARED: bool = false;

    fn new(slots: u64) -> Self {
        let builder = ScalableCuckooFilterBuilder::new().initial_capacity(slots as usize);
        // The rate at which it takes 16 bits.
        builder.false_positive_probability(2.5e-4).hasher(AHasher::default()).finish()
    }

    fn slots(&self) -> u64 {
        self.capacity() as u64
    }

    fn bytes(&self) -> u64 {
        self.bits() / 8
    }

    #[inline]
    fn insert(&mut self, item: u64) -> bool {
        Self::insert(self, &item);
        true
    }

    #[inline]
    fn contains(&self, item: u64) -> bool {
        Self::contains(self, &item)
    }

    #[inline]
    fn remove(&mut self, item: u64) -> bool {
        Self::remove(self, &item)
    }
}

/// A quotient filter, no cuckoo filter, with remainders of 13 bits: about the rate of 4 × 16.
impl Cuckoo for qfilter::Filter<Box<[u8]>, DefaultHashBuilder> {
    const NAME: &'static str = "qfilter, 13 bits";
    const SHARED: bool = false;

    fn new(slots: u64) -> Self {
        Self::new_with_hasher(slots * 19 / 20, 1.0 / 8192.0, hasher()).expect("a filter that fits")
    }

    fn slots(&self) -> u64 {
        self.capacity() * 20 / 19
    }

    fn bytes(&self) -> u64 {
        self.memory_usage() as u64
    }

    #[inline]
    fn insert(&mut self, item: u64) -> bool {
        // Else an item that cannot be told from one that is in would not be.
        self.insert_duplicated(item).is_ok()
    }

    #[inline]
    fn contains(&self, item: u64) -> bool {
        Self::contains(self, item)
    }

    #[inline]
    fn remove(&mut self, item: u64) -> bool {
        Self::remove(self, item)
    }
}
