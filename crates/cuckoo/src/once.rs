//! The once filter: of all racing inserts of an item exactly one is told that it was first.

use alloc::vec::Vec;
use core::borrow::Borrow;

use tamis_core::AsItem;
use tamis_hash::{DefaultHashBuilder, HashItem, ItemHasher};

use crate::shared::{Shared, collect_results};
use crate::{BuildError, Builder, Geometry, InsertError, MergeError, Sampled};

/// A concurrent cuckoo filter whose `insert` is a test-and-set: **exactly one** of any number of racing
/// inserts of an item returns `true`.
///
/// For claiming work, in less memory than the once filter of the Bloom kind needs at rates of
/// 0.1 % and below, and with an error instead of a rising rate when it is full. Exactly one, or none: an item that is a
/// false positive is refused to all, at the [`false_positive_rate`](Self::false_positive_rate).
///
/// There is no `remove`. Two items that cannot be told apart are stored once, since the second is told that
/// it is in; removing one would lose the other, a false negative. Who must remove takes
/// [`CuckooFilter`](crate::CuckooFilter), which keeps a copy for each.
///
/// Queries, and inserts of items that are in already, take no lock (but after eight looks in a row under which
/// items were moved). The insert of a new item takes the
/// stripe of the item for one compare-exchange; above some 80 % of the slots it has to move others, under
/// one stripe at a time.
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
    /// An empty filter for `items` distinct items, at a false-positive rate of at most 1 %, with a
    /// randomly keyed hasher. A capacity of 0 counts as 1.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the memory is refused.
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

    /// A builder: sizes by items and rate, or by buckets and slots; any hasher.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let filter = OnceCuckooFilter::<str>::builder().capacity(1000).false_positive_rate(1e-4).build()?;
    /// filter.insert("a")?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn builder() -> Builder<Self> {
        Builder::new(DefaultHashBuilder::default())
    }
}

impl<T: ?Sized, S> OnceCuckooFilter<T, S> {
    /// An empty filter for `items` distinct items, at a false-positive rate of at most 1 %. A capacity of 0 counts as 1.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the memory is refused.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// use tamis::hash::Rapid;
    ///
    /// let filter = OnceCuckooFilter::<str, _>::with_capacity_and_hasher(1000, Rapid::with_seed(1))?;
    /// assert!(filter.insert("a").is_ok());
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn with_capacity_and_hasher(items: usize, hasher: S) -> Result<Self, BuildError> {
        Builder::new(hasher).capacity(items).build()
    }

    /// A builder that starts from a hasher. Without feature `std` there is no other.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// use tamis::hash::Rapid;
    ///
    /// let filter = OnceCuckooFilter::<str, _>::builder_with_hasher(Rapid::with_seed(1)).capacity(10).build()?;
    /// filter.insert("a")?;
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn builder_with_hasher(hasher: S) -> Builder<Self> {
        Builder::new(hasher)
    }

    /// Inserts an item unless it is in. `true`: it is new, and this call alone is told so.
    ///
    /// Under a race **exactly one** of the inserts of a new item returns `true`; or none, if the item was a
    /// false positive or becomes one during the race. `false` gives no view of what else the thread that
    /// inserted the item had written.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`] if a whole search (a read-only look at up to 1024 buckets and those next to
    /// them, with 16 KiB of stack) found no way to make
    /// room; every item that was in still is, and this one is not.
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

    /// Whether the item may be in. `false` is certain. `true` is wrong at the
    /// [`false_positive_rate`](Self::false_positive_rate).
    ///
    /// Takes no lock: it looks into the item's two buckets, and again in the rare case that an item was
    /// moved under its eyes. (After eight such looks it waits for the stripe.) It sees every
    /// insert that happens before it, wherever the item is being moved meanwhile; of one that runs beside
    /// it, it may or may not.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<str>::with_capacity(10)?;
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

    /// [`insert`](Self::insert) by hash: 64 well-mixed bits, the same for the same item every time.
    ///
    /// For hashing once and asking many filters. A weak hash (an identity, a counter) ruins the rate.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// use tamis::hash::Rapid;
    ///
    /// let filter = OnceCuckooFilter::<str>::builder().capacity(10).hasher(Rapid::with_seed(1)).build()?;
    /// assert!(filter.insert_hash(Rapid::with_seed(1).hash_bytes(b"a"))?);
    /// assert!(filter.contains("a"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> Result<bool, InsertError> {
        self.shared.insert_once(hash)
    }

    /// [`contains`](Self::contains) by hash; see [`insert_hash`](Self::insert_hash).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<str>::with_capacity(10)?;
    /// assert!(!filter.contains_hash(0x9E37_79B9_7F4A_7C15));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.shared.contains(hash)
    }

    /// Inserts many items, owned or borrowed. Calls `on_result` in order, with each item's number and what
    /// [`insert`](Self::insert) would have returned. A refusal does not end it.
    ///
    /// Faster than one by one in filters beyond the caches.
    /// As with [`insert`](Self::insert), of concurrent inserts of a new item **exactly one** returns `Ok(true)`.
    /// [Batches](crate#batches) says what a slow iterator and a panic mean.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let filter = OnceCuckooFilter::<u64>::with_capacity(1000)?;
    /// let mut new = 0;
    /// filter.insert_many(0..10, |_number, result| new += usize::from(result == Ok(true)));
    /// assert_eq!(new, 10);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert_many<I>(&self, items: I, on_result: impl FnMut(usize, Result<bool, InsertError>))
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.shared.insert_once_many(self.shared.hashes(items), on_result);
    }

    /// [`insert_many`](Self::insert_many) with the results collected: what [`insert`](Self::insert) would have
    /// returned for each item.
    ///
    /// Hashes all items before it changes anything, which takes 8 bytes per item: if the iterator or the hasher panics,
    /// the filter is as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let filter = OnceCuckooFilter::<str>::with_capacity(1000)?;
    /// assert_eq!(filter.insert_each(["a", "b", "a"]), [Ok(true), Ok(true), Ok(false)]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use = "an insert may be refused"]
    pub fn insert_each<I>(&self, items: I) -> Vec<Result<bool, InsertError>>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        collect_results(self.shared.hashes(items), |hashes, push| self.insert_hashes(hashes, push))
    }

    /// Queries many items, owned or borrowed. Calls `on_result` in order, with each item's number and what
    /// [`contains`](Self::contains) would have returned.
    ///
    /// Faster than one by one in filters beyond the caches. Up to 32 items are looked up before the first call of
    /// `on_result`, so an insert made in `on_result` may be invisible to the results after it; see
    /// [batches](crate#batches).
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
    /// filter.contains_many(&names, |number, hit| {
    ///     if hit {
    ///         hits.push(&names[number]);
    ///     }
    /// });
    /// assert_eq!(hits, ["b"]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn contains_many<I>(&self, items: I, on_result: impl FnMut(usize, bool))
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.shared.contains_many(self.shared.hashes(items), on_result);
    }

    /// [`contains_many`](Self::contains_many) with the results collected: what [`contains`](Self::contains) would
    /// have returned for each item.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let filter = OnceCuckooFilter::<str>::with_capacity(1000)?;
    /// filter.insert("b")?;
    /// assert_eq!(filter.contains_each(["a", "b"]), [false, true]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn contains_each<I>(&self, items: I) -> Vec<bool>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        let hashes = self.shared.hashes(items);
        let mut results = Vec::with_capacity(hashes.size_hint().0);
        self.shared.contains_many(hashes, |_, hit| results.push(hit));
        results
    }

    /// [`insert_many`](Self::insert_many) by hash; see [`insert_hash`](Self::insert_hash).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let filter = OnceCuckooFilter::<str>::with_capacity(1000)?;
    /// filter.insert_hashes([0x9E37_79B9_7F4A_7C15], |_, result| assert_eq!(result, Ok(true)));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        self.shared.insert_once_many(hashes, on_result);
    }

    /// [`contains_many`](Self::contains_many) by hash; see [`insert_hash`](Self::insert_hash).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let filter = OnceCuckooFilter::<str>::with_capacity(1000)?;
    /// filter.contains_hashes([0x9E37_79B9_7F4A_7C15], |_, hit| assert!(!hit));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn contains_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        self.shared.contains_many(hashes, on_result);
    }

    /// Asks the processor for the memory of an item, a little ahead of its insert or query. A hint: it
    /// changes no answer, and it helps only where the filter is larger than the cache.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<str>::with_capacity(1000)?;
    /// let hashes: Vec<u64> = (1..=100_u64).map(|i| i << 54).collect();
    /// for pair in hashes.windows(2) {
    ///     filter.prefetch_hash(pair[1]);
    ///     assert!(!filter.contains_hash(pair[0]));
    /// }
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn prefetch_hash(&self, hash: u64) {
        self.shared.prefetch(hash);
    }

    /// Inserts all items, until one is refused. How many were new.
    ///
    /// Others may insert and query meanwhile.
    ///
    /// # Errors
    ///
    /// The first refusal. Earlier items stay inserted. If you need their exact number, insert one by one.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<str>::with_capacity(10)?;
    /// assert_eq!(filter.try_extend(["a", "b"])?, 2);
    /// assert_eq!(filter.try_extend([String::from("c")])?, 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn try_extend<I>(&self, items: I) -> Result<usize, InsertError>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.shared.hashes(items).map(|hash| self.insert_hash(hash).map(usize::from)).sum()
    }

    /// [`try_extend`](Self::try_extend) by all threads of rayon's pool, in any order.
    ///
    /// # Errors
    ///
    /// One of the refusals; others may have been inserted before and after it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// use rayon::iter::IntoParallelIterator;
    ///
    /// let filter = OnceCuckooFilter::<u64>::with_capacity(1000)?;
    /// assert!(filter.par_try_extend((0..900).into_par_iter())? > 800);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[cfg(feature = "rayon")]
    pub fn par_try_extend<I>(&self, items: I) -> Result<usize, InsertError>
    where
        I: rayon::iter::IntoParallelIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed> + Sync,
    {
        use rayon::iter::ParallelIterator as _;
        let inserted = items
            .into_par_iter()
            .map(|item| self.insert_hash(self.hasher().hash_item(item.as_item())).map(usize::from));
        inserted.try_reduce(|| 0, |some, more| Ok(some + more))
    }

    /// Forgets all items. `&mut`, since a query that runs beside it would miss items.
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

    /// A copy, taken while others may write. `clone` is the same.
    ///
    /// Each item whose insert happened before is in it, though others move it meanwhile; of inserts beside
    /// it, each is in it or not.
    /// It holds all stripes for the time of the copy, `O(buckets)`: readers go on, and so do inserts of items
    /// that are in already; inserts of new ones wait.
    ///
    /// Aborts, as std's collections do, if the memory is refused.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<str>::with_capacity(10)?;
    /// filter.insert("a")?;
    /// let copy = filter.snapshot();
    /// filter.insert("b")?;
    /// assert!(copy.contains("a") && !copy.contains("b"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> Self
    where
        S: Clone,
    {
        Self { shared: self.shared.snapshot() }
    }

    /// A new filter of the same geometry with the items of both.
    ///
    /// An item that is in both is in it once. Both may be in use meanwhile: it takes a [`snapshot`](Self::snapshot) of each.
    ///
    /// # Errors
    ///
    /// [`MergeError`] if they differ in geometry or hash differently, if the items of both do not fit,
    /// or the memory is refused.
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

    /// The items that are in: inserts that returned `true`.
    ///
    /// Exact when nobody writes; beside writers it may be off by what they do meanwhile. It is kept in up to
    /// 64 parts, fewer in small filters, so that threads hardly meet in it (without feature `std` in one);
    /// `O(parts)`.
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

    /// Whether nothing is in.
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

    /// The number of distinct items that the filter was built for.
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

    /// The share of slots in use, from [`len`](Self::len). Inserts take longer from about 0.8 on; some are
    /// refused from about 0.88 (2 slots a bucket), 0.95 (3), 0.97 (4) or 0.98 (5, 8).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<u64>::builder().buckets(1000).slots(4).fingerprint_bits(16).build()?;
    /// filter.try_extend(0..2000)?;
    /// assert!((0.49..=0.5).contains(&filter.load_factor()));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        self.shared.load_factor()
    }

    /// The items over the capacity: above 1 the filter may refuse items, and the rate may be higher
    /// than was asked for. (A merged filter has as its capacity what fits; its rate is that of its items.)
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<u64>::with_capacity(1000)?;
    /// filter.try_extend(0..500)?;
    /// assert!((0.48..=0.5).contains(&filter.saturation()));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn saturation(&self) -> f64 {
        self.shared.saturation()
    }

    /// [`len`](Self::len), as the Bloom filters have it: here it is no estimate.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let filter = OnceCuckooFilter::<u64>::with_capacity(1000)?;
    /// filter.insert(&1)?;
    /// assert_eq!(filter.len_estimate(), 1.0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn len_estimate(&self) -> f64 {
        self.shared.len() as f64
    }

    /// [`len`](Self::len), as the Bloom filters have it: `O(parts)`, and without an error.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let filter = OnceCuckooFilter::<u64>::with_capacity(1000)?;
    /// filter.insert(&1)?;
    /// assert_eq!(filter.len_estimate_sampled(100).value, 1.0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn len_estimate_sampled(&self, _lines: u64) -> Sampled {
        Sampled::exact(self.len_estimate())
    }

    /// [`saturation`](Self::saturation), as the Bloom filters have it: `O(parts)`, and without an error.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let filter = OnceCuckooFilter::<u64>::with_capacity(10)?;
    /// filter.insert(&1)?;
    /// assert_eq!(filter.saturation_sampled(100).value, 0.1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn saturation_sampled(&self, _lines: u64) -> Sampled {
        Sampled::exact(self.saturation())
    }

    /// The false-positive rate of the filter as it is: the chance that an item that was not inserted is
    /// taken for one that was. Exact for the contents when nobody writes; copies of one item count once.
    /// BatchRead up every fingerprint's other bucket: `O(slots)`, as long as so many queries.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<u64>::builder().buckets(1000).slots(4).fingerprint_bits(8).build()?;
    /// filter.try_extend(0..3600)?;
    /// assert!((0.025..0.03).contains(&filter.false_positive_rate()));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.shared.false_positive_rate()
    }

    /// [`false_positive_rate`](Self::false_positive_rate) from a sample, with its standard error.
    ///
    /// Reads at least `lines` of the filter's buckets, evenly spread, if it has them, and at most twice as many; each lies
    /// in a 64-byte line of its own, and each of its fingerprints costs a look into another. `O(lines)`, for metrics.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    ///
    /// let filter = OnceCuckooFilter::<u64>::builder().buckets(10_000).slots(4).fingerprint_bits(8).build()?;
    /// filter.try_extend(0..36_000)?;
    /// let sampled = filter.false_positive_rate_sampled(400);
    /// assert!((sampled.value - filter.false_positive_rate()).abs() < 6.0 * sampled.standard_error);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate_sampled(&self, lines: u64) -> Sampled {
        self.shared.false_positive_rate_sampled(lines)
    }

    /// Bytes of memory that the filter takes: buckets, stripes and counts.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// let filter = OnceCuckooFilter::<str>::builder().buckets(100_000).slots(4).fingerprint_bits(16).build()?;
    /// assert!((800_000..808_000).contains(&filter.size_in_bytes()));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.geometry().size_in_bytes()
    }

    /// The sizes that fix where fingerprints lie.
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

    /// The hasher.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::OnceCuckooFilter;
    /// use tamis::hash::HashItem;
    ///
    /// let filter = OnceCuckooFilter::<str>::with_capacity(10)?;
    /// filter.insert_hash(filter.hasher().hash_item("a"))?;
    /// assert!(filter.contains("a"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn hasher(&self) -> &S {
        self.shared.hasher()
    }
}
