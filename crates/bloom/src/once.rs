//! The once filter: exactly one of all concurrent inserts of an item returns `true`.

use core::borrow::Borrow;

use tamis_core::AsItem;
#[cfg(feature = "std")]
use tamis_core::BuildError;
use tamis_hash::{DefaultHashBuilder, HashItem, ItemHasher};

use crate::array::once::OnceArray;
#[cfg(feature = "std")]
use crate::builder::Builder;
use crate::error::UnionError;
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
/// that of the blocked filter, with the same choice of [`words`](Builder::words). In a filter with
/// locks, 1 bit in 512 is a lock. A query whose probes fall on it takes it as set; the reported
/// rate includes that.
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

impl<T: ?Sized> OnceBloomFilter<T> {
    /// Builds an empty filter for `items` distinct items at a false-positive rate of 1 %, with a
    /// randomly keyed hasher. A capacity of 0 counts as 1.
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
    /// use tamis::OnceBloomFilter;
    ///
    /// let filter = OnceBloomFilter::<str>::with_capacity(1_000_000)?;
    /// assert!(filter.size_in_bytes() < 1_600_000);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn with_capacity(items: usize) -> Result<Self, BuildError> {
        Self::builder().capacity(items).build()
    }

    /// Returns a builder, which sizes the filter by items and rate or by bits and probes, and takes
    /// any hasher.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    ///
    /// let builder = OnceBloomFilter::<str>::builder().capacity(1000).false_positive_rate(1e-4);
    /// let filter = builder.build()?;
    /// assert!(filter.insert("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn builder() -> Builder<Self> {
        Builder::new(DefaultHashBuilder::default())
    }
}

impl<T: ?Sized, S> OnceBloomFilter<T, S> {
    /// Inserts an item. Returns `true` if the item is new; no other insert of the item returns
    /// `true`.
    ///
    /// Of concurrent inserts of a new item **exactly one** returns `true`, or none, if the item was
    /// a false positive or becomes one during the race. A `false` does not synchronize with the
    /// thread that inserted the item: its other writes may be invisible.
    ///
    /// Touches one cache line. A present item is found by loads alone. A new item takes one
    /// `fetch_or` or, at rates below 1 %, the lock of its line for a few stores.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// let filter = OnceBloomFilter::<String>::with_capacity(10)?;
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
        self.shared.insert(item)
    }

    /// Returns whether the item may have been inserted. `false` is certain: no insert of the item
    /// happened before. For an item that was not inserted, the probability of `true` is the
    /// [`false_positive_rate`](Self::false_positive_rate).
    ///
    /// Wait-free. Sees every insert that happens before the call. Of an insert that runs
    /// concurrently, it may see all bits, some, or none.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// let filter = OnceBloomFilter::<str>::with_capacity(10)?;
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
        self.shared.contains(item)
    }

    /// Inserts many items, owned or borrowed. Calls `on_result` in order, with each item's index
    /// and what [`insert`](Self::insert) would have returned.
    ///
    /// Faster than single inserts in filters larger than the caches, and as fast in small ones. As
    /// with [`insert`](Self::insert), **exactly one** of concurrent inserts of a new item returns
    /// `true`. See [batches](crate#batches) for slow iterators and panics.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    ///
    /// let filter = OnceBloomFilter::<u64>::with_capacity(1000)?;
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
        self.shared.insert_many_with(self.shared.hashes(items), on_result);
    }

    /// Adds all items of `other`, as if they had been inserted one by one. Locks at most one line
    /// at a time.
    ///
    /// Both filters may be in use meanwhile. An item that is inserted into `other` concurrently may
    /// be added or not. The rate of the united filter follows from its fill and may exceed the rate
    /// it was built for: see [`saturation`](Self::saturation). Reads all of `other`: `O(bits)`.
    ///
    /// # Errors
    ///
    /// [`UnionError`] unless both filters have the same geometry and the same hasher. Nothing is
    /// changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// use tamis::hash::Rapid;
    ///
    /// let builder = || OnceBloomFilter::<str>::builder().capacity(10).hasher(Rapid::with_seed(1));
    /// let (a, b) = (builder().build()?, builder().build()?);
    /// b.insert("b");
    /// a.union_with(&b)?;
    /// assert!(a.contains("b"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn union_with(&self, other: &Self) -> Result<(), UnionError>
    where
        S: ItemHasher,
    {
        self.shared.union_with(&other.shared)
    }

    /// Returns the false-positive rate of the current contents: the probability that a query for an
    /// item that was not inserted returns `true`. Computed from the contents as the mean over the
    /// lines, with an error of a few thousandths (a hundredth in a nearly empty filter). Reads all
    /// bits: `O(bits)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// let filter = OnceBloomFilter::<u64>::with_capacity(100_000)?;
    /// for item in 0..100_000 {
    ///     filter.insert(&item);
    /// }
    /// assert!((0.009..0.011).contains(&filter.false_positive_rate()));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.shared.figures().false_positive_rate.value
    }
}
