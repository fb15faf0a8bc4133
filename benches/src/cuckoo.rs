//! The filters from which items can be removed, side by side: ours in their shapes, and the peers.

pub mod course;
mod ours;
#[cfg(feature = "peers")]
mod peer;
mod rival;

use tamis::{CuckooFilter, OnceCuckooFilter};

pub use crate::cuckoo::ours::Ours;

/// A filter that one thread measures.
pub trait Cuckoo {
    /// As it stands in tables.
    const NAME: &'static str;
    /// The share of slots that it is filled to: 95 %, or the most that its shape is made for.
    const FULL: f64 = 0.95;
    /// Whether other threads may write at the same time: then W is the floor of a write, else R.
    const SHARED: bool;
    /// Whether items can be removed.
    const REMOVES: bool = true;
    /// Whether two items that it cannot tell apart are in once each, so that both can be removed.
    const COPIES: bool = true;

    /// An empty filter of about so many slots; peers round up to a power of two.
    fn new(slots: u64) -> Self;
    /// The slots that there are.
    fn slots(&self) -> u64;
    /// Bytes of memory, by its own account.
    fn bytes(&self) -> u64;
    /// Inserts; `false` if it is refused. `&mut` so that filters for one thread can take part.
    fn insert(&mut self, item: u64) -> bool;
    /// Whether the item may have been inserted.
    fn contains(&self, item: u64) -> bool;
    /// Removes; whether there was one.
    fn remove(&mut self, item: u64) -> bool;
}

/// A filter that many threads measure.
pub trait Shared: Sync + Sized {
    /// As [`Cuckoo::NAME`].
    const NAME: &'static str;
    /// As [`Cuckoo::FULL`].
    const FULL: f64 = 0.95;
    /// As [`Cuckoo::REMOVES`].
    const REMOVES: bool = true;
    /// Whether it finds an item to remove while another thread moves it.
    const SURE: bool = true;

    /// As [`Cuckoo::new`].
    fn new(slots: u64) -> Self;
    /// As [`Cuckoo::slots`].
    fn slots(&self) -> u64;
    /// As [`Cuckoo::bytes`].
    fn bytes(&self) -> u64;
    /// As [`Cuckoo::insert`].
    fn insert(&self, item: u64) -> bool;
    /// As [`Cuckoo::contains`].
    fn contains(&self, item: u64) -> bool;
    /// As [`Cuckoo::remove`].
    fn remove(&self, item: u64) -> bool;
    /// Inserts these, in batches where there are such; `false` if one is refused.
    fn insert_many(&self, items: &[u64]) -> bool {
        items.iter().all(|&item| self.insert(item))
    }
}

impl<F: Shared> Cuckoo for F {
    const NAME: &'static str = F::NAME;
    const FULL: f64 = F::FULL;
    const SHARED: bool = true;
    const REMOVES: bool = F::REMOVES;

    fn new(slots: u64) -> Self {
        F::new(slots)
    }

    fn slots(&self) -> u64 {
        Shared::slots(self)
    }

    fn bytes(&self) -> u64 {
        Shared::bytes(self)
    }

    #[inline]
    fn insert(&mut self, item: u64) -> bool {
        Shared::insert(self, item)
    }

    #[inline]
    fn contains(&self, item: u64) -> bool {
        Shared::contains(self, item)
    }

    #[inline]
    fn remove(&mut self, item: u64) -> bool {
        Shared::remove(self, item)
    }
}

/// Something done with each filter in turn, without knowing its type.
pub trait Visitor {
    /// Does it with this one.
    fn visit<C: Cuckoo>(&mut self);
}

/// Likewise for those that threads share.
pub trait SharedVisitor {
    /// Does it with this one.
    fn visit<F: Shared>(&mut self);
}

/// Shows all filters to `visitor`.
pub fn each(visitor: &mut impl Visitor) {
    visitor.visit::<Ours<CuckooFilter<u64>, 4, 16>>();
    visitor.visit::<Ours<OnceCuckooFilter<u64>, 4, 16>>();
    visitor.visit::<Ours<CuckooFilter<u64>, 4, 8>>();
    visitor.visit::<Ours<CuckooFilter<u64>, 8, 8>>();
    visitor.visit::<Ours<CuckooFilter<u64>, 5, 12>>();
    visitor.visit::<Ours<CuckooFilter<u64>, 2, 32>>();
    visitor.visit::<rival::TwoChoice>();
    #[cfg(feature = "peers")]
    peer::each(visitor);
}

/// Shows those that threads share to `visitor`.
pub fn each_shared(visitor: &mut impl SharedVisitor) {
    visitor.visit::<Ours<CuckooFilter<u64>, 4, 16>>();
    visitor.visit::<Ours<OnceCuckooFilter<u64>, 4, 16>>();
    #[cfg(feature = "peers")]
    peer::each_shared(visitor);
}
