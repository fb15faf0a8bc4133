//! A filter in the hands of one thread: plain loads and stores.

use core::borrow::Borrow;
use core::fmt;

use tamis_hash::HashItem;

use crate::filter::Filter;

/// A filter that nobody else can touch for now, from `get_mut`.
///
/// Inserts are plain stores, several times cheaper than atomic ones.
///
/// # Examples
///
/// ```
/// use tamis_bloom::BlockedBloomFilter;
///
/// let mut filter = BlockedBloomFilter::<u64>::with_capacity(1000)?;
/// let mut alone = filter.get_mut();
/// for item in 0..1000 {
///     alone.insert(&item);
/// }
/// assert!(filter.contains(&999));
/// # Ok::<(), tamis_bloom::BuildError>(())
/// ```
pub struct Exclusive<'a, F> {
    filter: &'a mut F,
}

impl<'a, F: Filter> Exclusive<'a, F> {
    pub(crate) fn new(filter: &'a mut F) -> Self {
        Self { filter }
    }

    /// Inserts an item; whether it was certainly new.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom::BloomFilter;
    /// # let mut filter = BloomFilter::<str>::with_capacity(10)?;
    /// assert!(filter.get_mut().insert("a"));
    /// assert!(!filter.get_mut().insert("a"));
    /// # Ok::<(), tamis_bloom::BuildError>(())
    /// ```
    #[inline]
    pub fn insert<Q: ?Sized>(&mut self, item: &Q) -> bool
    where
        F::Item: Borrow<Q>,
        F::Hasher: HashItem<Q>,
    {
        let hash = self.filter.hasher().hash_item(item);
        self.insert_hash(hash)
    }

    /// Inserts an item by its hash; whether it was certainly new.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom::BloomFilter;
    /// # let mut filter = BloomFilter::<str>::with_capacity(10)?;
    /// assert!(filter.get_mut().insert_hash(0x9E37_79B9_7F4A_7C15));
    /// # Ok::<(), tamis_bloom::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        self.filter.set_alone(hash)
    }

    /// Inserts many items, and tells for each, by its number, whether it was certainly new: the same as one
    /// after the other, in order, but in batches whose memory is asked for ahead.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom::BlockedBloomFilter;
    /// # let mut filter = BlockedBloomFilter::<u64>::with_capacity(1000)?;
    /// let mut new = 0;
    /// filter.get_mut().insert_many(&[1, 2, 1], |_, is_new| new += u32::from(is_new));
    /// assert_eq!(new, 2);
    /// # Ok::<(), tamis_bloom::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_many<'i, Q: ?Sized + 'i>(
        &mut self,
        items: impl IntoIterator<Item = &'i Q>,
        told: impl FnMut(usize, bool),
    ) where
        F::Item: Borrow<Q>,
        F::Hasher: HashItem<Q>,
    {
        self.filter.set_many_alone(items, |hasher, item| hasher.hash_item(item), told);
    }

    /// [`insert_many`](Self::insert_many) by hash.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom::BloomFilter;
    /// # let mut filter = BloomFilter::<str>::with_capacity(10)?;
    /// filter.get_mut().insert_hashes([0x9E37_79B9_7F4A_7C15], |_, new| assert!(new));
    /// # Ok::<(), tamis_bloom::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_hashes(
        &mut self,
        hashes: impl IntoIterator<Item = u64>,
        told: impl FnMut(usize, bool),
    ) {
        self.filter.set_many_alone(hashes, |_, hash| hash, told);
    }

    /// Whether the item may have been inserted.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom::BloomFilter;
    /// # let mut filter = BloomFilter::<str>::with_capacity(10)?;
    /// assert!(!filter.get_mut().contains("a"));
    /// # Ok::<(), tamis_bloom::BuildError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains<Q: ?Sized>(&self, item: &Q) -> bool
    where
        F::Item: Borrow<Q>,
        F::Hasher: HashItem<Q>,
    {
        self.contains_hash(self.filter.hasher().hash_item(item))
    }

    /// Whether an item with this hash may have been inserted.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom::BloomFilter;
    /// # let mut filter = BloomFilter::<str>::with_capacity(10)?;
    /// assert!(!filter.get_mut().contains_hash(1));
    /// # Ok::<(), tamis_bloom::BuildError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.filter.has(hash)
    }
}

impl<T, F: Filter<Item = T>> Extend<T> for Exclusive<'_, F>
where
    F::Hasher: HashItem<T>,
{
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.filter.set_all_alone(items, |hasher, item| hasher.hash_item(&item));
    }
}

impl<F: Filter + fmt::Debug> fmt::Debug for Exclusive<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Exclusive").field(&self.filter).finish()
    }
}
