//! The batch methods of both filter types.

use alloc::vec::Vec;

use tamis_core::AsItem;
use tamis_hash::HashItem;

use crate::{CuckooFilter, InsertError, OnceCuckooFilter};

/// The results of a batch method that changes the filter, in a vector. All hashes are pulled before the first change: a panic in the iterator
/// loses no result.
fn collected<R>(
    hashes: impl Iterator<Item = u64>,
    run: impl FnOnce(Vec<u64>, &mut dyn FnMut(usize, R)),
) -> Vec<R> {
    let hashes: Vec<u64> = hashes.collect();
    let mut results = Vec::with_capacity(hashes.len());
    run(hashes, &mut |_, result| results.push(result));
    results
}

impl<T: ?Sized, S> CuckooFilter<T, S> {
    /// Inserts many items, owned or borrowed. Calls `on_result` in order, with each item's number and what
    /// [`insert`](Self::insert) would have returned. A refusal does not end it.
    ///
    /// Faster than one by one in filters beyond the caches.
    /// Each insert adds a copy.
    /// [Batches](crate#batches) says what a slow iterator and a panic mean.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    ///
    /// let filter = CuckooFilter::<u64>::with_capacity(1000)?;
    /// let mut refused = vec![];
    /// filter.insert_many([1, 2, 1], |number, result| {
    ///     if result.is_err() {
    ///         refused.push(number);
    ///     }
    /// });
    /// assert!(refused.is_empty());
    /// assert_eq!(filter.count(&1), 2);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert_many<I>(&self, items: I, on_result: impl FnMut(usize, Result<(), InsertError>))
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.shared.insert_many(self.shared.hashes(items), on_result);
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
    /// use tamis::CuckooFilter;
    ///
    /// let filter = CuckooFilter::<str>::with_capacity(1000)?;
    /// assert_eq!(filter.insert_each(["a", "a"]), [Ok(()), Ok(())]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use = "an insert may be refused"]
    pub fn insert_each<I>(&self, items: I) -> Vec<Result<(), InsertError>>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        collected(self.shared.hashes(items), |hashes, push| self.insert_hashes(hashes, push))
    }

    /// [`insert_many`](Self::insert_many) by hash; see [`insert_hash`](Self::insert_hash).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    ///
    /// let filter = CuckooFilter::<str>::with_capacity(1000)?;
    /// filter.insert_hashes([0x9E37_79B9_7F4A_7C15], |_, result| assert_eq!(result, Ok(())));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, Result<(), InsertError>),
    ) {
        self.shared.insert_many(hashes, on_result);
    }

    /// Removes one copy of each of many items, owned or borrowed. Calls `on_result` in order, with each item's number and
    /// what [`remove`](Self::remove) would have returned.
    ///
    /// The contract of [`remove`](Self::remove) holds for each item. [Batches](crate#batches) says what a slow iterator
    /// and a panic mean.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    ///
    /// let filter = CuckooFilter::<str>::with_capacity(1000)?;
    /// filter.insert("a")?;
    /// filter.remove_many(["a"], |_, removed| assert!(removed));
    /// assert!(filter.is_empty());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn remove_many<I>(&self, items: I, on_result: impl FnMut(usize, bool))
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        self.shared.remove_many(self.shared.hashes(items), on_result);
    }

    /// [`remove_many`](Self::remove_many) with the results collected: what [`remove`](Self::remove) would have returned
    /// for each item.
    ///
    /// Hashes all items before it changes anything, which takes 8 bytes per item: if the iterator or the hasher panics,
    /// the filter is as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    ///
    /// let filter = CuckooFilter::<str>::with_capacity(1000)?;
    /// filter.insert("a")?;
    /// assert_eq!(filter.remove_each(["a", "a"]), [true, false]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use = "`remove_many` removes without results"]
    pub fn remove_each<I>(&self, items: I) -> Vec<bool>
    where
        I: IntoIterator<Item: AsItem<T>>,
        S: HashItem<<I::Item as AsItem<T>>::Borrowed>,
    {
        collected(self.shared.hashes(items), |hashes, push| self.remove_hashes(hashes, push))
    }

    /// [`remove_many`](Self::remove_many) by hash; see [`insert_hash`](Self::insert_hash).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    ///
    /// let filter = CuckooFilter::<str>::with_capacity(1000)?;
    /// filter.remove_hashes([0x9E37_79B9_7F4A_7C15], |_, removed| assert!(!removed));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[inline]
    pub fn remove_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        self.shared.remove_many(hashes, on_result);
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
    /// use tamis::CuckooFilter;
    ///
    /// let filter = CuckooFilter::<str>::with_capacity(1000)?;
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
    /// use tamis::CuckooFilter;
    ///
    /// let filter = CuckooFilter::<str>::with_capacity(1000)?;
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

    /// [`contains_many`](Self::contains_many) by hash; see [`insert_hash`](Self::insert_hash).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_cuckoo as tamis;
    /// use tamis::CuckooFilter;
    ///
    /// let filter = CuckooFilter::<str>::with_capacity(1000)?;
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
}

impl<T: ?Sized, S> OnceCuckooFilter<T, S> {
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
        collected(self.shared.hashes(items), |hashes, push| self.insert_hashes(hashes, push))
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
}
