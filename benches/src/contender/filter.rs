//! What every filter in the benches does, and which capabilities it may have.

use crate::item::Item;

/// What a filter does, and which of the optional capabilities it has.
///
/// A filter for one thread implements `insert`, one that threads share `insert_shared`; so with `remove`, which is
/// optional.
pub trait Filter<K: Item>: Sized + 'static {
    /// The name in tables and records.
    const NAME: &'static str;
    /// Whether batches are more than loops.
    const MANY: bool = false;
    /// Whether the filter never errs, whatever rate is requested.
    const EXACT: bool = false;
    /// The lowest rate that the filter can keep. It keeps this rate if a lower one is requested.
    const LOWEST: f64 = 0.0;
    /// Whether items can be removed.
    const REMOVES: bool = false;
    /// Whether two items that the filter cannot distinguish are stored twice, so that both can be removed.
    const COPIES: bool = true;
    /// Whether a removal finds an item while another thread relocates it.
    const SURE: bool = true;

    /// Makes an empty filter for `items` items at this rate; none if the filter does not support this.
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
        unreachable!("{} is for one thread", Self::NAME)
    }

    /// Removes; returns whether the item was found.
    #[inline]
    fn remove(&mut self, item: &K) -> bool {
        self.remove_shared(item)
    }

    /// Removes while other threads may write.
    fn remove_shared(&self, _item: &K) -> bool {
        unreachable!("{} cannot remove", Self::NAME)
    }

    /// Inserts all, and passes to `verdict` what [`insert`](Self::insert) would return for each index.
    #[inline]
    fn insert_many(&mut self, items: &[K], mut verdict: impl FnMut(usize, bool)) {
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
    fn contains_many(&self, items: &[K], mut verdict: impl FnMut(usize, bool)) {
        for (index, item) in items.iter().enumerate() {
            verdict(index, self.contains(item));
        }
    }

    /// Empties the filter with all memory touched; `false` if it cannot, and a new one must be made.
    fn clear(&mut self) -> bool {
        false
    }
}
