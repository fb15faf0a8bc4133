//! The traits that the growing filter implements: those of std, and those for generic code of users.

use core::fmt;

use tamis_core::{BuildError, Filter, Sampled, WithRate};
use tamis_hash::HashItem;

use crate::error::InsertError;
use crate::scalable::ScalableCuckooFilter;
use crate::scalable_builder::ScalableBuilder;

/// Returns a [`snapshot`](Self::snapshot).
impl<T: ?Sized, S: Clone> Clone for ScalableCuckooFilter<T, S> {
    fn clone(&self) -> Self {
        self.snapshot()
    }
}

/// Shows the sizes and the number of items, but no fingerprints.
impl<T: ?Sized, S> fmt::Debug for ScalableCuckooFilter<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalableCuckooFilter")
            .field("generations", &self.generations())
            .field("capacity", &self.capacity())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl<T: ?Sized, S: HashItem<T>> Filter for ScalableCuckooFilter<T, S> {
    type Item = T;
    type Hasher = S;
    type InsertError = InsertError;

    #[inline]
    fn hasher(&self) -> &S {
        self.growing.hasher()
    }

    // Every insert adds a copy, so every successful insert counts as new.
    #[inline]
    fn try_insert_hash(&self, hash: u64) -> Result<bool, InsertError> {
        self.insert_hash(hash).map(|()| true)
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.growing.contains(hash)
    }

    #[inline]
    fn try_insert_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        mut on_result: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        self.growing.insert_many(hashes, |number, result| on_result(number, result.map(|()| true)));
    }

    #[inline]
    fn contains_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        self.growing.contains_many(hashes, on_result);
    }

    fn capacity(&self) -> usize {
        self.growing.capacity()
    }

    fn size_in_bytes(&self) -> u64 {
        self.growing.size_in_bytes()
    }

    fn len_estimate(&self) -> f64 {
        self.growing.len() as f64
    }

    fn saturation(&self) -> f64 {
        self.growing.saturation()
    }

    fn false_positive_rate(&self) -> f64 {
        self.growing.false_positive_rate(None).value
    }

    fn len_estimate_sampled(&self, _: u64) -> Sampled {
        Sampled::exact(self.growing.len() as f64)
    }

    fn saturation_sampled(&self, _: u64) -> Sampled {
        Sampled::exact(self.growing.saturation())
    }

    fn false_positive_rate_sampled(&self, lines: u64) -> Sampled {
        self.growing.false_positive_rate(Some(lines))
    }
}

/// The capacity is that of the first generation. The filter keeps the rate up to 1024 times as many items.
impl<T: ?Sized, S: HashItem<T>> WithRate for ScalableCuckooFilter<T, S> {
    fn with_rate(capacity: usize, rate: f64, hasher: S) -> Result<Self, BuildError> {
        ScalableBuilder::new(hasher).capacity(capacity).false_positive_rate(rate).build()
    }
}
