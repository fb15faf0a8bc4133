//! What a filter does with hashes: the traits below [`Filter`](crate::Filter), and the view
//! [`ByHash`] for users.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::convert::Infallible;
use core::error::Error;
use core::fmt;

/// The operations of a filter on hashes: all but the hashing itself.
///
/// [`by_hash`](Self::by_hash) returns a view that has these operations under the names of the
/// filter's own methods. Implement the trait for a filter of your own.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::Hashed;
///
/// fn is_in_any<F: Hashed>(filters: &[F], hash: u64) -> bool {
///     filters.iter().any(|filter| filter.by_hash().contains(hash))
/// }
/// ```
pub trait Hashed {
    /// What an insert returns: `bool`, or a `Result` in a filter that may reject an item.
    type Inserted: Verdict<Error = Self::InsertError>;

    /// The error of a rejected insert: [`Infallible`] if the filter rejects nothing.
    type InsertError: Error + Send + Sync + 'static;

    /// Inserts an item by its hash: 64 well-mixed bits, always the same for the same item.
    fn insert_hash(&self, hash: u64) -> Self::Inserted;

    /// Returns whether the filter may contain the item of this hash.
    #[must_use]
    fn contains_hash(&self, hash: u64) -> bool;

    /// Inserts many items. Calls `on_result` in order, with each item's index.
    ///
    /// An implementation must pull a batch of hashes before it inserts the first hash of that
    /// batch. Then a panic in the iterator loses no result.
    fn insert_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, Self::Inserted),
    );

    /// Queries many items. Calls `on_result` in order, with each item's index.
    fn contains_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    );

    /// Requests the memory of an item: a hint, which does nothing by default.
    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        _ = hash;
    }

    /// Returns the view for code that has hashes. Each filter also has a method of this name.
    #[inline]
    fn by_hash(&self) -> ByHash<'_, Self> {
        ByHash(self)
    }
}

/// The operations on hashes of a filter that holds several copies of an item and removes them.
pub trait HashedCopies: Hashed {
    /// Removes a copy of an item.
    fn remove_hash(&self, hash: u64) -> bool;

    /// Removes a copy of each of many items. Calls `on_result` in order, with each item's index.
    fn remove_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    );

    /// Returns the number of copies of an item.
    fn count_hash(&self, hash: u64) -> u32;
}

/// What an insert returns, in the form that generic code sees: `Ok(true)` if the call stored
/// something.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::Verdict;
///
/// assert_eq!(false.verdict(), Ok(false));
/// assert_eq!(Ok::<(), std::fmt::Error>(()).verdict(), Ok(true));
/// ```
pub trait Verdict {
    /// The error of a rejected insert.
    type Error;

    /// Returns whether the call stored something.
    ///
    /// # Errors
    ///
    /// The error of the insert.
    fn verdict(self) -> Result<bool, Self::Error>;
}

impl Verdict for bool {
    type Error = Infallible;

    #[inline]
    fn verdict(self) -> Result<bool, Infallible> {
        Ok(self)
    }
}

impl<E> Verdict for Result<bool, E> {
    type Error = E;

    #[inline]
    fn verdict(self) -> Self {
        self
    }
}

/// Every insert that succeeds adds a copy.
impl<E> Verdict for Result<(), E> {
    type Error = E;

    #[inline]
    fn verdict(self) -> Result<bool, E> {
        self.map(|()| true)
    }
}

/// A filter as seen by code that has hashes: from `by_hash` of each type.
///
/// A hash is 64 well-mixed bits, always the same for the same item: what
/// [`HashItem::hash_item`](tamis_hash::HashItem::hash_item) of the filter's hasher returns. A weak
/// hash (the identity, a counter) ruins the false-positive rate. Use the view to hash an item once
/// and query many filters.
///
/// Each method does the same as the filter's method of that name, which takes an item.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::hash::{HashItem, Rapid};
/// use tamis::Hashed;
///
/// /// Inserts an item into each of many filters, and hashes it once.
/// fn insert_into_all<F: Hashed>(filters: &[F], hasher: &Rapid, item: &str) {
///     let hash = hasher.hash_item(item);
///     for filter in filters {
///         filter.by_hash().insert(hash);
///     }
/// }
/// ```
pub struct ByHash<'f, F: ?Sized>(&'f F);

impl<F: Hashed + ?Sized> ByHash<'_, F> {
    /// Inserts an item, as `insert` of the filter does.
    #[inline]
    #[expect(clippy::must_use_candidate, reason = "the result of an insert is often ignored")]
    pub fn insert(self, hash: u64) -> F::Inserted {
        self.0.insert_hash(hash)
    }

    /// Returns whether the filter may contain an item, as `contains` of the filter does.
    #[inline]
    #[must_use]
    pub fn contains(self, hash: u64) -> bool {
        self.0.contains_hash(hash)
    }

    /// Inserts many items, as `insert_many_with` of the filter does.
    #[inline]
    pub fn insert_many_with(
        self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, F::Inserted),
    ) {
        self.0.insert_hashes(hashes, on_result);
    }

    /// Queries many items, as `contains_many_with` of the filter does.
    #[inline]
    pub fn contains_many_with(
        self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        self.0.contains_hashes(hashes, on_result);
    }

    /// Requests the memory of an item ahead of its insert or query. In a loop over many hashes,
    /// prefetch the hash about 16 places ahead before each operation. A hint: it changes no result,
    /// and it helps only in filters larger than the caches.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_core as tamis;
    /// use tamis::Hashed;
    ///
    /// fn insert_all<F: Hashed>(filter: &F, hashes: &[u64]) {
    ///     for (at, hash) in hashes.iter().enumerate() {
    ///         if let Some(&ahead) = hashes.get(at + 16) {
    ///             filter.by_hash().prefetch(ahead);
    ///         }
    ///         filter.by_hash().insert(*hash);
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn prefetch(self, hash: u64) {
        self.0.prefetch_hash(hash);
    }
}

impl<F: HashedCopies + ?Sized> ByHash<'_, F> {
    /// Removes a copy of an item, as `remove` of the filter does.
    #[inline]
    #[expect(clippy::must_use_candidate, reason = "the result of a removal is often ignored")]
    pub fn remove(self, hash: u64) -> bool {
        self.0.remove_hash(hash)
    }

    /// Removes a copy of each of many items, as `remove_many_with` of the filter does.
    #[inline]
    pub fn remove_many_with(
        self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        self.0.remove_hashes(hashes, on_result);
    }

    /// Returns the number of copies of an item, as `count` of the filter does.
    #[inline]
    #[must_use]
    pub fn count(self, hash: u64) -> u32 {
        self.0.count_hash(hash)
    }
}

impl<F: ?Sized> Clone for ByHash<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: ?Sized> Copy for ByHash<'_, F> {}

impl<F: fmt::Debug + ?Sized> fmt::Debug for ByHash<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ByHash").field(&self.0).finish()
    }
}

/// Implements the traits for pointers to filters.
macro_rules! through_pointers {
    ($($pointer:ty)*) => {$(
        impl<F: Hashed + ?Sized> Hashed for $pointer {
            type Inserted = F::Inserted;
            type InsertError = F::InsertError;

            #[inline]
            fn insert_hash(&self, hash: u64) -> F::Inserted {
                (**self).insert_hash(hash)
            }

            #[inline]
            fn contains_hash(&self, hash: u64) -> bool {
                (**self).contains_hash(hash)
            }

            #[inline]
            fn insert_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, F::Inserted),
            ) {
                (**self).insert_hashes(hashes, on_result);
            }

            #[inline]
            fn contains_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, bool),
            ) {
                (**self).contains_hashes(hashes, on_result);
            }

            #[inline]
            fn prefetch_hash(&self, hash: u64) {
                (**self).prefetch_hash(hash);
            }
        }

        impl<F: HashedCopies + ?Sized> HashedCopies for $pointer {
            #[inline]
            fn remove_hash(&self, hash: u64) -> bool {
                (**self).remove_hash(hash)
            }

            #[inline]
            fn remove_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, bool),
            ) {
                (**self).remove_hashes(hashes, on_result);
            }

            #[inline]
            fn count_hash(&self, hash: u64) -> u32 {
                (**self).count_hash(hash)
            }
        }
    )*};
}

through_pointers! { &F Box<F> Arc<F> }
