//! The traits of a collection, for all three filters: `Clone`, `Debug`, `Extend`, `FromIterator`, and
//! their parallel counterparts.

use alloc::vec::Vec;
use core::fmt;

use tamis_hash::HashItem;

use crate::builder::DEFAULT_RATE;
use crate::filter::Filter;
use crate::geometry::Geometry;
use crate::shared::refused;
use crate::{BlockedBloomFilter, BloomFilter, OnceBloomFilter};

/// An empty filter for so many items, at the default rate. If the memory is refused it ends as std's
/// collections do.
fn sized_for<F: Filter>(items: usize, hasher: F::Hasher) -> F {
    let items = (items as u64).max(1);
    let geometry = Geometry::for_items(F::KIND, items, DEFAULT_RATE)
        .expect("items whose hashes fit in memory have a size at 1 %");
    F::from_parts(geometry, items, hasher).unwrap_or_else(|_| refused(geometry.size_in_bytes()))
}

/// Hashes that a thread inserts at a time: many batches, and enough chunks for all threads.
#[cfg(feature = "rayon")]
const CHUNK: usize = 4096;

/// A filter of the items with these hashes.
fn of_hashes<F: Filter>(hashes: &[u64], hasher: F::Hasher) -> F {
    let mut filter: F = sized_for(hashes.len(), hasher);
    filter.set_many_alone(hashes, |_, &hash| hash, |_, _| ());
    filter
}

macro_rules! collection {
    ($($name:ident)*) => {$(
        /// A [`snapshot`](Self::snapshot).
        impl<T: ?Sized, S: Clone> Clone for $name<T, S> {
            fn clone(&self) -> Self {
                self.snapshot()
            }
        }

        /// The shape, never the bits.
        impl<T: ?Sized, S> fmt::Debug for $name<T, S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("geometry", &self.geometry())
                    .field("capacity", &self.capacity())
                    .finish_non_exhaustive()
            }
        }

        impl<T, S: HashItem<T>> Extend<T> for $name<T, S> {
            fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
                self.get_mut().extend(items);
            }
        }

        impl<'a, T: ?Sized + 'a, S: HashItem<T>> Extend<&'a T> for $name<T, S> {
            fn extend<I: IntoIterator<Item = &'a T>>(&mut self, items: I) {
                self.get_mut().insert_many(items, |_, _| ());
            }
        }

        /// Through a shared reference: others may insert and query meanwhile.
        impl<T, S: HashItem<T>> Extend<T> for &$name<T, S> {
            fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
                let hashes = items.into_iter().map(|item| self.hasher().hash_item(&item));
                self.insert_hashes(hashes, |_, _| ());
            }
        }

        /// Through a shared reference: others may insert and query meanwhile.
        impl<'a, T: ?Sized + 'a, S: HashItem<T>> Extend<&'a T> for &$name<T, S> {
            fn extend<I: IntoIterator<Item = &'a T>>(&mut self, items: I) {
                self.insert_many(items, |_, _| ());
            }
        }

        /// Hashes all items, then makes a filter for exactly so many at the default rate of 1 %.
        ///
        /// Takes 8 bytes an item while it runs; if the memory is refused it ends as std's
        /// collections do.
        impl<T, S: HashItem<T> + Default> FromIterator<T> for $name<T, S> {
            fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
                let hasher = S::default();
                let hashes: Vec<u64> =
                    items.into_iter().map(|item| hasher.hash_item(&item)).collect();
                of_hashes(&hashes, hasher)
            }
        }

        /// Hashes all items, then makes a filter for exactly so many at the default rate of 1 %.
        ///
        /// Takes 8 bytes an item while it runs; if the memory is refused it ends as std's
        /// collections do.
        impl<'a, T: ?Sized + 'a, S: HashItem<T> + Default> FromIterator<&'a T> for $name<T, S> {
            fn from_iter<I: IntoIterator<Item = &'a T>>(items: I) -> Self {
                let hasher = S::default();
                let hashes: Vec<u64> =
                    items.into_iter().map(|item| hasher.hash_item(item)).collect();
                of_hashes(&hashes, hasher)
            }
        }

        #[cfg(feature = "rayon")]
        impl<T: Send, S: HashItem<T> + Sync> rayon::iter::ParallelExtend<T> for &$name<T, S> {
            fn par_extend<I: rayon::iter::IntoParallelIterator<Item = T>>(&mut self, items: I) {
                use rayon::iter::ParallelIterator as _;
                let filter = *self;
                items.into_par_iter().for_each(|item| {
                    filter.insert(&item);
                });
            }
        }

        #[cfg(feature = "rayon")]
        impl<'a, T: ?Sized + Sync + 'a, S: HashItem<T> + Sync> rayon::iter::ParallelExtend<&'a T>
            for &$name<T, S>
        {
            fn par_extend<I: rayon::iter::IntoParallelIterator<Item = &'a T>>(&mut self, items: I) {
                use rayon::iter::ParallelIterator as _;
                let filter = *self;
                items.into_par_iter().for_each(|item| {
                    filter.insert(item);
                });
            }
        }

        #[cfg(feature = "rayon")]
        impl<T: Send, S: HashItem<T> + Sync> rayon::iter::ParallelExtend<T> for $name<T, S> {
            fn par_extend<I: rayon::iter::IntoParallelIterator<Item = T>>(&mut self, items: I) {
                (&*self).par_extend(items);
            }
        }

        #[cfg(feature = "rayon")]
        impl<'a, T: ?Sized + Sync + 'a, S: HashItem<T> + Sync> rayon::iter::ParallelExtend<&'a T>
            for $name<T, S>
        {
            fn par_extend<I: rayon::iter::IntoParallelIterator<Item = &'a T>>(&mut self, items: I) {
                (&*self).par_extend(items);
            }
        }

        /// Hashes all items in parallel, then makes a filter for exactly so many at the default rate.
        #[cfg(feature = "rayon")]
        impl<T: Send, S: HashItem<T> + Default + Sync> rayon::iter::FromParallelIterator<T>
            for $name<T, S>
        {
            fn from_par_iter<I: rayon::iter::IntoParallelIterator<Item = T>>(items: I) -> Self {
                use rayon::iter::ParallelIterator as _;
                let hasher = S::default();
                let hashes: Vec<u64> =
                    items.into_par_iter().map(|item| hasher.hash_item(&item)).collect();
                Self::of_hashes_in_parallel(&hashes, hasher)
            }
        }

        /// Hashes all items in parallel, then makes a filter for exactly so many at the default rate.
        #[cfg(feature = "rayon")]
        impl<'a, T: ?Sized + Sync + 'a, S: HashItem<T> + Default + Sync>
            rayon::iter::FromParallelIterator<&'a T> for $name<T, S>
        {
            fn from_par_iter<I: rayon::iter::IntoParallelIterator<Item = &'a T>>(items: I) -> Self {
                use rayon::iter::ParallelIterator as _;
                let hasher = S::default();
                let hashes: Vec<u64> =
                    items.into_par_iter().map(|item| hasher.hash_item(item)).collect();
                Self::of_hashes_in_parallel(&hashes, hasher)
            }
        }

        #[cfg(feature = "rayon")]
        impl<T: ?Sized, S: Sync> $name<T, S> {
            fn of_hashes_in_parallel(hashes: &[u64], hasher: S) -> Self {
                use rayon::iter::ParallelIterator as _;
                use rayon::slice::ParallelSlice as _;
                let filter: Self = sized_for(hashes.len(), hasher);
                hashes.par_chunks(CHUNK).for_each(|hashes| {
                    filter.insert_hashes(hashes.iter().copied(), |_, _| ());
                });
                filter
            }
        }
    )*};
}

collection! { BloomFilter BlockedBloomFilter OnceBloomFilter }
