//! The classic Bloom filter: the bits of an item lie anywhere, so it needs the least memory.

use tamis_hash::DefaultHashBuilder;

use crate::array::classic::Classic;
use crate::shared::Shared;

/// A concurrent Bloom filter that needs the fewest bits: 9.6 per item at a rate of 1 %, and 4.8
/// more for each tenfold lower rate.
///
/// The bits of an item lie anywhere in the array (Bloom 1970). An operation therefore touches up to
/// one cache line per probe: 6 at 1 %. In large arrays a
/// [`BlockedBloomFilter`](crate::BlockedBloomFilter) answers twice as fast and inserts three times
/// as fast. It needs 1.25 times the memory at 1 %, 1.4 times at 1e-6 and twice at 1e-9.
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
