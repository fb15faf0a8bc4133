//! The common traits and the traits of a collection, for the rotating filter.

use core::convert::Infallible;

use tamis_core::{
    AsItem, BuildError, Figures, Filter, Hashed, HashedRefresh, OnceFilter, WithRate,
};
use tamis_hash::HashItem;
use tamis_sync::{out_of_memory, run_batches};

use super::RotatingBloomFilter;
use super::array::{Contains, Insert};
use super::builder::RotatingBuilder;

impl<T: ?Sized, S: HashItem<T>> Filter for RotatingBloomFilter<T, S> {
    type Item = T;
    type Hasher = S;

    #[inline]
    fn hasher(&self) -> &S {
        &self.hasher
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }

    fn size_in_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn figures(&self) -> Figures {
        self.figures()
    }

    fn figures_sampled(&self, lines: u64) -> Figures {
        self.figures_sampled(lines)
    }
}

impl<T: ?Sized, S> Hashed for RotatingBloomFilter<T, S> {
    type Inserted = bool;
    type InsertError = Infallible;

    #[inline]
    fn insert_hash(&self, hash: u64) -> bool {
        self.array.insert(hash, false)
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.array.contains(hash)
    }

    #[inline]
    fn insert_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        run_batches(Insert { array: &self.array, refresh: false }, hashes, on_result);
    }

    #[inline]
    fn contains_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        run_batches(Contains(&self.array), hashes, on_result);
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.array.prefetch(hash);
    }
}

impl<T: ?Sized, S> HashedRefresh for RotatingBloomFilter<T, S> {
    #[inline]
    fn insert_or_refresh_hash(&self, hash: u64) -> bool {
        self.array.insert(hash, true)
    }
}

/// Exactly one of concurrent inserts of an item returns `Ok(true)`. The filter forgets: an item
/// that has left the window is new again, and then one more insert returns `Ok(true)`.
impl<T: ?Sized, S: HashItem<T>> OnceFilter for RotatingBloomFilter<T, S> {}

/// Builds a filter with a window by items.
impl<T: ?Sized, S: HashItem<T>> WithRate for RotatingBloomFilter<T, S> {
    fn with_rate(capacity: usize, rate: f64, hasher: S) -> Result<Self, BuildError> {
        RotatingBuilder::new(hasher).capacity(capacity).false_positive_rate(rate).build()
    }
}

/// Copies the filter while other threads use it. The copy has every item whose insert happened
/// before.
impl<T: ?Sized, S: Clone> Clone for RotatingBloomFilter<T, S> {
    fn clone(&self) -> Self {
        let Self { geometry, span, capacity, item, .. } = *self;
        let array = self.array.copy().unwrap_or_else(|_| out_of_memory(self.size_in_bytes()));
        Self { array, geometry, span, capacity, hasher: self.hasher.clone(), item }
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
