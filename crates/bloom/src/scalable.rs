//! The growing filter: a chain of blocked filters that needs no size.

use core::marker::PhantomData;

use tamis_hash::DefaultHashBuilder;

use crate::bits::Free;
use crate::chain::slices::Slices;

/// A Bloom filter that grows: it needs no size, its expected false-positive rate stays below the
/// request up to its [`max_capacity`](Self::max_capacity), and any number of threads use it while
/// it grows. (The [builder](crate::ScalableBuilder::false_positive_rate) says how far the rates of
/// small filters vary.)
///
/// It is a chain of blocked filters, called slices. Each holds three times the items of the slice
/// before it, at a lower rate. The last slice holds what is left of `max_capacity`, up to six times
/// the items of the slice before it, at a rate that may be higher. The sum of all rates stays below
/// the request. New items go into the newest slice until it holds the items it was sized for. The
/// next slice is reserved before that, and its memory is made present page by page, one per insert.
/// No insert waits for growth, no item is moved, and every slice lives until the filter is cleared
/// or dropped.
///
/// # What it costs
///
/// Bits per item of a filter that starts with 10,000 items, by its rate:
///
/// | | 1 % | 0.05 % | 1e-6 |
/// |---|---|---|---|
/// | 5 slices, just before the sixth is reserved (1,100,000 items) | 18.8 | 32.4 | 59.7 |
/// | 5 slices, and the sixth just reserved | 59.9 | 102.5 | 185.7 |
/// | 7 slices, just before the eighth is reserved (9,900,000 items) | 21.1 | 31.7 | 64.0 |
/// | 7 slices, and the eighth just reserved | 66.7 | 95.2 | 198.6 |
/// | a [`BlockedBloomFilter`](crate::BlockedBloomFilter) of the right size | 12.0 | 19.3 | 40.7 |
///
/// A query of an absent item reads one cache line of each slice. A batch whose items are mostly
/// present queries the fullest slice first, and the other slices only for the items that are not
/// there. From 10,000 items, a filter grows to 10 million in 7 slices, and to 10 billion in 14. If
/// you know the number of items, use a filter of that size, or give it as the
/// [`capacity`](crate::ScalableBuilder::capacity).
///
/// # Where growth ends
///
/// The hash of an absent item equals that of one of `n` items with probability `n / 2^64`, whatever
/// the filter's size. So growth must end: by default where equal hashes make half of the rate, at
/// 9.2 million items at 1e-12, 920 million at 1e-10, and 9.2 billion at 1e-9. At higher rates it
/// ends later, where equal hashes make a smaller part: at 300 billion items at 1e-6, and 30
/// trillion at 1 %. [`max_capacity`](Self::max_capacity) returns the number, and the
/// [builder](crate::ScalableBuilder::max_capacity) takes another.
///
/// If the memory for the next slice cannot be allocated, or would exceed
/// [`max_size_in_bytes`](crate::ScalableBuilder::max_size_in_bytes), growth ends earlier. A failed
/// allocation is tried again.
///
/// After the end all items go to the last slice. No item is lost, but the false-positive rate
/// rises, and [`saturation`](Self::saturation) exceeds 1 before the rate exceeds the request.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::ScalableBloomFilter;
///
/// let seen = ScalableBloomFilter::<u64>::builder().capacity(1024).build()?;
/// for item in 0..100_000 {
///     seen.insert(&item);
/// }
/// assert!(seen.capacity() > 8 * 1024);
/// assert!((0..100_000).all(|item| seen.contains(&item)));
/// assert!(seen.false_positive_rate() < 0.01);
/// # Ok::<(), tamis::BuildError>(())
/// ```
pub struct ScalableBloomFilter<T: ?Sized, S = DefaultHashBuilder> {
    pub(crate) slices: Slices<Free>,
    pub(crate) hasher: S,
    /// No item is stored: the filter is `Send` and `Sync` whatever `T` is.
    pub(crate) item: PhantomData<fn(&T)>,
}
