//! The growing once filter: exactly one of all concurrent inserts of an item returns `true`.

use core::borrow::Borrow;

use tamis_hash::{DefaultHashBuilder, HashItem};

use crate::bits::Locked;
use crate::chain::Chain;

/// A Bloom filter that grows, and whose `insert` is a test-and-set: **exactly one** of any number
/// of concurrent inserts of an item returns `true`, also while the filter grows.
///
/// Use it to claim work whose amount is unknown. Exactly one, or none: if an item is a false
/// positive, every insert of it returns `false`. That happens at the
/// [`false_positive_rate`](Self::false_positive_rate).
///
/// It grows as a [`ScalableBloomFilter`](crate::ScalableBloomFilter) does, with the same memory (at
/// high rates with less, since items have two words or more). Queries and inserts of present items
/// take no lock. An insert of a new item holds the lock of the item's cache line while it writes
/// the item. It waits only for other writes to a line that it locks, never for growth. Growth
/// [ends](crate::ScalableBloomFilter#where-growth-ends) as there, at
/// [`max_capacity`](Self::max_capacity) items.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::OnceScalableBloomFilter;
///
/// let claimed = OnceScalableBloomFilter::<str>::with_capacity(1 << 16)?;
/// let winners: usize = std::thread::scope(|scope| {
///     let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| claimed.insert("job 1"))).collect();
///     threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
/// });
/// assert_eq!(winners, 1);
/// # Ok::<(), tamis::BuildError>(())
/// ```
pub struct OnceScalableBloomFilter<T: ?Sized, S = DefaultHashBuilder> {
    pub(crate) chain: Chain<Locked, T, S>,
}

impl<T: ?Sized, S> OnceScalableBloomFilter<T, S> {
    /// Inserts an item. Returns `true` if the item is new; no other insert of the item returns
    /// `true`.
    ///
    /// Of concurrent inserts of a new item **exactly one** returns `true`, also if a slice is added
    /// meanwhile; or none, if the item is a false positive. A `false` does not synchronize with the
    /// thread that inserted the item: its other writes may be invisible.
    ///
    /// Looks into each slice, one cache line each. Shortly after a slice was added, an insert of a
    /// new item also locks and unlocks its line and 32 others in the previous slice, and looks for
    /// the item once more.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    /// let filter = OnceScalableBloomFilter::<String>::with_capacity(1 << 16)?;
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
        self.chain.insert(item)
    }
}
