//! The view of a filter that takes hashes instead of items.

use alloc::vec::Vec;
use core::fmt;

/// The most items that a method with a vector of results handles one by one: the pipeline of a
/// batch takes longer to start.
///
/// MEASURED: a query in L2, with the vector, takes 43, 9.1 and 5.6 ns in a pipeline of 1, 8 and 32
/// items, and 18, 4.5 and 3.4 one by one. An insert takes 23, 5.2 and 3.8 ns with its hashes pulled
/// first, and 18, 4.5 and 3.2 without (blocked, 100,000 items, busy Zen 4).
const FEW: usize = 32;

/// A filter as seen by code that has hashes: from `by_hash` of each type.
///
/// A hash is 64 well-mixed bits, always the same for the same item: what
/// [`HashItem::hash_item`](tamis_hash::HashItem::hash_item) of the filter's hasher returns. A weak
/// hash (the identity, a counter) ruins the false-positive rate. Use the view to hash an item once
/// and query many filters.
///
/// Each method does what the one of the filter does that takes an item.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::hash::{HashItem, Rapid};
/// use tamis::{ByHash, Hashed, HashedCopies};
///
/// /// Inserts an item into each of many filters, and hashes it once.
/// fn insert_into_all<F: Hashed>(filters: &[F], hasher: &Rapid, item: &str) {
///     let hash = hasher.hash_item(item);
///     for filter in filters {
///         ByHash::new(filter).insert(hash);
///     }
/// }
///
/// /// Removes items, and returns how many were there.
/// fn remove_all<F: HashedCopies>(filter: &F, hashes: &[u64]) -> usize {
///     let removed = ByHash::new(filter).remove_many(hashes.iter().copied());
///     removed.into_iter().filter(|removed| *removed).count()
/// }
/// ```
pub struct ByHash<'f, F: ?Sized>(&'f F);

/// What a filter does with hashes. [`ByHash`] has the methods for users.
pub trait Hashed {
    /// What an insert returns.
    type Inserted;

    /// Inserts an item.
    fn insert_hash(&self, hash: u64) -> Self::Inserted;

    /// Returns whether the filter may contain an item.
    fn contains_hash(&self, hash: u64) -> bool;

    /// Inserts many items. Calls `on_result` in order, with each item's number.
    fn insert_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, Self::Inserted),
    );

    /// Queries many items. Calls `on_result` in order, with each item's number.
    fn contains_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    );

    /// Requests the memory of an item.
    fn prefetch_hash(&self, hash: u64);
}

/// What a filter does with hashes that has several copies of an item, and removes them.
pub trait HashedCopies: Hashed {
    /// Removes a copy of an item.
    fn remove_hash(&self, hash: u64) -> bool;

    /// Removes a copy of each of many items. Calls `on_result` in order, with each item's number.
    fn remove_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    );

    /// Returns the number of copies of an item.
    fn count_hash(&self, hash: u64) -> u32;
}

/// What a filter does with hashes that forgets items.
pub trait HashedRefresh: Hashed {
    /// Inserts an item, or makes it stay for the whole window from now on.
    fn insert_or_refresh_hash(&self, hash: u64) -> Self::Inserted;
}

impl<'f, F: Hashed + ?Sized> ByHash<'f, F> {
    /// Returns the view of a filter. `filter.by_hash()` does the same.
    #[inline]
    #[must_use]
    pub const fn new(filter: &'f F) -> Self {
        Self(filter)
    }

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

    /// Inserts many items, as `insert_many` of the filter does.
    #[must_use = "`insert_many_with` inserts without a vector"]
    pub fn insert_many(self, hashes: impl IntoIterator<Item = u64>) -> Vec<F::Inserted> {
        // All code of the user runs first: a panic in it happens before the first insert.
        let all = match pull(hashes.into_iter(), |hash| self.0.insert_hash(hash)) {
            Ok(results) => return results,
            Err(all) => all,
        };
        let mut results = Vec::with_capacity(all.len());
        self.0.insert_hashes(all, |_, result| results.push(result));
        results
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

    /// Queries many items, as `contains_many` of the filter does.
    #[must_use]
    pub fn contains_many(self, hashes: impl IntoIterator<Item = u64>) -> Vec<bool> {
        let hashes = hashes.into_iter();
        if is_few(&hashes, FEW) {
            return hashes.map(|hash| self.0.contains_hash(hash)).collect();
        }
        let mut results = Vec::with_capacity(hashes.size_hint().0);
        self.0.contains_hashes(hashes, |_, hit| results.push(hit));
        results
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
    /// use tamis::{ByHash, Hashed};
    ///
    /// fn insert_all<F: Hashed>(filter: &F, hashes: &[u64]) {
    ///     for (at, hash) in hashes.iter().enumerate() {
    ///         if let Some(&ahead) = hashes.get(at + 16) {
    ///             ByHash::new(filter).prefetch(ahead);
    ///         }
    ///         ByHash::new(filter).insert(*hash);
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn prefetch(self, hash: u64) {
        self.0.prefetch_hash(hash);
    }
}

/// Returns whether an iterator says that it has at most `most` items.
fn is_few(hashes: &impl Iterator, most: usize) -> bool {
    hashes.size_hint().1.is_some_and(|upper| upper <= most)
}

/// Pulls all hashes before the first operation, which needs no memory for a few of them, and
/// handles those one by one. If there are more, returns all.
#[inline]
fn pull<R>(hashes: impl Iterator<Item = u64>, one: impl Fn(u64) -> R) -> Result<Vec<R>, Vec<u64>> {
    // To clear an array of 32 hashes would take a fifth of the time of an insert.
    if is_few(&hashes, 4) {
        pull_few::<4, R>(hashes, one)
    } else if is_few(&hashes, FEW) {
        pull_few::<FEW, R>(hashes, one)
    } else {
        Err(hashes.collect())
    }
}

#[inline]
fn pull_few<const N: usize, R>(
    mut hashes: impl Iterator<Item = u64>,
    one: impl Fn(u64) -> R,
) -> Result<Vec<R>, Vec<u64>> {
    let (mut first, mut count) = ([0; N], 0);
    // The place comes first: without one left, no hash is taken.
    for (place, hash) in first.iter_mut().zip(&mut hashes) {
        *place = hash;
        count += 1;
    }
    // An iterator may have said something wrong.
    let more: Vec<u64> = hashes.collect();
    if !more.is_empty() {
        return Err(first.into_iter().chain(more).collect());
    }
    Ok(first[..count].iter().map(|hash| one(*hash)).collect())
}

impl<F: HashedCopies + ?Sized> ByHash<'_, F> {
    /// Removes a copy of an item, as `remove` of the filter does.
    #[inline]
    #[expect(clippy::must_use_candidate, reason = "the result of a removal is often ignored")]
    pub fn remove(self, hash: u64) -> bool {
        self.0.remove_hash(hash)
    }

    /// Removes a copy of each of many items, as `remove_many` of the filter does.
    #[must_use = "`remove_many_with` removes without a vector"]
    pub fn remove_many(self, hashes: impl IntoIterator<Item = u64>) -> Vec<bool> {
        let all = match pull(hashes.into_iter(), |hash| self.0.remove_hash(hash)) {
            Ok(results) => return results,
            Err(all) => all,
        };
        let mut results = Vec::with_capacity(all.len());
        self.0.remove_hashes(all, |_, removed| results.push(removed));
        results
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

impl<F: HashedRefresh + ?Sized> ByHash<'_, F> {
    /// Inserts an item, or makes it stay, as `insert_or_refresh` of the filter does.
    #[inline]
    #[expect(clippy::must_use_candidate, reason = "the result of an insert is often ignored")]
    pub fn insert_or_refresh(self, hash: u64) -> F::Inserted {
        self.0.insert_or_refresh_hash(hash)
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
