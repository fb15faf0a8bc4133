//! The public type `ScalableCuckooFilter`: it grows, and items can be removed from it.

use alloc::vec::Vec;
use core::borrow::Borrow;

use tamis_core::{AsItem, ByHash, Figures, Hashed, HashedCopies as _, many};
use tamis_hash::{DefaultHashBuilder, HashItem};

use crate::error::InsertError;
use crate::growing::Growing;

/// A concurrent cuckoo filter that grows, and from which items can be removed.
///
/// It starts small. When it is full, it adds a table of twice the size of the last one: a
/// *slice*. It needs no size guess, only a bound: up to
/// [`max_capacity`](crate::ScalableBuilder::max_capacity) items it keeps its false-positive rate.
/// The bound costs one bit per item for each doubling between the first capacity and the bound, as
/// long as the filter is small; with each slice, the slots are one bit narrower. Beyond the
/// bound, inserts return [`InsertError::Full`].
///
/// **Removals are safe across slices.** All slices give an item the same class: the items
/// that the filter cannot distinguish in one slice are exactly those that it cannot
/// distinguish in any other. So if [`remove`](Self::remove) takes the copy of another item, that
/// item's own copy stands for it. (In a chain of independent cuckoo filters it does not, and a
/// removal can lose another item.)
///
/// *Growth makes no operation wait.* The memory of the next slice is made present ahead, in
/// portions of 64 KiB (or of one huge page), by inserts. No copy is moved from one slice to
/// another.
///
/// *Queries* take no lock, and read two cache lines per slice, the newest first. *Inserts and
/// removals* lock the item for a moment. Room that removals leave is used again before the filter
/// grows, so a filter in which items come and go keeps its size. A slice of 8 MiB or more that
/// is empty gives its memory back to the system (on Linux).
///
/// If you know the number of items, use [`CuckooFilter`](crate::CuckooFilter): it reads one table
/// only, and its inserts take no lock.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::ScalableCuckooFilter;
///
/// let online = ScalableCuckooFilter::<u64>::with_capacity(1000)?;
/// for user in 0..100_000 {
///     online.insert(&user)?;
/// }
/// assert!(online.slices() > 1);
/// assert!((0..100_000).all(|user| online.contains(&user)));
/// assert!(online.remove(&5));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct ScalableCuckooFilter<T: ?Sized, S = DefaultHashBuilder> {
    pub(crate) growing: Growing<T, S>,
}

impl<T: ?Sized, S> ScalableCuckooFilter<T, S> {
    /// Inserts one copy of an item, whether or not the filter already contains the item.
    ///
    /// Takes the lock of the item. If the item's two buckets are full, the insert searches for
    /// items to relocate, as in [`CuckooFilter::insert`](crate::CuckooFilter::insert), and if it
    /// finds none, it takes another slice or adds one.
    ///
    /// # Errors
    ///
    /// [`InsertError`]: `Full` if the filter holds its maximum or the system has no memory for
    /// another slice, `TooManyCopies` if all slots for this item hold its copies. Either way,
    /// the filter contains the same copies of all items as before.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// let filter = ScalableCuckooFilter::<String>::with_capacity(10)?;
    /// filter.insert("a")?;
    /// filter.insert("a")?;
    /// assert_eq!(filter.count("a"), 2);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert<Q: ?Sized>(&self, item: &Q) -> Result<(), InsertError>
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.insert_hash(self.growing.hash(item))
    }

    /// Removes one copy of an item. Returns `false` if there is none.
    ///
    /// **Remove only what was inserted, once per insert, and only if the insert happened before the
    /// removal.** The insert happened before if it returned `Ok` on this thread. If it returned
    /// `Ok` on another thread, this thread must since have joined that thread, received a message
    /// from it, or locked a mutex that it released. Then the removal returns `true`, and no other
    /// item is affected.
    ///
    /// *Removing an item that was not inserted* can remove a copy of another item that the filter
    /// cannot distinguish from it, at the [`false_positive_rate`](Self::false_positive_rate). From
    /// then on, the other item is a false negative. A check with [`contains`](Self::contains) does
    /// not prevent this, because it also returns `true` for these items. *Removing an item
    /// concurrently with its insert* may return `false`, or do the same harm. From a snapshot or a
    /// merged filter, remove only items that were inserted before the snapshot or the merge.
    ///
    /// Takes the lock of the item. Do not call it in a signal handler, which may have interrupted
    /// the holder of the lock.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// let filter = ScalableCuckooFilter::<str>::with_capacity(10)?;
    /// filter.insert("a")?;
    /// assert!(filter.remove("a"));
    /// assert!(!filter.contains("a"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn remove<Q: ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.remove_hash(self.growing.hash(item))
    }

    /// Returns the number of copies of an item: at least the number of inserts less the number of
    /// removals, and more if the filter contains items that it cannot distinguish from it.
    ///
    /// Exact while other threads relocate items, because it takes the lock of the item. Each
    /// concurrent insert or removal of the item is counted or not.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// let filter = ScalableCuckooFilter::<str>::with_capacity(10)?;
    /// assert_eq!(filter.count("a"), 0);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn count<Q: ?Sized>(&self, item: &Q) -> u32
    where
        T: Borrow<Q>,
        S: HashItem<Q>,
    {
        self.count_hash(self.growing.hash(item))
    }

    /// Returns whether the filter contains the item. `false` is certain. For an item that was not
    /// inserted, the probability of `true` is the
    /// [`false_positive_rate`](Self::false_positive_rate).
    ///
    /// Takes no lock: the query reads the item's two buckets in each slice, the newest first,
    /// and repeats the read in the rare case that a copy was relocated or removed at the same time.
    /// After eight disturbed attempts it waits for the item's lock.
    ///
    /// The query finds every item whose insert happened before it, even while other threads
    /// relocate the item. It may or may not find an item that is inserted concurrently.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// let builder = ScalableCuckooFilter::<str>::builder().capacity(10).false_positive_rate(1e-8);
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
        self.growing.contains(self.growing.hash(item))
    }

    /// Returns the filter as seen by code that has hashes instead of items.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// use tamis::hash::HashItem;
    ///
    /// let builder = ScalableCuckooFilter::<str>::builder().capacity(10_000);
    /// let filter = builder.false_positive_rate(1e-3).build()?;
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
    /// Faster than single inserts in filters that do not fit in the caches.
    /// Each insert adds a copy.
    /// See [batches](crate#batches) for slow iterators and panics.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    ///
    /// let builder = ScalableCuckooFilter::<u64>::builder().capacity(1000);
    /// let filter = builder.false_positive_rate(1e-8).build()?;
    /// let mut failed = vec![];
    /// filter.insert_many_with([1, 2, 1], |number, result| {
    ///     if result.is_err() {
    ///         failed.push(number);
    ///     }
    /// });
    /// assert!(failed.is_empty());
    /// assert_eq!(filter.count(&1), 2);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert_many_with<I>(
        &self,
        items: I,
        on_result: impl FnMut(usize, Result<(), InsertError>),
    ) where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.growing.insert_many_with(self.growing.hashes(items), on_result);
    }

    /// Inserts many items as [`insert_many_with`](Self::insert_many_with) does, and returns the
    /// results in order.
    ///
    /// Hashes all items before it changes the filter, which needs 8 bytes per item. If the iterator
    /// or the hasher panics, the filter is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    ///
    /// let filter = ScalableCuckooFilter::<str>::with_capacity(1000)?;
    /// assert_eq!(filter.insert_many(["a", "a"]), [Ok(()), Ok(())]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use = "an insert may fail"]
    pub fn insert_many<I>(&self, items: I) -> Vec<Result<(), InsertError>>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        many::insert(self, self.growing.hashes(items))
    }

    /// Removes one copy of each of many items, owned or borrowed. Calls `on_result` for each item
    /// in order, with its index and the result that [`remove`](Self::remove) would have returned.
    ///
    /// The contract of [`remove`](Self::remove) holds for each item. See [batches](crate#batches)
    /// for slow iterators and panics.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    ///
    /// let filter = ScalableCuckooFilter::<str>::with_capacity(1000)?;
    /// filter.insert("a")?;
    /// filter.remove_many_with(["a"], |_, removed| assert!(removed));
    /// assert!(filter.is_empty());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn remove_many_with<I>(&self, items: I, on_result: impl FnMut(usize, bool))
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.growing.remove_many_with(self.growing.hashes(items), on_result);
    }

    /// Removes many items as [`remove_many_with`](Self::remove_many_with) does, and returns the
    /// results in order.
    ///
    /// Hashes all items before it changes the filter, which needs 8 bytes per item. If the iterator
    /// or the hasher panics, the filter is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    ///
    /// let filter = ScalableCuckooFilter::<str>::with_capacity(1000)?;
    /// filter.insert("a")?;
    /// assert_eq!(filter.remove_many(["a", "a"]), [true, false]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use = "`remove_many_with` removes without results"]
    pub fn remove_many<I>(&self, items: I) -> Vec<bool>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        many::remove(self, self.growing.hashes(items))
    }

    /// Queries many items, owned or borrowed. Calls `on_result` for each item in order, with its
    /// index and the result that [`contains`](Self::contains) would have returned.
    ///
    /// Faster than single queries in filters that do not fit in the caches. Up to 32 items are
    /// queried before the first call of `on_result`, so an insert in `on_result` may not be visible
    /// to the results after it; see [batches](crate#batches).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    ///
    /// let filter = ScalableCuckooFilter::<str>::with_capacity(1000)?;
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
        self.growing.contains_many_with(self.growing.hashes(items), on_result);
    }

    /// Queries many items as [`contains_many_with`](Self::contains_many_with) does, and returns the
    /// results in order.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    ///
    /// let builder = ScalableCuckooFilter::<str>::builder().capacity(1000);
    /// let filter = builder.false_positive_rate(1e-8).build()?;
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
        many::contains(self, self.growing.hashes(items))
    }

    /// Removes all items. It takes `&mut self` because a concurrent query would miss items.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// let mut filter = ScalableCuckooFilter::<str>::with_capacity(10)?;
    /// filter.insert("a")?;
    /// filter.clear();
    /// assert!(filter.is_empty());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn clear(&mut self) {
        self.growing.slices.clear();
    }

    /// Returns the number of copies: inserts that returned `Ok`, less removals that returned
    /// `true`.
    ///
    /// Exact while no thread writes. While threads write, their current inserts and removals may be
    /// counted or not. The count is kept in up to 64 parts, fewer in small filters, so that threads
    /// rarely write to the same part. Without the feature `std` it has one part. `O(parts)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// let filter = ScalableCuckooFilter::<str>::with_capacity(10)?;
    /// filter.insert("a")?;
    /// filter.insert("a")?;
    /// assert_eq!(filter.len(), 2);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.growing.len()
    }

    /// Returns whether the filter contains no item.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// assert!(ScalableCuckooFilter::<str>::with_capacity(10)?.is_empty());
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the hasher.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// use tamis::hash::HashItem;
    ///
    /// let filter = ScalableCuckooFilter::<str>::with_capacity(10)?;
    /// filter.by_hash().insert(filter.hasher().hash_item("a"))?;
    /// assert!(filter.contains("a"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn hasher(&self) -> &S {
        self.growing.hasher()
    }

    /// Returns the number of distinct items up to which the filter keeps its false-positive rate:
    /// the [`max_capacity`](crate::ScalableBuilder::max_capacity) of its builder.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    ///
    /// let filter = ScalableCuckooFilter::<str>::builder().capacity(10).max_capacity(500).build()?;
    /// assert_eq!(filter.capacity(), 500);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.growing.capacity()
    }

    /// Returns how full the filter is, and the false-positive rate of its contents. Reads all
    /// buckets once: `O(buckets)`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    ///
    /// let builder = ScalableCuckooFilter::<u64>::builder().capacity(10_000);
    /// let filter = builder.false_positive_rate(1e-3).build()?;
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
        self.growing.figures(None)
    }

    /// Estimates [`figures`](Self::figures) from a sample, with their standard errors: for metrics.
    ///
    /// Reads at least `lines` buckets (all if there are fewer), and the other bucket of each
    /// fingerprint in them. The number of items is exact.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    ///
    /// let builder = ScalableCuckooFilter::<u64>::builder().capacity(10_000);
    /// let filter = builder.false_positive_rate(1e-3).build()?;
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
        self.growing.figures(Some(lines))
    }

    /// Returns the number of copies divided by the [`capacity`](Self::capacity). Above 1, the
    /// false-positive rate may exceed the requested rate.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    ///
    /// let filter = ScalableCuckooFilter::<u64>::builder().capacity(10).max_capacity(100).build()?;
    /// filter.insert(&1)?;
    /// assert_eq!(filter.saturation(), 0.01);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn saturation(&self) -> f64 {
        self.growing.saturation()
    }

    /// Returns the number of slices: tables, each with twice the buckets of the one before.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// assert_eq!(ScalableCuckooFilter::<str>::with_capacity(10)?.slices(), 1);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn slices(&self) -> usize {
        self.growing.slices.iter().len()
    }

    /// Gives the memory of empty slices back to the system, apart from the newest. Returns the
    /// number of bytes.
    ///
    /// This is possible for slices of 8 MiB and more, on Linux and with feature `std`: smaller
    /// ones have memory of the allocator, which they keep.
    ///
    /// Removals do this now and then by themselves. Other threads may use the filter meanwhile. It
    /// takes each lock of the filter once, if there is an empty slice, so it waits for inserts
    /// and removals that are under way.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// assert_eq!(ScalableCuckooFilter::<str>::with_capacity(10)?.release_empty(), 0);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn release_empty(&self) -> u64 {
        self.growing.slices.give_back_empty()
    }

    /// Returns the false-positive rate for the current contents: the probability that a query for
    /// an absent item returns `true`. Reads all buckets, `O(buckets)`.
    ///
    /// Items whose copies are in several slices count several times, so the actual rate may be
    /// lower by a fraction of itself.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// assert_eq!(ScalableCuckooFilter::<str>::with_capacity(10)?.false_positive_rate(), 0.0);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.growing.false_positive_rate(None).value
    }

    /// Returns the expected false-positive rate with `items` distinct items. It grows with their
    /// number, and at the [`capacity`](Self::capacity) it is at most the requested rate.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// let filter = ScalableCuckooFilter::<str>::with_capacity(1000)?;
    /// assert!(filter.false_positive_rate_at(1000) < 2e-5);
    /// assert!(filter.false_positive_rate_at(1_024_000) <= 0.01);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate_at(&self, items: usize) -> f64 {
        self.growing.slices.plan().rate_at(items as u64)
    }

    /// Returns the memory of the filter in bytes: all slices, without those whose memory has
    /// been given back, and the locks.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::ScalableCuckooFilter;
    /// let filter = ScalableCuckooFilter::<str>::with_capacity(100_000)?;
    /// assert!(filter.size_in_bytes() < 500_000);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.growing.size_in_bytes()
    }
}
