//! The once filter: of all racing inserts of an item exactly one is told that it was first.

use alloc::vec::Vec;
use core::borrow::Borrow;

use tamis_core::{AsItem, BuildError, Sampled};
use tamis_hash::{DefaultHashBuilder, HashItem, ItemHasher};

use crate::array::once::OnceArray;
use crate::builder::Builder;
use crate::error::UnionError;
use crate::exclusive::Exclusive;
use crate::geometry::Geometry;
use crate::shared::Shared;

/// A concurrent Bloom filter whose `insert` is a test-and-set: **exactly one** of any number of racing
/// inserts of an item returns `true`.
///
/// For claiming work: of all crawlers that find a URL at once, one gets it. No Bloom filter whose items have
/// bits in several words can do this by atomic operations on them, since the bits do not say whose they
/// are. So this one has an item's bits in one word, at rates of 1 % and above, where an insert is one
/// `fetch_or`. At lower rates, where a word is too narrow, one bit of each 64-byte line is the lock of that
/// line, and an insert sets the rest by plain stores under it. Either way it is one atomic operation an insert.
///
/// Exactly one, or none: an item that is a false positive, or becomes one during the race, is refused
/// to all. That happens at the [`false_positive_rate`](Self::false_positive_rate), 1e-6 say, and is
/// the one way to lose an item.
///
/// Queries, and inserts of items that are in already, take no lock and wait for nobody. Where there are locks,
/// an insert waits only for another insert into its own line, which is done after a few stores. The memory is
/// the blocked filter's, with the same choice of [`words`](Builder::words); where there are locks 1 bit in 512 is one, and a query whose probes fall on it takes
/// it as set (reported with the rate).
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
    /// An empty filter for `items` distinct items, at a false-positive rate of 1 %, with a randomly
    /// keyed hasher. A capacity of 0 counts as 1.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the memory is refused.
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

    /// A builder: sizes by items and rate, or by bits and probes; any hasher.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    ///
    /// let filter = OnceBloomFilter::<str>::builder().capacity(1000).false_positive_rate(1e-4).build()?;
    /// assert!(filter.insert("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn builder() -> Builder<Self> {
        Builder::new(DefaultHashBuilder::default())
    }
}

impl<T: ?Sized, S> OnceBloomFilter<T, S> {
    /// An empty filter for `items` distinct items, at a false-positive rate of 1 %. A capacity of 0 counts as 1.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the memory is refused.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// use tamis::hash::Rapid;
    ///
    /// let filter = OnceBloomFilter::<str, _>::with_capacity_and_hasher(1000, Rapid::with_seed(1))?;
    /// assert!(filter.insert("a"));
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
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// use tamis::hash::Rapid;
    ///
    /// let filter = OnceBloomFilter::<str, _>::builder_with_hasher(Rapid::with_seed(1)).capacity(10).build()?;
    /// assert!(filter.insert("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn builder_with_hasher(hasher: S) -> Builder<Self> {
        Builder::new(hasher)
    }

    /// Inserts an item. `true`: the item is new, and this call alone is told so.
    ///
    /// Under a race **exactly one** of the inserts of a new item returns `true`; or none, if the item
    /// was a false positive or becomes one during the race. `false` gives no view of what else the
    /// thread that inserted the item had written.
    ///
    /// One cache line. An item that is in already is found by loads alone; a new one takes one `fetch_or`, or,
    /// at rates below 1 %, the lock of its line for a few stores.
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

    /// Whether the item may have been inserted. `false` is certain: it was not inserted before.
    /// `true` is wrong at the [`false_positive_rate`](Self::false_positive_rate).
    ///
    /// Wait-free. Sees every insert that happens before it; of an insert that runs beside it, it may
    /// see all, some or nothing.
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

    /// [`insert`](Self::insert) by hash: 64 well-mixed bits, the same for the same item every time.
    ///
    /// For hashing once and asking many filters. A weak hash (an identity, a counter) ruins the rate.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// use tamis::hash::Rapid;
    ///
    /// let filter = OnceBloomFilter::<str>::builder().capacity(10).hasher(Rapid::with_seed(1)).build()?;
    /// assert!(filter.insert_hash(Rapid::with_seed(1).hash_bytes(b"a")));
    /// assert!(filter.contains("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        self.shared.insert_hash(hash)
    }

    /// [`contains`](Self::contains) by hash; see [`insert_hash`](Self::insert_hash).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// let filter = OnceBloomFilter::<str>::with_capacity(10)?;
    /// assert!(!filter.contains_hash(0x9E37_79B9_7F4A_7C15));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.shared.contains_hash(hash)
    }

    /// Inserts many items, owned or borrowed. Calls `on_result` in order, with each item's number and what
    /// [`insert`](Self::insert) would have returned.
    ///
    /// Faster than one by one in filters beyond the caches, and as fast in small ones.
    /// As with [`insert`](Self::insert), of concurrent inserts of a new item **exactly one** returns `true`.
    /// [Batches](crate#batches) says what a slow iterator and a panic mean.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    ///
    /// let filter = OnceBloomFilter::<u64>::with_capacity(1000)?;
    /// let mut new = 0;
    /// filter.insert_many(0..10, |_number, is_new| new += usize::from(is_new));
    /// assert_eq!(new, 10);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_many<I>(&self, items: I, on_result: impl FnMut(usize, bool))
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.shared.insert_many(self.shared.hashes(items), on_result);
    }

    /// [`insert_many`](Self::insert_many) with the results collected: what [`insert`](Self::insert) would have
    /// returned for each item.
    ///
    /// Hashes all items before it inserts the first, which takes 8 bytes per item: if the iterator or the hasher panics,
    /// nothing has been inserted.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    ///
    /// let filter = OnceBloomFilter::<str>::with_capacity(1000)?;
    /// assert_eq!(filter.insert_each(["a", "b", "a"]), [true, true, false]);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use = "`extend` inserts without results"]
    pub fn insert_each<I>(&self, items: I) -> Vec<bool>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.shared.insert_each(self.shared.hashes(items))
    }

    /// Queries many items, owned or borrowed. Calls `on_result` in order, with each item's number and what
    /// [`contains`](Self::contains) would have returned.
    ///
    /// Faster than one by one, most of all in filters beyond the caches.
    /// Up to 32 items are looked up before the first call of `on_result`, so an insert made in `on_result` may be
    /// invisible to the results after it; see [batches](crate#batches).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    ///
    /// let filter = OnceBloomFilter::<str>::with_capacity(1000)?;
    /// filter.insert("b");
    /// let names: Vec<String> = vec!["a".into(), "b".into()];
    /// let mut hits = vec![];
    /// filter.contains_many(&names, |number, hit| {
    ///     if hit {
    ///         hits.push(&names[number]);
    ///     }
    /// });
    /// assert_eq!(hits, ["b"]);
    /// # Ok::<(), tamis::BuildError>(())
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
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    ///
    /// let filter = OnceBloomFilter::<str>::with_capacity(1000)?;
    /// filter.insert("b");
    /// assert_eq!(filter.contains_each(["a", "b"]), [false, true]);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn contains_each<I>(&self, items: I) -> Vec<bool>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.shared.contains_each(self.shared.hashes(items))
    }

    /// [`insert_many`](Self::insert_many) by hash; see [`insert_hash`](Self::insert_hash).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    ///
    /// let filter = OnceBloomFilter::<str>::with_capacity(1000)?;
    /// let hash = 0x9E37_79B9_7F4A_7C15;
    /// filter.insert_hashes([hash, hash], |number, new| assert_eq!(new, number == 0));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        self.shared.insert_many(hashes, on_result);
    }

    /// [`contains_many`](Self::contains_many) by hash; see [`insert_hash`](Self::insert_hash).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    ///
    /// let filter = OnceBloomFilter::<str>::with_capacity(1000)?;
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

    /// Asks the processor for the memory of an item, a little ahead of its insert or query: with many
    /// hashes at hand, ask for the one some 16 places on before each operation. A hint: it changes no
    /// answer, and it helps only where the filter is larger than the cache.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// let filter = OnceBloomFilter::<str>::with_capacity(1000)?;
    /// let hashes: Vec<u64> = (1..=100_u64).map(|i| i << 54).collect();
    /// for (at, hash) in hashes.iter().enumerate() {
    ///     if let Some(&ahead) = hashes.get(at + 16) {
    ///         filter.prefetch_hash(ahead);
    ///     }
    ///     filter.insert_hash(*hash);
    /// }
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn prefetch_hash(&self, hash: u64) {
        self.shared.prefetch(hash);
    }

    /// The filter for one thread alone, which then inserts by plain stores.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// let mut filter = OnceBloomFilter::<str>::with_capacity(10)?;
    /// assert!(filter.get_mut().insert("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn get_mut(&mut self) -> Exclusive<'_, Self> {
        Exclusive::new(self)
    }

    /// Forgets all items. `&mut`, since a query that runs beside it would miss items.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// let mut filter = OnceBloomFilter::<str>::with_capacity(10)?;
    /// filter.insert("a");
    /// filter.clear();
    /// assert!(!filter.contains("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn clear(&mut self) {
        self.shared.clear();
    }

    /// Adds all items of `other`, as if they had been inserted one by one, with at most one line locked at a
    /// time.
    ///
    /// Both filters may be in use: what is inserted into `other` meanwhile may or may not come along.
    /// The united filter's rate is that of its fill, which may be past its design: see
    /// [`saturation`](Self::saturation). Reads all of `other`: `O(bits)`.
    ///
    /// # Errors
    ///
    /// [`UnionError`], with nothing changed, unless both have the same geometry and hash alike.
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

    /// A copy, taken while others may insert. It has every item whose insert happened before; of one
    /// inserted meanwhile it may have all bits, some, or none. `clone` is the same.
    ///
    /// Aborts, as std's collections do, if the memory is refused.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// let filter = OnceBloomFilter::<str>::with_capacity(10)?;
    /// filter.insert("a");
    /// let copy = filter.snapshot();
    /// filter.insert("b");
    /// assert!(copy.contains("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> Self
    where
        S: Clone,
    {
        Self { shared: self.shared.snapshot() }
    }

    /// The number of distinct items that the filter was built for.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// assert_eq!(OnceBloomFilter::<str>::with_capacity(10)?.capacity(), 10);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
    }

    /// The number of distinct items, estimated from the fill (Swamidass and Baldi 2007): unbiased to
    /// first order, and mostly within `2/√n` of the truth up to the capacity. The more the filter is
    /// overfilled, the less it tells. Reads all bits: `O(bits)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// let filter = OnceBloomFilter::<u64>::with_capacity(10_000)?;
    /// for item in 0..5000 {
    ///     filter.insert(&item);
    /// }
    /// assert!((4500.0..5500.0).contains(&filter.len_estimate()));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn len_estimate(&self) -> f64 {
        self.shared.len_estimate()
    }

    /// [`len_estimate`](Self::len_estimate) from a sample, with its standard error.
    ///
    /// Reads at least `lines` of the filter's 64-byte lines, evenly spread, if it has them, and at most twice as many:
    /// `O(lines)`, for metrics. With 1024 lines a scrape takes less than a millisecond whatever the size.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    ///
    /// let filter: OnceBloomFilter<u64> = (0..100_000).collect();
    /// let sampled = filter.len_estimate_sampled(500);
    /// assert!((sampled.value - filter.len_estimate()).abs() < 6.0 * sampled.standard_error);
    /// ```
    #[must_use]
    pub fn len_estimate_sampled(&self, lines: u64) -> Sampled {
        self.shared.len_estimate_sampled(lines)
    }

    /// The share of bits that are set, 0 to 1. Reads all bits: `O(bits)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// assert_eq!(OnceBloomFilter::<str>::with_capacity(10)?.fill(), 0.0);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn fill(&self) -> f64 {
        self.shared.fill()
    }

    /// [`fill`](Self::fill) from a sample, with its standard error.
    ///
    /// Reads at least `lines` of the filter's 64-byte lines, evenly spread, if it has them, and at most twice as many:
    /// `O(lines)`, for metrics. With 1024 lines a scrape takes less than a millisecond whatever the size.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    ///
    /// let filter: OnceBloomFilter<u64> = (0..100_000).collect();
    /// let sampled = filter.fill_sampled(500);
    /// assert!((sampled.value - filter.fill()).abs() < 6.0 * sampled.standard_error);
    /// ```
    #[must_use]
    pub fn fill_sampled(&self, lines: u64) -> Sampled {
        self.shared.fill_sampled(lines)
    }

    /// The estimated number of items over the capacity: 1 means full by design; above it the rate is
    /// higher than was asked for. Reads all bits: `O(bits)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// let filter = OnceBloomFilter::<u64>::with_capacity(1000)?;
    /// for item in 0..3000 {
    ///     filter.insert(&item);
    /// }
    /// assert!((2.5..3.5).contains(&filter.saturation()));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn saturation(&self) -> f64 {
        self.shared.saturation()
    }

    /// [`saturation`](Self::saturation) from a sample, with its standard error.
    ///
    /// Reads at least `lines` of the filter's 64-byte lines, evenly spread, if it has them, and at most twice as many:
    /// `O(lines)`, for metrics. With 1024 lines a scrape takes less than a millisecond whatever the size.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    ///
    /// let filter: OnceBloomFilter<u64> = (0..100_000).collect();
    /// let sampled = filter.saturation_sampled(500);
    /// assert!((sampled.value - filter.saturation()).abs() < 6.0 * sampled.standard_error);
    /// ```
    #[must_use]
    pub fn saturation_sampled(&self, lines: u64) -> Sampled {
        self.shared.saturation_sampled(lines)
    }

    /// The false-positive rate of the filter as it is: the chance that an item that was not inserted
    /// is taken for one that was. From the contents: the mean over the
    /// lines, to a few thousandths (a hundredth in a filter that is nearly empty). Reads all bits: `O(bits)`.
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
        self.shared.false_positive_rate()
    }

    /// [`false_positive_rate`](Self::false_positive_rate) from a sample, with its standard error.
    ///
    /// Reads at least `lines` of the filter's 64-byte lines, evenly spread, if it has them, and at most twice as many:
    /// `O(lines)`, for metrics. With 1024 lines a scrape takes less than a millisecond whatever the size.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    ///
    /// let filter: OnceBloomFilter<u64> = (0..100_000).collect();
    /// let sampled = filter.false_positive_rate_sampled(500);
    /// assert!((sampled.value - filter.false_positive_rate()).abs() < 6.0 * sampled.standard_error);
    /// ```
    #[must_use]
    pub fn false_positive_rate_sampled(&self, lines: u64) -> Sampled {
        self.shared.false_positive_rate_sampled(lines)
    }

    /// Bytes of memory that the bits take.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// let filter = OnceBloomFilter::<str>::builder().bits(4096).probes(4).build()?;
    /// assert_eq!(filter.size_in_bytes(), 512);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.geometry().size_in_bytes()
    }

    /// The sizes that fix where the bits of an item lie.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// let filter = OnceBloomFilter::<str>::builder().bits(4096).probes(4).build()?;
    /// assert_eq!(filter.geometry().bits(), 4096);
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
    /// # use tamis_bloom as tamis;
    /// use tamis::OnceBloomFilter;
    /// use tamis::hash::HashItem;
    ///
    /// let filter = OnceBloomFilter::<str>::with_capacity(10)?;
    /// filter.insert_hash(filter.hasher().hash_item("a"));
    /// assert!(filter.contains("a"));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn hasher(&self) -> &S {
        self.shared.hasher()
    }
}
