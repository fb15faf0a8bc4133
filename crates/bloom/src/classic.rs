//! The classic Bloom filter: the bits of an item lie anywhere, so it needs the least memory.

use core::borrow::Borrow;

use tamis_core::AsItem;
#[cfg(feature = "std")]
use tamis_core::BuildError;
use tamis_hash::{DefaultHashBuilder, HashItem, ItemHasher};

use crate::array::classic::Classic;
#[cfg(feature = "std")]
use crate::builder::Builder;
use crate::error::UnionError;
use crate::shared::Shared;

/// A concurrent Bloom filter that needs the fewest bits: 9.6 per item at a rate of 1 %, and 4.8
/// more for each tenfold lower rate.
///
/// The bits of an item lie anywhere in the array (Bloom 1970). An operation therefore touches up to
/// one cache line per probe: 6 at 1 %. Out of cache
/// [`BlockedBloomFilter`](crate::BlockedBloomFilter) is several times faster and needs a little
/// more memory.
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

impl<T: ?Sized> BloomFilter<T> {
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
    /// use tamis::BloomFilter;
    ///
    /// let filter = BloomFilter::<str>::with_capacity(1_000_000)?;
    /// assert!(filter.size_in_bytes() < 1_210_000);
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
    /// use tamis::BloomFilter;
    ///
    /// let builder = BloomFilter::<str>::builder().capacity(1000).false_positive_rate(1e-4);
    /// let filter = builder.build()?;
    /// assert!(filter.insert("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn builder() -> Builder<Self> {
        Builder::new(DefaultHashBuilder::default())
    }
}

impl<T: ?Sized, S> BloomFilter<T, S> {
    /// Inserts an item. Returns `true` if this call set a bit; the item was then certainly not in
    /// the filter before.
    ///
    /// Of concurrent inserts of a new item **at least one** returns `true`, perhaps several: it is
    /// no test-and-set (for that, see [`OnceBloomFilter`](crate::OnceBloomFilter)). All return
    /// `false` if the item was a false positive, or becomes one during the race. A `false` does not
    /// synchronize with the thread that inserted the item: its other writes may be invisible.
    ///
    /// Lock-free; `O(probes)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::BloomFilter;
    /// let filter = BloomFilter::<String>::with_capacity(10)?;
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
    /// use tamis::BloomFilter;
    /// let filter = BloomFilter::<str>::with_capacity(10)?;
    /// assert!(!filter.contains("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline(always)]
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
    /// Faster than single inserts in filters larger than the caches, and as fast in small ones.
    /// Concurrent inserts have the guarantee of [`insert`](Self::insert).
    /// See [batches](crate#batches) for slow iterators and panics.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::BloomFilter;
    ///
    /// let filter = BloomFilter::<u64>::with_capacity(1000)?;
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

    /// Adds all items of `other` by `fetch_or`, as if they had been inserted one by one.
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
    /// use tamis::BloomFilter;
    /// use tamis::hash::Rapid;
    ///
    /// let builder = || BloomFilter::<str>::builder().capacity(10).hasher(Rapid::with_seed(1));
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
    /// item that was not inserted returns `true`. Exact for the contents: the share of ones to the
    /// power of the number of probes. Reads all bits: `O(bits)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::BloomFilter;
    /// let filter = BloomFilter::<u64>::with_capacity(100_000)?;
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
