//! The once filter: exactly one of all concurrent inserts of an item returns `true`.

use tamis_hash::DefaultHashBuilder;

use crate::array::once::OnceArray;
use crate::shared::Shared;

/// A concurrent Bloom filter whose `insert` is a test-and-set: **exactly one** of any number of
/// concurrent inserts of an item returns `true`.
///
/// Use it to claim work: of all crawlers that find a URL at the same time, one gets it. If the bits
/// of an item lie in several words, atomic operations on the words cannot do this, because a bit
/// does not record which item set it. At rates of 1 % and above, this filter therefore keeps the
/// bits of an item in one word, and an insert is one `fetch_or`. At lower rates one word is too
/// narrow. There one bit of each 64-byte line is the lock of the line, and an insert sets the other
/// bits by plain stores under the lock. Either way an insert takes one atomic operation.
///
/// Exactly one, or none: if an item is a false positive, or becomes one during the race, every
/// insert of it returns `false`. That happens at the
/// [`false_positive_rate`](Self::false_positive_rate), for example 1e-6. It is the only way to lose
/// an item.
///
/// Queries and inserts of present items take no lock and never wait. In a filter with locks, an
/// insert waits only for another insert into the same line, which takes a few stores. The memory is
/// that of the blocked filter, with the same choice of [`words`](crate::Builder::words). In a
/// filter with locks, 1 bit in 512 is a lock. A query whose probes fall on it takes it as set; the
/// reported rate includes that.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::OnceBloomFilter;
///
/// let claimed = OnceBloomFilter::<str>::with_capacity(1000)?;
/// let winners: usize = std::thread::scope(|scope| {
///     let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| claimed.insert("job 1"))).collect();
///     threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
/// });
/// assert_eq!(winners, 1);
/// # Ok::<(), tamis::BuildError>(())
/// ```
pub struct OnceBloomFilter<T: ?Sized, S = DefaultHashBuilder> {
    pub(crate) shared: Shared<OnceArray, T, S>,
}
