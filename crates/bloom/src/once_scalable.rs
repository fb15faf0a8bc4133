//! The growing once filter: exactly one of all concurrent inserts of an item returns `true`.

use core::marker::PhantomData;

use tamis_hash::DefaultHashBuilder;

use crate::bits::Locked;
use crate::chain::slices::Slices;

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
    pub(crate) slices: Slices<Locked>,
    pub(crate) hasher: S,
    /// No item is stored: the filter is `Send` and `Sync` whatever `T` is.
    pub(crate) item: PhantomData<fn(&T)>,
}
