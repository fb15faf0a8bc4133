//! The traits of a collection, for all three filters: `Clone`, `Debug`, `Extend`, `FromIterator`, and
//! their parallel counterparts.

use alloc::vec::Vec;
use core::fmt;

use tamis_core::AsItem;
use tamis_hash::HashItem;
use tamis_sync::out_of_memory;

use crate::array::Array;
use crate::blocked::BlockedBloomFilter;
use crate::builder::DEFAULT_RATE;
use crate::classic::BloomFilter;
use crate::filter::Buildable;
use crate::geometry::Geometry;
use crate::once::OnceBloomFilter;
use crate::shared::Shared;

/// An empty filter for so many items, at the default rate. If there is no such size, or the memory is refused, it
/// ends as std's collections do.
fn sized_for<F: Buildable>(items: usize, hasher: F::Hasher) -> F {
    let geometry = Geometry::for_items(F::Array::KIND, items as u64, DEFAULT_RATE, None)
        .unwrap_or_else(|_| panic!("capacity overflow"));
    let shared = Shared::new(geometry, items.max(1), hasher);
    F::from_shared(shared.unwrap_or_else(|_| out_of_memory(geometry.size_in_bytes())))
}

/// A filter of the items.
fn of_items<F: Buildable, I>(
    items: impl IntoIterator<Item = I>,
    hasher: F::Hasher,
    hash: impl Fn(&F::Hasher, I) -> u64,
) -> F {
    let items = items.into_iter();
    if let (count, Some(most)) = items.size_hint()
        && count == most
    {
        let mut filter: F = sized_for(count, hasher);
        filter.shared_mut().insert_all_mut(items, hash);
        return filter;
    }
    let hashes: Vec<u64> = items.map(|item| hash(&hasher, item)).collect();
    let mut filter: F = sized_for(hashes.len(), hasher);
    filter.shared_mut().insert_all_mut(hashes, |_, hash| hash);
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

        /// All at once, in whatever order is fastest: while it runs, it may take as much memory again as the
        /// filter, if that is to be had. If the iterator panics, items before it may be missing.
        impl<T: ?Sized, S: HashItem<I::Borrowed>, I: AsItem<T>> Extend<I> for $name<T, S> {
            fn extend<Items: IntoIterator<Item = I>>(&mut self, items: Items) {
                self.shared.insert_all_mut(items, |hasher: &S, item: I| hasher.hash_item(item.as_item()));
            }
        }

        /// Through a shared reference: others may insert and query meanwhile.
        impl<T: ?Sized, S: HashItem<I::Borrowed>, I: AsItem<T>> Extend<I> for &$name<T, S> {
            fn extend<Items: IntoIterator<Item = I>>(&mut self, items: Items) {
                self.insert_many(items, |_, _| ());
            }
        }

        /// Makes a filter for exactly this number of items at the default rate of 1 %.
        ///
        /// If the iterator does not know how many there will be, all are hashed first, which takes 8 bytes per
        /// item; if it does, it is believed, and inserting takes at most the memory of the filter once more. If
        /// memory for the filter is refused, it ends as std's collections do.
        impl<T: ?Sized, S: HashItem<I::Borrowed> + Default, I: AsItem<T>> FromIterator<I> for $name<T, S> {
            fn from_iter<Items: IntoIterator<Item = I>>(items: Items) -> Self {
                of_items(items, S::default(), |hasher: &S, item: I| hasher.hash_item(item.as_item()))
            }
        }

        /// As collecting the array. (For an array of references say which filter it is, `Filter::<str>::from(["a"])`: its items
        /// may be the references, or what they refer to.)
        #[cfg(feature = "std")]
        impl<T: core::hash::Hash, const N: usize> From<[T; N]> for $name<T> {
            fn from(items: [T; N]) -> Self {
                items.into_iter().collect()
            }
        }

        /// As collecting the array.
        #[cfg(feature = "std")]
        impl<'a, T: core::hash::Hash + ?Sized + 'a, const N: usize> From<[&'a T; N]> for $name<T> {
            fn from(items: [&'a T; N]) -> Self {
                items.into_iter().collect()
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

        /// All at once, in whatever order is fastest: while it runs, it may take as much memory again as the
        /// filter, if that is to be had. If the iterator panics, any items may be missing.
        #[cfg(feature = "rayon")]
        impl<T: Send, S: HashItem<T> + Sync> rayon::iter::ParallelExtend<T> for $name<T, S> {
            fn par_extend<I: rayon::iter::IntoParallelIterator<Item = T>>(&mut self, items: I) {
                self.shared.par_insert_all_mut(items.into_par_iter(), |hasher, item| hasher.hash_item(&item));
            }
        }

        #[cfg(feature = "rayon")]
        impl<'a, T: ?Sized + Sync + 'a, S: HashItem<T> + Sync> rayon::iter::ParallelExtend<&'a T>
            for $name<T, S>
        {
            fn par_extend<I: rayon::iter::IntoParallelIterator<Item = &'a T>>(&mut self, items: I) {
                self.shared.par_insert_all_mut(items.into_par_iter(), |hasher, item| hasher.hash_item(item));
            }
        }

        /// In parallel; as [`FromIterator`] otherwise.
        #[cfg(feature = "rayon")]
        impl<T: Send, S: HashItem<T> + Default + Sync> rayon::iter::FromParallelIterator<T>
            for $name<T, S>
        {
            fn from_par_iter<I: rayon::iter::IntoParallelIterator<Item = T>>(items: I) -> Self {
                let hash = |hasher: &S, item| hasher.hash_item(&item);
                Self::par_of_items(items.into_par_iter(), S::default(), hash)
            }
        }

        /// In parallel; as [`FromIterator`] otherwise.
        #[cfg(feature = "rayon")]
        impl<'a, T: ?Sized + Sync + 'a, S: HashItem<T> + Default + Sync>
            rayon::iter::FromParallelIterator<&'a T> for $name<T, S>
        {
            fn from_par_iter<I: rayon::iter::IntoParallelIterator<Item = &'a T>>(items: I) -> Self {
                let hash = |hasher: &S, item| hasher.hash_item(item);
                Self::par_of_items(items.into_par_iter(), S::default(), hash)
            }
        }

        #[cfg(feature = "rayon")]
        impl<T: ?Sized, S: Sync> $name<T, S> {
            fn par_of_items<I: rayon::iter::ParallelIterator>(
                items: I,
                hasher: S,
                hash: impl Fn(&S, I::Item) -> u64 + Sync + Send,
            ) -> Self {
                use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
                if let Some(count) = items.opt_len() {
                    let mut filter: Self = sized_for(count, hasher);
                    filter.shared.par_insert_all_mut(items, hash);
                    return filter;
                }
                let hashes: Vec<u64> = items.map(|item| hash(&hasher, item)).collect();
                let mut filter: Self = sized_for(hashes.len(), hasher);
                filter.shared.par_insert_all_mut(hashes.into_par_iter(), |_, hash| hash);
                filter
            }
        }
    )*};
}

collection! { BloomFilter BlockedBloomFilter OnceBloomFilter }
