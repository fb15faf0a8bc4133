//! What every filter in the benches does, and which capabilities it may have.

use crate::item::Item;

/// What is known of a filter without making one.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    /// The name in tables and records.
    pub name: &'static str,
    /// Whether batches are more than loops.
    pub many: bool,
    /// Whether the filter never errs, whatever rate is requested.
    pub exact: bool,
    /// The lowest rate that the filter can keep. It keeps this rate if a lower one is requested.
    pub lowest: f64,
    /// Whether items can be removed.
    pub removes: bool,
    /// Whether two items that the filter cannot distinguish are stored twice, so that both can be
    /// removed.
    pub copies: bool,
    /// Whether a removal finds an item while another thread relocates it.
    pub sure: bool,
}

impl Traits {
    /// Returns the traits of a filter without optional capabilities.
    pub(crate) const fn of(name: &'static str) -> Self {
        let (many, exact, removes) = (false, false, false);
        Self { name, many, exact, lowest: 0.0, removes, copies: true, sure: true }
    }
}

/// What a filter does, and which of the optional capabilities it has.
///
/// A filter for one thread implements `insert`, one that threads share `insert_shared`; so with
/// `remove`, which is optional.
pub trait Filter<K: Item>: Sized + 'static {
    /// What is known of all filters of the type.
    const TRAITS: Traits;

    /// Makes an empty filter for `items` items at this rate; none if the filter does not support
    /// this.
    fn new(items: u64, rate: f64) -> Option<Self>;

    /// Makes an empty filter with `bits` bits per item; none if its size cannot be chosen.
    #[must_use]
    fn with_bits(_items: u64, _bits: f64) -> Option<Self> {
        None
    }

    /// Returns the bytes of memory, as the filter reports them where it does.
    fn bytes(&self) -> u64;

    /// Returns whether the item may have been inserted.
    fn contains(&self, item: &K) -> bool;

    /// Inserts; returns whether the item was new, or `true` if the filter does not report this.
    #[inline]
    fn insert(&mut self, item: &K) -> bool {
        self.insert_shared(item)
    }

    /// Inserts while other threads may do the same.
    fn insert_shared(&self, _item: &K) -> bool {
        unreachable!("{} is for one thread", Self::TRAITS.name)
    }

    /// Removes; returns whether the item was found.
    #[inline]
    fn remove(&mut self, item: &K) -> bool {
        self.remove_shared(item)
    }

    /// Removes while other threads may write.
    fn remove_shared(&self, _item: &K) -> bool {
        unreachable!("{} cannot remove", Self::TRAITS.name)
    }

    /// Inserts all, and passes to `verdict` what [`insert`](Self::insert) would return for each
    /// index.
    #[inline]
    fn insert_many_with(&mut self, items: &[K], mut verdict: impl FnMut(usize, bool)) {
        for (index, item) in items.iter().enumerate() {
            verdict(index, self.insert(item));
        }
    }

    /// Inserts all while other threads may do the same.
    #[inline]
    fn insert_many_shared(&self, items: &[K], mut verdict: impl FnMut(usize, bool)) {
        for (index, item) in items.iter().enumerate() {
            verdict(index, self.insert_shared(item));
        }
    }

    /// Passes to `verdict`, for the index of each item, whether the item may have been inserted.
    #[inline]
    fn contains_many_with(&self, items: &[K], mut verdict: impl FnMut(usize, bool)) {
        for (index, item) in items.iter().enumerate() {
            verdict(index, self.contains(item));
        }
    }

    /// Empties the filter with all memory touched; `false` if it cannot, and a new one must be
    /// made.
    fn clear(&mut self) -> bool {
        false
    }
}
