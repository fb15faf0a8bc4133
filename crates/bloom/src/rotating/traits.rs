//! The operations on hashes and `Clone`, for the rotating filter.

use core::convert::Infallible;

use tamis_core::Hashed;
use tamis_sync::{out_of_memory, run_batches};

use super::RotatingBloomFilter;
use super::array::{Contains, Insert};

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

/// Copies the filter while other threads use it. The copy has every item whose insert happened
/// before.
impl<T: ?Sized, S: Clone> Clone for RotatingBloomFilter<T, S> {
    fn clone(&self) -> Self {
        let Self { geometry, span, capacity, item, .. } = *self;
        let array = self.array.copy().unwrap_or_else(|_| out_of_memory(self.size_in_bytes()));
        Self { array, geometry, span, capacity, hasher: self.hasher.clone(), item }
    }
}
