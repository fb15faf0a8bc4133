//! The classic Bloom filter: the bits of an item lie anywhere, so it needs the least memory.

use core::borrow::Borrow;

use tamis_hash::{DefaultHashBuilder, HashItem};

use crate::array::classic::Classic;
use crate::shared::Shared;

/// A concurrent Bloom filter that needs the fewest bits: 9.6 per item at a rate of 1 %, and 4.8
/// more for each tenfold lower rate.
///
/// The bits of an item lie anywhere in the array (Bloom 1970). An operation therefore touches up to
/// one cache line per probe: 6 at 1 %. Out of cache
/// [`BlockedBloomFilter`](crate::BlockedBloomFilter) is several times faster and needs a little
/// more memory.
///
/// An insert is lock-free: one `fetch_or` for each missing bit. A query is wait-free: at most one
/// load per probe. See [the crate](crate) for the guarantees under concurrency.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::BloomFilter;
///
/// let filter = BloomFilter::<str>::with_capacity(1000)?;
/// std::thread::scope(|scope| {
///     for name in ["a", "b", "c"] {
///         let filter = &filter;
///         scope.spawn(move || filter.insert(name));
///     }
/// });
/// assert!(filter.contains("a") && filter.contains("b") && filter.contains("c"));
/// # Ok::<(), tamis::BuildError>(())
/// ```
pub struct BloomFilter<T: ?Sized, S = DefaultHashBuilder> {
    pub(crate) shared: Shared<Classic, T, S>,
}

impl<T: ?Sized, S> BloomFilter<T, S> {
    /// Inserts an item. Returns `true` if this call set a bit; the item was then certainly not in
    /// the filter before.
    ///
    /// Of concurrent inserts of a new item **at least one** returns `true`, perhaps several: it is
    /// no test-and-set (for that, see [`OnceBloomFilter`](crate::OnceBloomFilter)). All return
    /// `false` if the item was a false positive, or becomes one during the race. A `false` does not
    /// synchronize with the thread that inserted the item: its other writes may be invisible.
    ///
    /// Lock-free; `O(probes)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::BloomFilter;
    /// let filter = BloomFilter::<String>::with_capacity(10)?;
    /// assert!(filter.insert("a"));
    /// assert!(!filter.insert("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn insert<Q: ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        // The user's code runs in `hash_item`, before a line is touched or locked.
        self.shared.insert_hash(self.shared.hasher.hash_item(item))
    }
}
