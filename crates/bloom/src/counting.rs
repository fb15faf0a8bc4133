//! The counting Bloom filter: a blocked filter with a counter for each bit, from which items can be
//! removed.

use core::borrow::Borrow;

use tamis_core::{HashedCopies as _, removing_methods};
use tamis_hash::{DefaultHashBuilder, HashItem};
use tamis_sync::out_of_memory;

use crate::array::Array as _;
use crate::array::counting::Counting;
use crate::array::line::InLine;
use crate::blocked::BlockedBloomFilter;
use crate::shared::Shared;

/// A concurrent Bloom filter from which items can be removed: a multiset whose inserts never fail.
///
/// It has the geometry of a [`BlockedBloomFilter`], with a counter of four bits for each bit (Fan,
/// Cao, Almeida and Broder 2000). An insert adds 1 to the counters of the item, a
/// [`remove`](Self::remove) subtracts 1, and the filter contains an item if none of its counters
/// is 0. So it takes four times the memory of a blocked filter: 48 bits per item at 1 %, 67 at 0.1
/// %, 163 at 1e-6. If you need less, use `CuckooFilter`, which takes about a quarter of that; but
/// its inserts fail when it is full, and after as many copies of an item as two buckets have slots:
/// ten at 1 %. Here an insert never fails: an overfilled filter has a higher false-positive rate.
///
/// **A counter that reaches 15 stays 15**, because the filter does not know how far it should have
/// counted. So an item that had 15 copies at one time stays in the filter when all of them are
/// removed: a false positive, never a false negative. Items with few copies do not saturate a
/// counter in practice, up to the capacity of the filter. [`saturated`](Self::saturated) returns
/// the number of saturated counters.
///
/// **Remove only what was inserted**, as in every filter from which items can be removed: see
/// [`remove`](Self::remove).
///
/// Inserts and removals are lock-free: a compare-exchange for each word of counters that the item
/// touches, at most four for each of its [`words`](crate::Geometry::words). A query is wait-free.
/// An operation touches one cache line if the item has one word, as at the default rate, two with
/// two words, and four with more. See [the crate](crate) for the guarantees under concurrency.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::CountingBloomFilter;
///
/// let online = CountingBloomFilter::<str>::with_capacity(1000)?;
/// online.insert("ada");
/// online.insert("ada");
/// assert_eq!(online.count("ada"), 2);
/// assert!(online.remove("ada"));
/// assert!(online.contains("ada"));
/// assert!(online.remove("ada"));
/// assert!(!online.contains("ada"));
/// # Ok::<(), tamis::BuildError>(())
/// ```
pub struct CountingBloomFilter<T: ?Sized, S = DefaultHashBuilder> {
    pub(crate) shared: Shared<Counting, T, S>,
}

removing_methods! { CountingBloomFilter of "tamis_bloom" }

impl<T: ?Sized, S> CountingBloomFilter<T, S> {
    /// Removes one copy of an item. Returns `false`, and changes nothing, if there is none.
    ///
    /// **Remove only what was inserted, once per insert, and only if the insert happened before the
    /// removal.** The insert happened before if it returned on this thread, or on a thread that has
    /// since been joined, has sent a message or has released a mutex. Then the removal returns
    /// `true`, and no other item is affected.
    ///
    /// *Removing an item that was not inserted* returns `true` at the
    /// [`false_positive_rate`](Self::false_positive_rate), and then lowers counters of other items.
    /// From then on, or after later removals, these items may be false negatives. A check with
    /// [`contains`](Self::contains) does not prevent this, because it errs for the same items.
    /// *Removing an item concurrently with its insert*, or one copy by two threads, may do the same
    /// harm. No race changes a counter of another item by accident: no counter wraps around, and
    /// none takes from its neighbour. From a snapshot or a united filter, remove only items that
    /// were inserted before the snapshot or the union.
    ///
    /// *Saturated counters stay.* If all counters of the item are saturated, the removal returns
    /// `true` and changes nothing.
    ///
    /// Lock-free; at most four atomic operations for each of the item's
    /// [`words`](crate::Geometry::words).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::CountingBloomFilter;
    /// let filter = CountingBloomFilter::<str>::with_capacity(10)?;
    /// filter.insert("a");
    /// assert!(filter.remove("a"));
    /// assert!(!filter.contains("a"));
    /// assert!(!filter.remove("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn remove<Q: ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.remove_hash(self.hasher().hash_item(item))
    }

    /// Returns the smallest counter of an item, from 0 to 15: at least the number of its copies. 15
    /// means "15 or more".
    ///
    /// It is higher than the number of copies if other items share all counters of the item: for an
    /// item without copies, at the [`false_positive_rate`](Self::false_positive_rate). A concurrent
    /// insert or removal of the item is counted or not. Wait-free.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::CountingBloomFilter;
    /// let filter = CountingBloomFilter::<str>::with_capacity(10)?;
    /// for _ in 0..20 {
    ///     filter.insert("a");
    /// }
    /// assert_eq!(filter.count("a"), 15);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn count<Q: ?Sized>(&self, item: &Q) -> u32
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.count_hash(self.hasher().hash_item(item))
    }

    /// Returns the number of counters that are saturated: that have reached 15 and no longer
    /// change. Reads all counters: `O(bits)`.
    ///
    /// Removals no longer clear these counters. They raise the
    /// [`false_positive_rate`](Self::false_positive_rate), which accounts for them, and never cause
    /// a false negative. If there are many, [`clear`](Self::clear) the filter, or build a new one.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::CountingBloomFilter;
    /// let filter = CountingBloomFilter::<str>::with_capacity(1000)?;
    /// for _ in 0..15 {
    ///     filter.insert("a");
    /// }
    /// assert_eq!(filter.saturated(), u64::from(filter.geometry().probes()));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn saturated(&self) -> u64 {
        self.shared.array.counters.saturated()
    }
}

/// A blocked filter with the same geometry, hasher and capacity, which answers as the counting
/// filter does, in a quarter of the memory. It has a bit where the counter is not 0.
///
/// For a reader that removes nothing: such a copy can be sent, saved, or united with other blocked
/// filters of the same sizes. Its bits are those of a blocked filter into which the same items were
/// inserted, as long as no counter is saturated. Of an item inserted or removed concurrently it may
/// have all bits, some, or none.
///
/// If the allocation fails, aborts as std's collections do.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::{BlockedBloomFilter, CountingBloomFilter};
///
/// let filter = CountingBloomFilter::<str>::with_capacity(1000)?;
/// filter.insert("a");
/// let published = BlockedBloomFilter::from(&filter);
/// assert!(published.contains("a"));
/// assert_eq!(4 * published.size_in_bytes(), filter.size_in_bytes());
/// # Ok::<(), tamis::BuildError>(())
/// ```
impl<T: ?Sized, S: Clone> From<&CountingBloomFilter<T, S>> for BlockedBloomFilter<T, S> {
    fn from(filter: &CountingBloomFilter<T, S>) -> Self {
        let geometry = filter.geometry().blocked();
        let lines = filter.shared.array.counters.bits();
        let lines = lines.unwrap_or_else(|_| out_of_memory(geometry.size_in_bytes()));
        let array = InLine::of_lines(geometry, lines);
        let hasher = filter.hasher().clone();
        Self { shared: Shared::of_array(array, geometry, filter.capacity(), hasher) }
    }
}
