//! The filters side by side: traits over ours, each shared and alone, over the peers, and over exact sets.

/// A shared filter is a contender for one thread, too. (A blanket implementation would overlap those of
/// the filters that are not shared.)
macro_rules! contends {
    ($filter:ty) => {
        impl<K: $crate::item::Item> $crate::contender::Contender<K> for $filter {
            const SHARED: bool = true;

            #[inline]
            fn insert(&mut self, item: &K) -> bool {
                $crate::contender::Shared::insert(self, item)
            }

            #[inline]
            fn insert_many(&mut self, items: &[K], verdict: impl FnMut(usize, bool)) {
                $crate::contender::Shared::insert_many(self, items, verdict);
            }
        }
    };
}

#[cfg(feature = "peers")]
mod exact;
mod ours;
#[cfg(feature = "peers")]
mod peer;
#[cfg(feature = "peers")]
mod peer_cuckoo;

use tamis::{BlockedBloomFilter, BloomFilter, CuckooFilter, OnceBloomFilter, OnceCuckooFilter};

pub use crate::contender::ours::Alone;
use crate::item::Item;

/// The false-positive rate of every contender at its capacity, where no other is said.
pub const RATE: f64 = 0.01;

/// The names of ours and of the fastest peers: who takes part where all would take too long.
pub const BEST: [&str; 8] = [
    "blocked",
    "once",
    "classic",
    "cuckoo",
    "once cuckoo",
    "fastbloom, atomic",
    "fastbloom",
    "sbbf-rs-safe",
];

/// What every contender can.
pub trait Filter<K: Item>: Sized {
    /// As it stands in tables.
    const NAME: &'static str;
    /// Whether its batches are more than loops.
    const MANY: bool = false;
    /// Whether it is never wrong, whatever the rate asked for.
    const EXACT: bool = false;
    /// The lowest rate that it can keep; asked for a lower one it is as good as it can be.
    const LOWEST: f64 = 0.0;

    /// An empty filter for so many items at this rate, or none if it is not made for so many or so few
    /// false positives.
    fn new(items: u64, rate: f64) -> Option<Self>;

    /// An empty filter for so many items with so many bits for each, or none if that cannot be chosen.
    #[must_use]
    fn with_bits(items: u64, bits: f64) -> Option<Self> {
        let _ = (items, bits);
        None
    }

    /// Bytes of memory, by its own account where it has one.
    fn bytes(&self) -> u64;

    /// Whether the item may have been inserted.
    fn contains(&self, item: &K) -> bool;

    /// Tells of each item by its index whether it may have been inserted.
    #[inline]
    fn contains_many(&self, items: &[K], mut verdict: impl FnMut(usize, bool)) {
        for (index, item) in items.iter().enumerate() {
            verdict(index, self.contains(item));
        }
    }

    /// Back to empty with all memory touched; `false` if it cannot, and a new one must be made.
    fn clear(&mut self) -> bool {
        false
    }
}

/// A filter that one thread measures.
pub trait Contender<K: Item>: Filter<K> {
    /// Whether other threads may insert at the same time: then W is the floor of an insert, else R.
    const SHARED: bool = false;

    /// Inserts; whether the item was new, or `true` of a filter that does not say. `&mut` so that
    /// filters for one thread can take part.
    fn insert(&mut self, item: &K) -> bool;

    /// Inserts all, and tells of each what [`insert`](Self::insert) would.
    #[inline]
    fn insert_many(&mut self, items: &[K], mut verdict: impl FnMut(usize, bool)) {
        for (index, item) in items.iter().enumerate() {
            verdict(index, self.insert(item));
        }
    }
}

/// A filter that many threads measure.
pub trait Shared<K: Item>: Contender<K> + Sync {
    /// As [`Contender::insert`].
    fn insert(&self, item: &K) -> bool;

    /// As [`Contender::insert_many`].
    #[inline]
    fn insert_many(&self, items: &[K], mut verdict: impl FnMut(usize, bool)) {
        for (index, item) in items.iter().enumerate() {
            verdict(index, self.insert(item));
        }
    }
}

/// Something done with each contender in turn, without knowing its type.
pub trait Visitor<K: Item> {
    /// Does it with this one.
    fn visit<C: Contender<K> + 'static>(&mut self);
}

/// Likewise for those that threads share.
pub trait SharedVisitor<K: Item> {
    /// Does it with this one.
    fn visit<F: Shared<K> + 'static>(&mut self);
}

/// Shows to a visitor of all contenders those that threads share.
struct Each<'a, V>(&'a mut V);

impl<K: Item, V: Visitor<K>> SharedVisitor<K> for Each<'_, V> {
    fn visit<F: Shared<K> + 'static>(&mut self) {
        self.0.visit::<F>();
    }
}

/// Shows all contenders to `visitor`.
pub fn each<K: Item>(visitor: &mut impl Visitor<K>) {
    each_shared(&mut Each(visitor));
    #[cfg(feature = "peers")]
    {
        peer::each(visitor);
        peer_cuckoo::each(visitor);
    }
}

/// Shows ours in the hands of one thread to `visitor`.
pub fn each_alone(visitor: &mut impl Visitor<u64>) {
    visitor.visit::<Alone<BlockedBloomFilter<u64>>>();
    visitor.visit::<Alone<OnceBloomFilter<u64>>>();
    visitor.visit::<Alone<BloomFilter<u64>>>();
}

/// Shows those that threads share to `visitor`.
pub fn each_shared<K: Item>(visitor: &mut impl SharedVisitor<K>) {
    visitor.visit::<BlockedBloomFilter<K>>();
    visitor.visit::<OnceBloomFilter<K>>();
    visitor.visit::<BloomFilter<K>>();
    visitor.visit::<CuckooFilter<K>>();
    visitor.visit::<OnceCuckooFilter<K>>();
    #[cfg(feature = "peers")]
    {
        peer::each_shared(visitor);
        peer_cuckoo::each_shared(visitor);
        exact::each_shared(visitor);
    }
}
