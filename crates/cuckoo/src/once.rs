//! The public type `OnceCuckooFilter`: exactly one of any number of concurrent inserts of an item
//! returns `true`.

use core::borrow::Borrow;

use tamis_hash::{DefaultHashBuilder, HashItem};

use crate::error::InsertError;
use crate::shared::Shared;

/// A concurrent cuckoo filter whose `insert` is a test-and-set: **exactly one** of any number of
/// concurrent inserts of an item returns `Ok(true)`.
///
/// Use it to claim work. At rates below 0.1 %, it needs less memory than the `OnceBloomFilter` of
/// the crate `tamis`. An insert into a full filter returns an error. (The rate
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
/// full at its last size only. Each item still has at most one winner. See [the crate](crate).
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
}
