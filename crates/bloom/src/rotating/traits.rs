//! The common traits and the traits of a collection, for the rotating filter.

use core::convert::Infallible;

use tamis_core::{AsItem, BuildError, Filter, OnceFilter, Sampled, WithRate};
use tamis_hash::HashItem;

use super::RotatingBloomFilter;
use super::builder::RotatingBuilder;

impl<T: ?Sized, S: HashItem<T>> Filter for RotatingBloomFilter<T, S> {
    type Item = T;
    type Hasher = S;
    type InsertError = Infallible;

    #[inline]
    fn hasher(&self) -> &S {
        &self.hasher
    }

    #[inline]
    fn try_insert_hash(&self, hash: u64) -> Result<bool, Infallible> {
        Ok(self.insert_hash(hash))
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    #[inline]
    fn try_insert_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        mut on_result: impl FnMut(usize, Result<bool, Infallible>),
    ) {
        self.insert_hashes(hashes, |number, new| on_result(number, Ok(new)));
    }

    #[inline]
    fn contains_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        self.contains_hashes(hashes, on_result);
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }

    fn size_in_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn len_estimate(&self) -> f64 {
        self.len_estimate()
    }

    fn saturation(&self) -> f64 {
        self.saturation()
    }

    fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate()
    }

    fn len_estimate_sampled(&self, lines: u64) -> Sampled {
        self.len_estimate_sampled(lines)
    }

    fn saturation_sampled(&self, lines: u64) -> Sampled {
        self.saturation_sampled(lines)
    }

    fn false_positive_rate_sampled(&self, lines: u64) -> Sampled {
        self.false_positive_rate_sampled(lines)
    }
}

/// Exactly one of concurrent inserts of an item returns `Ok(true)`. The filter forgets: an item that has left the window is
/// new again, and then one more insert returns `Ok(true)`.
impl<T: ?Sized, S: HashItem<T>> OnceFilter for RotatingBloomFilter<T, S> {}

/// Builds a filter with a window by items.
impl<T: ?Sized, S: HashItem<T>> WithRate for RotatingBloomFilter<T, S> {
    fn with_rate(capacity: usize, rate: f64, hasher: S) -> Result<Self, BuildError> {
        RotatingBuilder::new(hasher).capacity(capacity).false_positive_rate(rate).build()
    }
}

/// Takes a [`snapshot`](Self::snapshot).
impl<T: ?Sized, S: Clone> Clone for RotatingBloomFilter<T, S> {
    fn clone(&self) -> Self {
        self.snapshot()
    }
}

/// Inserts the items in order, as [`insert_many_with`](Self::insert_many_with).
impl<T: ?Sized, S: HashItem<I::Borrowed>, I: AsItem<T>> Extend<I> for RotatingBloomFilter<T, S> {
    fn extend<Items: IntoIterator<Item = I>>(&mut self, items: Items) {
        self.insert_many_with(items, |_, _| ());
    }
}

/// Inserts through a shared reference: other threads may insert and query concurrently.
impl<T: ?Sized, S: HashItem<I::Borrowed>, I: AsItem<T>> Extend<I> for &RotatingBloomFilter<T, S> {
    fn extend<Items: IntoIterator<Item = I>>(&mut self, items: Items) {
        self.insert_many_with(items, |_, _| ());
    }
}
