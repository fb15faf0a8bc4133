//! The public type `CuckooFilter`: a multiset from which items can be removed.

use core::borrow::Borrow;

use tamis_core::removing_methods;
use tamis_hash::{DefaultHashBuilder, HashItem};

use crate::error::InsertError;
use crate::shared::Shared;

/// A concurrent cuckoo filter from which items can be removed: a multiset of fingerprints.
///
/// Each insert adds a copy of the item's fingerprint, each [`remove`](Self::remove) removes one,
/// and [`count`](Self::count) returns the number of copies. If the filter cannot distinguish two
/// items, it counts their copies together. A removal of one item removes one copy, so enough
/// copies remain for the other.
///
/// *Queries* take no lock, except after eight attempts in a row during which a copy was relocated
/// or removed.
///
/// *Inserts* into a bucket with an empty slot are one compare-exchange. When more than about 80 %
/// of the slots are in use, an insert has to relocate other items, under one of many small locks
/// at a time. An item in relocation is in both of its buckets for a moment, never in neither. A
/// failed insert has removed nothing.
///
/// *Limits.* A filter with four slots per bucket is built to use 95 % of its slots, and the first
/// insert fails near 97 % ([`InsertError::Full`]). Many copies of the same items make the filter
/// full sooner: near 75 %, if every item was inserted three times. The filter holds at most as many
/// copies of an item as two buckets have slots: ten at 1 % ([`InsertError::TooManyCopies`]).
///
/// *Growth.* With [`max_capacity`](crate::Builder::max_capacity) the filter grows in place, and is
/// full at its last size only ([the crate](crate) has the costs). The copies of an item are limited
/// by the slots of two buckets at the present size: at least four, at most 22. Copies of a few
/// items share buckets at every size. For further copies of an item the filter grows to eight times
/// its usual size. Then it refuses them, in the worst case the second copy of an item. For new
/// items it always grows.
///
/// For items that are never removed, such as claims on work, use
/// [`OnceCuckooFilter`](crate::OnceCuckooFilter).
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::CuckooFilter;
///
/// let online = CuckooFilter::<str>::with_capacity(1000)?;
/// online.insert("ada")?;
/// online.insert("ada")?;
/// assert_eq!(online.count("ada"), 2);
/// assert!(online.remove("ada"));
/// assert!(online.contains("ada"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct CuckooFilter<T: ?Sized, S = DefaultHashBuilder> {
    pub(crate) shared: Shared<T, S>,
}

removing_methods! { CuckooFilter of "tamis_cuckoo" }

impl<T: ?Sized, S> CuckooFilter<T, S> {
    /// Inserts one copy of an item, whether or not the filter already contains the item.
    ///
    /// Lock-free while one of the item's two buckets has an empty slot, if the filter does not
    /// grow. If both are full, the insert searches for items to relocate. The search only reads: up
    /// to 1024 buckets and the other bucket of each of their items, with 16 KiB of stack. Then the
    /// insert takes the locks of the items that it relocates, one at a time.
    ///
    /// # Errors
    ///
    /// [`InsertError`]: `Full` if a whole search found no way to make room, `TooManyCopies` if all
    /// slots of both buckets hold copies of this item, `Stalled` if the filter cannot grow now. In
    /// each case, the filter contains the same copies of all items as before.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let filter = CuckooFilter::<String>::with_capacity(10)?;
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
        self.shared.insert(self.shared.hash(item))
    }

    /// Removes one copy of an item. Returns `false` if there is none.
    ///
    /// **Remove only what was inserted, once per insert, and only if the insert happened before
    /// the removal.** The insert happened before if it returned `Ok` on this thread. If it
    /// returned `Ok` on another thread, this thread must since have joined that thread, received a
    /// message from it, or locked a mutex that it released. Then the removal returns `true`, and
    /// no other item is affected.
    ///
    /// *Removing an item that was not inserted* can remove a copy of another item that the filter
    /// cannot distinguish from it, at the [`false_positive_rate`](Self::false_positive_rate). From
    /// then on, the other item is a false negative. A check with [`contains`](Self::contains) does
    /// not prevent this, because it also returns `true` for these items. *Removing an item
    /// concurrently with its insert* may return `false`, or do the same harm. From a clone or a
    /// merged filter, remove only items that were inserted before the clone or the merge.
    ///
    /// Takes the lock of the item. Do not call it in a signal handler, which may have interrupted
    /// the holder of the lock.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let filter = CuckooFilter::<str>::with_capacity(10)?;
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
        self.shared.remove(self.shared.hash(item))
    }

    /// Returns the number of copies of an item: at least the number of inserts less the number of
    /// removals, and more if the filter contains items that it cannot distinguish from it.
    ///
    /// Takes the lock of the item, so the number is exact even while other threads relocate items.
    /// Each concurrent insert or removal of the item is counted or not.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    /// let filter = CuckooFilter::<str>::with_capacity(10)?;
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
        self.shared.count(self.shared.hash(item))
    }
}
