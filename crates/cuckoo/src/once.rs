//! The public type `OnceCuckooFilter`: exactly one of any number of concurrent inserts of an item
//! returns `true`.

use alloc::vec::Vec;
use core::borrow::Borrow;

#[cfg(feature = "std")]
use tamis_core::BuildError;
use tamis_core::{AsItem, many};
use tamis_hash::{DefaultHashBuilder, HashItem, ItemHasher};

#[cfg(feature = "std")]
use crate::builder::Builder;
use crate::error::{InsertError, MergeError};
use crate::shared::Shared;

/// A concurrent cuckoo filter whose `insert` is a test-and-set: **exactly one** of any number of
/// concurrent inserts of an item returns `Ok(true)`.
///
/// Use it to claim work. For most rates below 0.1 %, it needs less memory than the
/// `OnceBloomFilter` of the crate `tamis`. An insert into a full filter returns an error. (The rate
/// of a Bloom filter rises instead.) If an item is a false positive, no insert of it returns
/// `Ok(true)`; this happens at the [`false_positive_rate`](Self::false_positive_rate).
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
    /// [`BuildError`] if the allocation fails, or if no filter of this type has so high a capacity
    /// ([`RateTooLow`](BuildError::RateTooLow), [`TooLarge`](BuildError::TooLarge)).
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
}
