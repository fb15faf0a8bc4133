//! The growing once filter: exactly one of all concurrent inserts of an item returns `true`.

use alloc::vec::Vec;
use core::borrow::Borrow;

#[cfg(feature = "std")]
use tamis_core::BuildError;
use tamis_core::{AsItem, ByHash, Figures, Hashed, many};
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
    /// [`BuildError`] if the allocation fails.
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
    /// that runs concurrently, it may see all bits, some, or none. Looks into the slices until one
    /// contains the item, the newest first.
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

    /// Returns the filter as seen by code that has hashes instead of items.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    /// use tamis::hash::HashItem;
    ///
    /// let builder = OnceScalableBloomFilter::<str>::builder().capacity(10_000);
    /// let filter = builder.false_positive_rate(1e-3).build()?;
    /// let hash = filter.hasher().hash_item("a");
    /// filter.by_hash().insert(hash);
    /// assert!(filter.contains("a") && filter.by_hash().contains(hash));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn by_hash(&self) -> ByHash<'_, Self> {
        Hashed::by_hash(self)
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

    /// Inserts many items and collects what [`insert`](Self::insert) would have returned for each.
    /// See [`insert_many_with`](Self::insert_many_with).
    ///
    /// Hashes all items before it inserts the first, which takes 8 bytes per item. If the iterator
    /// or the hasher panics, nothing has been inserted.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    ///
    /// let filter = OnceScalableBloomFilter::<str>::builder().false_positive_rate(1e-10).build()?;
    /// assert_eq!(filter.insert_many(["a", "b", "a"]), [true, true, false]);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use = "`extend` inserts without results"]
    pub fn insert_many<I>(&self, items: I) -> Vec<bool>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        many::insert(self, self.chain.hashes(items))
    }

    /// Queries many items, owned or borrowed. Calls `on_result` in order, with each item's index
    /// and what [`contains`](Self::contains) would have returned.
    ///
    /// Faster than single queries: 32 items pass all slices together. An insert made in `on_result`
    /// may be invisible to the results after it. See [batches](crate#batches).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    ///
    /// let filter = OnceScalableBloomFilter::<str>::with_capacity(1 << 16)?;
    /// filter.insert("b");
    /// let names: Vec<String> = vec!["a".into(), "b".into()];
    /// let mut hits = vec![];
    /// filter.contains_many_with(&names, |number, hit| {
    ///     if hit {
    ///         hits.push(&names[number]);
    ///     }
    /// });
    /// assert_eq!(hits, ["b"]);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn contains_many_with<I>(&self, items: I, on_result: impl FnMut(usize, bool))
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.chain.contains_many_with(self.chain.hashes(items), on_result);
    }

    /// Queries many items and collects what [`contains`](Self::contains) would have returned for
    /// each. See [`contains_many_with`](Self::contains_many_with).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    ///
    /// let filter = OnceScalableBloomFilter::<str>::builder().false_positive_rate(1e-10).build()?;
    /// filter.insert("b");
    /// assert_eq!(filter.contains_many(["a", "b"]), [false, true]);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn contains_many<I>(&self, items: I) -> Vec<bool>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        many::contains(self, self.chain.hashes(items))
    }

    /// Clears the filter: afterwards it has one empty slice, as it was built, and the memory of the
    /// others is freed. Takes `&mut self`, because a concurrent query would miss items.
    ///
    /// If the allocation of the first slice fails, aborts as std's collections do.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    /// let mut filter = OnceScalableBloomFilter::<str>::with_capacity(1 << 16)?;
    /// filter.insert("a");
    /// filter.clear();
    /// assert!(!filter.contains("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn clear(&mut self) {
        self.chain.clear();
    }

    /// Returns the number of distinct items that all current slices take at their rates. It grows
    /// with the filter, up to its [`max_capacity`](Self::max_capacity).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    /// let filter = OnceScalableBloomFilter::<u64>::with_capacity(2000)?;
    /// assert_eq!(filter.capacity(), 2000);
    /// filter.insert_many_with(0..5000_u64, |_, _| ());
    /// assert_eq!(filter.capacity(), 2000 + 6000);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.chain.slices.capacity()
    }

    /// Returns the number of items at which growth ends. Up to there the filter stays below its
    /// rate. A [limit](ScalableBuilder::max_size_in_bytes) for the memory, or memory that cannot be
    /// allocated, may end it earlier.
    ///
    /// By default these are half of `rate · 2^64`, up to 10^10 items; above, the geometric mean of
    /// the two. The builder takes [another number](ScalableBuilder::max_capacity).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    /// let filter = OnceScalableBloomFilter::<u64>::builder().false_positive_rate(1e-12).build()?;
    /// assert_eq!(filter.max_capacity(), 9_223_372);
    /// let filter = OnceScalableBloomFilter::<u64>::builder().max_capacity(1_000_000).build()?;
    /// assert_eq!(filter.max_capacity(), 1_000_000);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn max_capacity(&self) -> usize {
        self.chain.slices.max_capacity()
    }

    /// Returns how full the filter is, and the false-positive rate of its contents. Reads all bits
    /// once: `O(bits)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    ///
    /// let builder = OnceScalableBloomFilter::<u64>::builder().capacity(10_000);
    /// let filter = builder.false_positive_rate(1e-3).build()?;
    /// for item in 0..5000 {
    ///     filter.insert(&item);
    /// }
    /// let figures = filter.figures();
    /// assert!((4000.0..6000.0).contains(&figures.items.value));
    /// assert!(figures.saturation.value < 0.7 && figures.false_positive_rate.value < 0.01);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn figures(&self) -> Figures {
        self.chain.slices.figures(None)
    }

    /// Estimates [`figures`](Self::figures) from a sample, with their standard errors: for metrics.
    ///
    /// Reads at least `lines` of the filter's 64-byte lines (all if it has fewer) and at most twice
    /// that number, evenly spread: `O(lines)`. A sample of 1024 lines takes less than a millisecond
    /// at any size.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    ///
    /// let builder = OnceScalableBloomFilter::<u64>::builder().capacity(10_000);
    /// let filter = builder.false_positive_rate(1e-3).build()?;
    /// for item in 0..5000 {
    ///     filter.insert(&item);
    /// }
    /// let (sampled, exact) = (filter.figures_sampled(50), filter.figures());
    /// let difference = (sampled.items.value - exact.items.value).abs();
    /// assert!(difference <= 9.0 * sampled.items.standard_error);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn figures_sampled(&self, lines: u64) -> Figures {
        self.chain.slices.figures(Some(lines))
    }

    /// Returns the estimated number of items divided by the [capacity](Self::capacity), or that of
    /// the newest slice, if it is larger. Above 1 the filter could not grow, all new items go to
    /// its newest slice, and its rate may be higher than the rate it was built for. Reads all bits:
    /// `O(bits)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    /// let builder = OnceScalableBloomFilter::<u64>::builder().capacity(1024);
    /// let filter = builder.max_size_in_bytes(2500).build()?;
    /// filter.insert_many_with(0..3000_u64, |_, _| ());
    /// assert!((2.5..3.5).contains(&filter.saturation()));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn saturation(&self) -> f64 {
        self.chain.slices.figures(None).saturation.value
    }

    /// Returns the false-positive rate of the current contents: the probability that a query for an
    /// item that was not inserted returns `true`. Computed from the bits of each slice. Reads all
    /// bits: `O(bits)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    /// let filter = OnceScalableBloomFilter::<u64>::with_capacity(2000)?;
    /// filter.insert_many_with(0..100_000_u64, |_, _| ());
    /// assert!(filter.false_positive_rate() < 0.01);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.chain.slices.figures(None).false_positive_rate.value
    }

    /// Returns the size of the bits of all slices in bytes. The next slice counts from the time at
    /// which it is reserved, when 7/8 of the newest one are used, or half of a small one.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    /// let filter = OnceScalableBloomFilter::<u64>::with_capacity(1024)?;
    /// let before = filter.size_in_bytes();
    /// filter.insert_many_with(0..2000_u64, |_, _| ());
    /// assert!(filter.size_in_bytes() > 4 * before);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.chain.size_in_bytes()
    }

    /// Returns the hasher.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceScalableBloomFilter;
    /// use tamis::hash::HashItem;
    ///
    /// let filter = OnceScalableBloomFilter::<str>::with_capacity(1 << 16)?;
    /// filter.by_hash().insert(filter.hasher().hash_item("a"));
    /// assert!(filter.contains("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn hasher(&self) -> &S {
        self.chain.hasher()
    }
}
