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
        for item in items {
            self.insert(&item);
        }
    }
}

impl<F: Filter + fmt::Debug> fmt::Debug for Exclusive<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Exclusive").field(&self.filter).finish()
    }
}
