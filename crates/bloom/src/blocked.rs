//! The blocked Bloom filter: the bits of an item lie in one cache line, so it needs the fewest
//! memory accesses.

use tamis_hash::DefaultHashBuilder;

use crate::array::line::InLine;
use crate::bits::Free;
use crate::shared::Shared;

/// A concurrent Bloom filter in which an operation touches one cache line: the fastest type.
///
/// The hash picks a 64-byte line, a few words in it, and a few bits in each word (Putze, Sanders
/// and Singler 2007; cache-sectorized as in Lang et al. 2019). The sizing chooses the number of
/// words, 1 to 8, for the rate: each word costs an insert one atomic operation. Lines fill
/// unevenly, so the same rate takes more bits than in a [`BloomFilter`](crate::BloomFilter): 12.0
/// per item at 1 %, 16.8 at 0.1 %, 40.7 at 1e-6. Sizes and rates account for that. With more
/// [`words`](crate::Builder::words), an operation takes more time and an item less memory: with two
/// words instead of one, 1 % takes 10.2 bits per item.
///
/// An insert is lock-free: one `fetch_or` for each word that lacks a bit. A query is wait-free. See
/// [the crate](crate) for the guarantees under concurrency.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::BlockedBloomFilter;
///
/// let filter = BlockedBloomFilter::<str>::with_capacity(1000)?;
/// std::thread::scope(|scope| {
///     for name in ["a", "b", "c"] {
///         let filter = &filter;
///         scope.spawn(move || filter.insert(name));
///     }
/// });
/// assert!(filter.contains("a") && filter.contains("b") && filter.contains("c"));
/// # Ok::<(), tamis::BuildError>(())
/// ```
pub struct BlockedBloomFilter<T: ?Sized, S = DefaultHashBuilder> {
    pub(crate) shared: Shared<InLine<Free>, T, S>,
}
