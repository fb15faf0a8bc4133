//! The filters of the crate bloomcraft that count, or grow for many threads. They hash by
//! themselves.

use bloomcraft::hash::WyHasher;
use bloomcraft::{AtomicScalableBloomFilter, CountingBloomFilter};

use crate::contender::filter::{Filter, Traits};

/// A counting filter with counters of four bits. It does not report what was new.
pub(super) type Counting = CountingBloomFilter<u64, WyHasher>;

/// A filter that grows while threads share it. It does not report what was new.
pub(super) type Scalable = AtomicScalableBloomFilter<u64, WyHasher>;

impl Filter<u64> for Counting {
    const TRAITS: Traits = Traits { removes: true, ..Traits::of("bloomcraft, counting") };

    fn new(items: u64, rate: f64) -> Option<Self> {
        Some(Self::with_hasher(items as usize, rate, WyHasher::new()))
    }

    fn bytes(&self) -> u64 {
        self.memory_usage() as u64
    }

    #[inline(always)]
    fn contains(&self, item: &u64) -> bool {
        Self::contains(self, item)
    }

    #[inline]
    fn insert(&mut self, item: &u64) -> bool {
        Self::insert(self, item);
        true
    }

    #[inline]
    fn remove(&mut self, item: &u64) -> bool {
        self.delete(item)
    }
}

impl Filter<u64> for Scalable {
    const TRAITS: Traits = Traits::of("bloomcraft, scalable");

    fn new(items: u64, rate: f64) -> Option<Self> {
        Self::with_hasher(items as usize, rate, WyHasher::new()).ok()
    }

    fn bytes(&self) -> u64 {
        self.memory_usage() as u64
    }

    #[inline(always)]
    fn contains(&self, item: &u64) -> bool {
        Self::contains(self, item)
    }

    #[inline]
    fn insert_shared(&self, item: &u64) -> bool {
        Self::insert(self, item);
        true
    }
}
