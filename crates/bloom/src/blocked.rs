//! The blocked Bloom filter: the bits of an item lie in one cache line, so it needs the fewest
//! memory accesses.

use core::borrow::Borrow;

use tamis_hash::{DefaultHashBuilder, HashItem};

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

impl<T: ?Sized, S> BlockedBloomFilter<T, S> {
    /// Inserts an item. Returns `true` if this call set a bit; the item was then certainly not in
    /// the filter before.
    ///
    /// Of concurrent inserts of a new item **at least one** returns `true`, perhaps several: it is
    /// no test-and-set (for that, see [`OnceBloomFilter`](crate::OnceBloomFilter)). All return
    /// `false` if the item was a false positive, or becomes one during the race. A `false` does not
    /// synchronize with the thread that inserted the item: its other writes may be invisible.
    ///
    /// Lock-free; one cache line, at most [`words`](crate::Geometry::words) atomic operations.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::BlockedBloomFilter;
    /// let filter = BlockedBloomFilter::<String>::with_capacity(10)?;
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
