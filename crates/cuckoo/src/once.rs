//! The public type `OnceCuckooFilter`: exactly one of any number of concurrent inserts of an item
//! returns `true`.

use alloc::vec::Vec;
use core::borrow::Borrow;

#[cfg(feature = "std")]
use tamis_core::BuildError;
use tamis_core::{AsItem, ByHash, Figures, Hashed, many};
use tamis_hash::{DefaultHashBuilder, HashItem, ItemHasher};

#[cfg(feature = "std")]
use crate::builder::Builder;
use crate::error::{InsertError, MergeError};
use crate::geometry::Geometry;
use crate::shared::Shared;

/// A concurrent cuckoo filter whose `insert` is a test-and-set: **exactly one** of any number of
/// concurrent inserts of an item returns `Ok(true)`.
///
/// Use it to claim work. At most rates below 0.1 % it needs less memory than `OnceBloomFilter` of
/// the crate `tamis`. When it is full, it returns an error, where the rate of a Bloom filter rises.
/// If an item is a false positive, no insert of it returns `Ok(true)`; this happens at the
/// [`false_positive_rate`](Self::false_positive_rate).
///
/// There is no `remove`. Two items that the filter cannot distinguish are stored once, because the
/// second insert returns `Ok(false)`. Removing one would also remove the other, which would be a
/// false negative from then on. If you need removals, use [`CuckooFilter`](crate::CuckooFilter),
/// which stores a copy for each.
///
/// *Queries, and inserts of items that are present*, take no lock, except after eight attempts in
/// a row during which a copy was relocated.
///
/// *Inserts of new items* hold the lock of the item for one compare-exchange. Above about 80 % of
/// the slots, an insert has to relocate other items, under one lock at a time.
///
/// *Growth.* With [`max_capacity`](crate::Builder::max_capacity) the filter grows in place, and is
/// full at its last size only. Each item still has at most one winner. If a thread stops in the
/// middle of growth, inserts go on while there is room, and then return [`InsertError::Stalled`].
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::OnceCuckooFilter;
///
/// let claimed = OnceCuckooFilter::<str>::with_capacity(1000)?;
/// let winners: usize = std::thread::scope(|scope| {
///     let claim = || claimed.insert("job 1").is_ok_and(|first| first);
///     let threads: Vec<_> = (0..4).map(|_| scope.spawn(claim)).collect();
///     threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
/// });
/// assert_eq!(winners, 1);
/// # Ok::<(), tamis::BuildError>(())
/// ```
pub struct OnceCuckooFilter<T: ?Sized, S = DefaultHashBuilder> {
    pub(crate) shared: Shared<T, S>,
}

impl<T: ?Sized> OnceCuckooFilter<T> {
    /// Creates an empty filter for `items` distinct items, at a false-positive rate of at most 1
    /// %, with a randomly keyed hasher. A capacity of 0 counts as 1.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the allocation fails.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let filter = OnceCuckooFilter::<str>::with_capacity(1_000_000)?;
    /// assert!(filter.size_in_bytes() < 1_670_000);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn with_capacity(items: usize) -> Result<Self, BuildError> {
        Self::builder().capacity(items).build()
    }

    /// Returns a builder, for sizes by items and rate or by buckets and slots, and for any hasher.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let builder = OnceCuckooFilter::<str>::builder().capacity(1000).false_positive_rate(1e-4);
    /// let filter = builder.build()?;
    /// filter.insert("a")?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn builder() -> Builder<Self> {
        Builder::new(DefaultHashBuilder::default())
    }
}

impl<T: ?Sized, S> OnceCuckooFilter<T, S> {
    /// Inserts an item unless the filter contains it. Returns `Ok(true)` if the item is new; only
    /// this call does so.
    ///
    /// **Exactly one** of any number of concurrent inserts of a new item returns `Ok(true)`. None
    /// does if the item is a false positive, or becomes one during these inserts. After
    /// `Ok(false)`, other writes of the thread that inserted the item may be invisible.
    ///
    /// # Errors
    ///
    /// [`InsertError`]: `Full` if a whole search found no way to make room, `Stalled` if the filter
    /// cannot grow now. The search only reads: up to 1024 buckets and the other bucket of each of
    /// their items, with 16 KiB of stack. After an error, the filter contains the same items as
    /// before, and not this one.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<String>::with_capacity(10)?;
    /// assert!(filter.insert("a")?);
    /// assert!(!filter.insert("a")?);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert<Q: ?Sized>(&self, item: &Q) -> Result<bool, InsertError>
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.shared.insert_once(self.shared.hash(item))
    }

    /// Returns whether the filter contains the item. `false` is certain. For an item that was not
    /// inserted, the probability of `true` is the
    /// [`false_positive_rate`](Self::false_positive_rate).
    ///
    /// The query reads the item's two buckets without a lock. It repeats the read in the rare case
    /// that a copy was relocated at the same time. After eight disturbed attempts it takes the
    /// item's lock; in a filter that grows, it never waits for the lock.
    ///
    /// The query finds every item whose insert happened before the query, even while other threads
    /// relocate the item. It may or may not find an item that is inserted concurrently.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let builder = OnceCuckooFilter::<str>::builder().capacity(10).false_positive_rate(1e-8);
    /// let filter = builder.build()?;
    /// filter.insert("a")?;
    /// assert!(filter.contains("a") && !filter.contains("b"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains<Q: ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.shared.contains(self.shared.hash(item))
    }

    /// Returns the filter as seen by code that has hashes instead of items.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// use tamis::hash::HashItem;
    ///
    /// let builder = OnceCuckooFilter::<str>::builder().capacity(10_000).false_positive_rate(1e-3);
    /// let filter = builder.build()?;
    /// let hash = filter.hasher().hash_item("a");
    /// filter.by_hash().insert(hash)?;
    /// assert!(filter.contains("a") && filter.by_hash().contains(hash));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn by_hash(&self) -> ByHash<'_, Self> {
        Hashed::by_hash(self)
    }

    /// Inserts many items, owned or borrowed. Calls `on_result` for each item in order, with its
    /// index and the result that [`insert`](Self::insert) would have returned. An error does not
    /// end the batch.
    ///
    /// Faster than single inserts in filters that do not fit in the caches. As with
    /// [`insert`](Self::insert), **exactly one** of any number of concurrent inserts of a new item
    /// returns `Ok(true)`. See [batches](crate#batches) for slow iterators and panics.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let filter = OnceCuckooFilter::<u64>::with_capacity(1000)?;
    /// let mut new = 0;
    /// filter.insert_many_with(0..10, |_number, result| new += usize::from(result == Ok(true)));
    /// assert_eq!(new, 10);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert_many_with<I>(
        &self,
        items: I,
        on_result: impl FnMut(usize, Result<bool, InsertError>),
    ) where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.shared.insert_once_many(self.shared.hashes(items), on_result);
    }

    /// Inserts many items as [`insert_many_with`](Self::insert_many_with) does, and returns the
    /// results in order.
    ///
    /// Hashes all items before it changes the filter, which needs 8 bytes per item. If the
    /// iterator or the hasher panics, the filter is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let builder = OnceCuckooFilter::<str>::builder().capacity(1000).false_positive_rate(1e-8);
    /// let filter = builder.build()?;
    /// assert_eq!(filter.insert_many(["a", "b", "a"]), [Ok(true), Ok(true), Ok(false)]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use = "an insert may fail"]
    pub fn insert_many<I>(&self, items: I) -> Vec<Result<bool, InsertError>>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        many::insert(self, self.shared.hashes(items))
    }

    /// Queries many items, owned or borrowed. Calls `on_result` for each item in order, with its
    /// index and the result that [`contains`](Self::contains) would have returned.
    ///
    /// Faster than single queries in filters that do not fit in the caches. Up to 32 items are
    /// queried before the first call of `on_result`, so an insert in `on_result` may not be
    /// visible to the results after it; see [batches](crate#batches).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let filter = OnceCuckooFilter::<str>::with_capacity(1000)?;
    /// filter.insert("b")?;
    /// let names: Vec<String> = vec!["a".into(), "b".into()];
    /// let mut hits = vec![];
    /// filter.contains_many_with(&names, |number, hit| {
    ///     if hit {
    ///         hits.push(&names[number]);
    ///     }
    /// });
    /// assert_eq!(hits, ["b"]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn contains_many_with<I>(&self, items: I, on_result: impl FnMut(usize, bool))
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.shared.contains_many_with(self.shared.hashes(items), on_result);
    }

    /// Queries many items as [`contains_many_with`](Self::contains_many_with) does, and returns
    /// the results in order.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let builder = OnceCuckooFilter::<str>::builder().capacity(1000).false_positive_rate(1e-8);
    /// let filter = builder.build()?;
    /// filter.insert("b")?;
    /// assert_eq!(filter.contains_many(["a", "b"]), [false, true]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn contains_many<I>(&self, items: I) -> Vec<bool>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        many::contains(self, self.shared.hashes(items))
    }

    /// Removes all items. It takes `&mut self` because a concurrent query would miss items.
    ///
    /// A filter that has grown begins with its first size again, but keeps the memory that it has,
    /// to grow into it. Only a new filter ([`Builder::from`](crate::Builder)) gives it back.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let mut filter = OnceCuckooFilter::<str>::with_capacity(10)?;
    /// filter.insert("a")?;
    /// filter.clear();
    /// assert!(filter.is_empty());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn clear(&mut self) {
        self.shared.clear();
    }

    /// Returns a new filter of the same geometry with the items of both.
    ///
    /// An item that is in both is stored once. Both filters may be in use meanwhile: the merge
    /// takes a `clone` of each.
    ///
    /// # Errors
    ///
    /// [`MergeError`] if the filters differ in geometry or hash differently, if the items of both
    /// do not fit, or if the allocation fails.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// use tamis::hash::Rapid;
    ///
    /// let builder = || OnceCuckooFilter::<str>::builder().capacity(10).hasher(Rapid::with_seed(1));
    /// let (a, b) = (builder().build()?, builder().build()?);
    /// a.insert("a")?;
    /// b.insert("b")?;
    /// let both = OnceCuckooFilter::merge(&a, &b)?;
    /// assert!(both.contains("a") && both.contains("b"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn merge(a: &Self, b: &Self) -> Result<Self, MergeError>
    where
        S: ItemHasher + Clone,
    {
        Ok(Self { shared: Shared::merge(&a.shared, &b.shared, true)? })
    }

    /// Returns the number of items: inserts that returned `Ok(true)`.
    ///
    /// Exact while no thread writes. While threads write, their current inserts may be counted or
    /// not. The count is kept in up to 64 parts, fewer in small filters, so that threads rarely
    /// write to the same part. Without the feature `std` it has one part. `O(parts)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<str>::with_capacity(10)?;
    /// filter.insert("a")?;
    /// filter.insert("a")?;
    /// assert_eq!(filter.len(), 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Returns whether the filter contains no item.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// assert!(OnceCuckooFilter::<str>::with_capacity(10)?.is_empty());
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of distinct items for which the filter was built: the `max_capacity` of
    /// a filter that grows.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// assert_eq!(OnceCuckooFilter::<str>::with_capacity(10)?.capacity(), 10);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
    }

    /// Returns the share of the present slots that are in use, computed from [`len`](Self::len).
    ///
    /// Inserts take longer from about 0.8 on. [`InsertError::Full`] has the shares at which the
    /// first inserts fail.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::{Filter, OnceCuckooFilter};
    /// let builder = OnceCuckooFilter::<u64>::builder().buckets(1000).slots(4);
    /// let filter = builder.fingerprint_bits(16).build()?;
    /// filter.try_extend(0..2000)?;
    /// assert!((0.49..=0.5).contains(&filter.load_factor()));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        self.shared.load_factor()
    }

    /// Returns how full the filter is, and the false-positive rate of its contents. Reads every
    /// bucket, and the other bucket of every fingerprint: `O(slots)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let builder = OnceCuckooFilter::<u64>::builder().capacity(10_000).false_positive_rate(1e-3);
    /// let filter = builder.build()?;
    /// for item in 0..5000 {
    ///     filter.insert(&item)?;
    /// }
    /// let figures = filter.figures();
    /// assert!((4000.0..6000.0).contains(&figures.items.value));
    /// assert!(figures.saturation.value < 0.7 && figures.false_positive_rate.value < 0.01);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn figures(&self) -> Figures {
        self.shared.figures(None)
    }

    /// Estimates [`figures`](Self::figures) from a sample, with their standard errors: for
    /// metrics.
    ///
    /// Reads at least `lines` buckets (all if there are fewer), and the other bucket of each
    /// fingerprint in them. The number of items is exact.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let builder = OnceCuckooFilter::<u64>::builder().capacity(10_000).false_positive_rate(1e-3);
    /// let filter = builder.build()?;
    /// for item in 0..5000 {
    ///     filter.insert(&item)?;
    /// }
    /// let (sampled, exact) = (filter.figures_sampled(50), filter.figures());
    /// let difference = (sampled.items.value - exact.items.value).abs();
    /// assert!(difference <= 9.0 * sampled.items.standard_error);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn figures_sampled(&self, lines: u64) -> Figures {
        self.shared.figures(Some(lines))
    }

    /// Returns the number of items divided by the capacity. Above 1 the filter is overfilled:
    /// inserts may fail, and the false-positive rate may be higher than requested.
    ///
    /// The capacity of a merged filter is the sum of both capacities, limited to what fits. Its
    /// rate is that of its items.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::{Filter, OnceCuckooFilter};
    /// let filter = OnceCuckooFilter::<u64>::with_capacity(1000)?;
    /// filter.try_extend(0..500)?;
    /// assert!((0.48..=0.5).contains(&filter.saturation()));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn saturation(&self) -> f64 {
        self.shared.saturation()
    }

    /// Returns the false-positive rate of the present contents: the probability that a query of an
    /// item that was not inserted returns `true`.
    ///
    /// Exact while no thread writes. Several copies of an item count once. It reads the other
    /// bucket of every fingerprint: `O(slots)`, about the time of one query per slot.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::{Filter, OnceCuckooFilter};
    /// let builder = OnceCuckooFilter::<u64>::builder().buckets(1000).slots(4).fingerprint_bits(8);
    /// let filter = builder.build()?;
    /// filter.try_extend(0..3600)?;
    /// assert!((0.025..0.03).contains(&filter.false_positive_rate()));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.shared.false_positive_rate()
    }

    /// Returns the number of bytes of the buckets, locks, versions and counts, at the present size
    /// of a filter that grows. Address space that is reserved for growth does not count.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let builder = OnceCuckooFilter::<str>::builder().buckets(100_000).slots(4);
    /// let filter = builder.fingerprint_bits(16).build()?;
    /// assert!((800_000..808_000).contains(&filter.size_in_bytes()));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.shared.size_in_bytes()
    }

    /// Returns the sizes of the filter, which determine the fingerprint and the buckets of every
    /// item.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<str>::with_capacity(1000)?;
    /// assert_eq!(filter.geometry().fingerprint_bits(), 12);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.shared.geometry()
    }

    /// Returns the hasher.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// use tamis::hash::HashItem;
    ///
    /// let filter = OnceCuckooFilter::<str>::with_capacity(10)?;
    /// filter.by_hash().insert(filter.hasher().hash_item("a"))?;
    /// assert!(filter.contains("a"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn hasher(&self) -> &S {
        self.shared.hasher()
    }
}
