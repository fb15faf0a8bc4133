//! The growing once filter: exactly one of all concurrent inserts of an item returns `true`.

use core::borrow::Borrow;

use tamis_core::AsItem;
#[cfg(feature = "std")]
use tamis_core::BuildError;
use tamis_hash::{DefaultHashBuilder, HashItem};

use crate::bits::Locked;
use crate::chain::Chain;
#[cfg(feature = "std")]
use crate::growing::ScalableBuilder;

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

impl<T: ?Sized> OnceScalableBloomFilter<T> {
    /// Builds an empty filter at a false-positive rate of 1 %, with a randomly keyed hasher. Its
    /// first slice takes `items` items, at least 1024.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the allocation fails, or if no filter of this type has so high a capacity
    /// ([`RateTooLow`](BuildError::RateTooLow), [`TooLarge`](BuildError::TooLarge)).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    ///
    /// let filter = OnceScalableBloomFilter::<str>::with_capacity(1_000_000)?;
    /// assert_eq!(filter.capacity(), 1_000_000);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn with_capacity(items: usize) -> Result<Self, BuildError> {
        Self::builder().capacity(items).build()
    }

    /// Returns a builder, which takes a first and a last size, a rate, a limit for the memory, and
    /// any hasher.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    ///
    /// let filter = OnceScalableBloomFilter::<str>::builder().false_positive_rate(1e-4).build()?;
    /// assert!(filter.insert("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn builder() -> ScalableBuilder<Self> {
        ScalableBuilder::new(DefaultHashBuilder::default())
    }
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

    /// Returns whether the item may have been inserted. `false` is certain: no insert of the item
    /// happened before. For an item that was not inserted, the probability of `true` is the
    /// [`false_positive_rate`](Self::false_positive_rate).
    ///
    /// Wait-free. Sees every insert that happens before the call, into whatever slice. Of an insert
    /// that runs concurrently, it may see all bits, some, or none. Looks into all slices of one
    /// shape at once, and into those of the newest shape first, until one contains the item.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    /// let filter = OnceScalableBloomFilter::<str>::with_capacity(1 << 16)?;
    /// assert!(!filter.contains("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains<Q: ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.chain.contains(item)
    }

    /// Inserts many items, owned or borrowed. Calls `on_result` in order, with each item's index
    /// and what [`insert`](Self::insert) would have returned.
    ///
    /// Faster than single inserts: 32 items pass all slices together. As with
    /// [`insert`](Self::insert), **exactly one** of concurrent inserts of a new item returns
    /// `true`. See [batches](crate#batches) for slow iterators and panics.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    ///
    /// let filter = OnceScalableBloomFilter::<u64>::with_capacity(1 << 16)?;
    /// let mut new = 0;
    /// filter.insert_many_with(0..10, |_number, is_new| new += usize::from(is_new));
    /// assert_eq!(new, 10);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_many_with<I>(&self, items: I, on_result: impl FnMut(usize, bool))
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.chain.insert_many_with(self.chain.hashes(items), on_result);
    }
}
