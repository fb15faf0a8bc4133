//! What every filter in the benches does, and which capabilities it may have.

/// What is known of a filter without making one.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    /// The name in tables and records: the type, and of other crates also whether threads share it.
    pub name: &'static str,
    /// Whether batches are more than loops.
    pub many: bool,
    /// Whether it is memory and no filter: then answers mean nothing.
    pub memory: bool,
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
        let (many, memory, removes) = (false, false, false);
        Self { name, many, memory, lowest: 0.0, removes, copies: true, sure: true }
    }
}

/// What a filter does, and which of the optional capabilities it has.
///
/// A filter for one thread implements `insert`, one that threads share `insert_shared`; so with
/// `remove`, which is optional.
pub trait Filter: Sized + 'static {
    /// What is known of all filters of the type.
    const TRAITS: Traits;

    /// Makes an empty filter for `items` items at this rate; none if the filter does not support
    /// this.
    fn new(items: u64, rate: f64) -> Option<Self>;

    /// Returns the bytes of memory, as the filter reports them where it does.
    fn bytes(&self) -> u64;

    /// Returns the share of the slots that are filled; none if the filter does not report it.
    fn load(&self) -> Option<f64> {
        None
    }

    /// Returns whether the item may have been inserted.
    fn contains(&self, item: &u64) -> bool;

    /// Inserts; returns whether the item was new, or `true` if the filter does not report this.
    #[inline]
    fn insert(&mut self, item: &u64) -> bool {
        self.insert_shared(item)
    }

    /// Inserts while other threads may do the same.
    fn insert_shared(&self, _item: &u64) -> bool {
        unreachable!("{} is for one thread", Self::TRAITS.name)
    }

    /// Removes; returns whether the item was found.
    #[inline]
    fn remove(&mut self, item: &u64) -> bool {
        self.remove_shared(item)
    }

    /// Removes while other threads may write.
    fn remove_shared(&self, _item: &u64) -> bool {
        unreachable!("{} cannot remove", Self::TRAITS.name)
    }

    /// Inserts all, and passes to `verdict` what [`insert`](Self::insert) would return for each
    /// index.
    #[inline]
    fn insert_many_with(&mut self, items: &[u64], mut verdict: impl FnMut(usize, bool)) {
        for (index, item) in items.iter().enumerate() {
            verdict(index, self.insert(item));
        }
    }

    /// Passes to `verdict`, for the index of each item, whether the item may have been inserted.
    #[inline]
    fn contains_many_with(&self, items: &[u64], mut verdict: impl FnMut(usize, bool)) {
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
