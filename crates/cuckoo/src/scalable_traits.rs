//! The traits that the growing filter implements: those of std, and those for generic code of
//! users.

use core::fmt;

use tamis_core::{BuildError, Figures, Filter, Hashed, HashedCopies, WithRate};
use tamis_hash::HashItem;

use crate::error::InsertError;
use crate::scalable::ScalableCuckooFilter;
use crate::scalable_builder::ScalableBuilder;

/// Copies the filter while other threads use it. The copy has every item whose insert happened
/// before, and no item twice that is relocated.
impl<T: ?Sized, S: Clone> Clone for ScalableCuckooFilter<T, S> {
    fn clone(&self) -> Self {
        Self { growing: self.growing.snapshot() }
    }
}

/// Shows the sizes and the number of items, but no fingerprints.
impl<T: ?Sized, S> fmt::Debug for ScalableCuckooFilter<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalableCuckooFilter")
            .field("slices", &self.slices())
            .field("capacity", &self.capacity())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl<T: ?Sized, S: HashItem<T>> Filter for ScalableCuckooFilter<T, S> {
    type Item = T;
    type Hasher = S;

    #[inline]
    fn hasher(&self) -> &S {
        self.growing.hasher()
    }

    fn capacity(&self) -> usize {
        self.growing.capacity()
    }

    fn size_in_bytes(&self) -> u64 {
        self.growing.size_in_bytes()
    }

    fn figures(&self) -> Figures {
        self.growing.figures(None)
    }

    fn figures_sampled(&self, lines: u64) -> Figures {
        self.growing.figures(Some(lines))
    }

    fn saturation(&self) -> f64 {
        self.growing.saturation()
    }

    fn false_positive_rate(&self) -> f64 {
        self.growing.false_positive_rate(None).value
    }
}

impl<T: ?Sized, S> Hashed for ScalableCuckooFilter<T, S> {
    type Inserted = Result<(), InsertError>;
    type InsertError = InsertError;

    #[inline]
    fn insert_hash(&self, hash: u64) -> Result<(), InsertError> {
        let slices = &self.growing.slices;
        slices.insert(hash, slices.plan().class(hash))
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.growing.contains(hash)
    }

    #[inline]
    fn insert_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, Result<(), InsertError>),
    ) {
        self.growing.insert_many_with(hashes, on_result);
    }

    #[inline]
    fn contains_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        self.growing.contains_many_with(hashes, on_result);
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.growing.prefetch(hash);
    }
}

impl<T: ?Sized, S> HashedCopies for ScalableCuckooFilter<T, S> {
    #[inline]
    fn remove_hash(&self, hash: u64) -> bool {
        let slices = &self.growing.slices;
        slices.remove(hash, slices.plan().class(hash))
    }

    #[inline]
    fn remove_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        self.growing.remove_many_with(hashes, on_result);
    }

    #[inline]
    fn count_hash(&self, hash: u64) -> u32 {
        let slices = &self.growing.slices;
        slices.count(slices.plan().class(hash))
    }
}

/// The capacity is that of the first slice. The filter keeps the rate up to 1024 times as many
/// items.
impl<T: ?Sized, S: HashItem<T>> WithRate for ScalableCuckooFilter<T, S> {
    fn with_rate(capacity: usize, rate: f64, hasher: S) -> Result<Self, BuildError> {
        ScalableBuilder::new(hasher).capacity(capacity).false_positive_rate(rate).build()
    }
}
