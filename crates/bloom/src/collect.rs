//! The traits of a collection for all filters: `Clone`, `Debug`, `Extend`, `FromIterator`, and
//! their parallel counterparts.

use alloc::vec::Vec;

use tamis_core::{AsItem, implement_debug, implement_from_arrays};
use tamis_hash::HashItem;
use tamis_sync::out_of_memory;

use crate::array::Array;
use crate::blocked::BlockedBloomFilter;
use crate::builder::DEFAULT_RATE;
use crate::classic::BloomFilter;
use crate::counting::CountingBloomFilter;
use crate::filter::Buildable;
use crate::geometry::Geometry;
use crate::growing::sealed::Sealed as _;
use crate::once::OnceBloomFilter;
use crate::once_scalable::OnceScalableBloomFilter;
use crate::rotating::RotatingBloomFilter;
use crate::scalable::ScalableBloomFilter;
use crate::shared::Shared;

/// Builds an empty filter for `items` items at the default rate. If the size overflows or the
/// allocation fails, ends as std's collections do.
fn sized_for<F: Buildable>(items: usize, hasher: F::Hasher) -> F {
    let geometry = Geometry::for_items(F::Array::KIND, items as u64, DEFAULT_RATE, None)
        .unwrap_or_else(|_| panic!("capacity overflow"));
    let shared = Shared::new(geometry, items.max(1), hasher);
    F::from_shared(shared.unwrap_or_else(|_| out_of_memory(geometry.size_in_bytes())))
}

/// Builds a filter that contains the items.
fn of_items<F: Buildable, I>(
    items: impl IntoIterator<Item = I>,
    hasher: F::Hasher,
    hash: impl Fn(&F::Hasher, I) -> u64,
) -> F {
    let items = items.into_iter();
    // The iterator knows its length: size the filter for it.
    if let (count, Some(most)) = items.size_hint()
        && count == most
    {
        let mut filter: F = sized_for(count, hasher);
        filter.shared_mut().insert_all_mut(items, hash);
        return filter;
    }
    // It does not: hash all items to count them.
    let hashes: Vec<u64> = items.map(|item| hash(&hasher, item)).collect();
    let mut filter: F = sized_for(hashes.len(), hasher);
    filter.shared_mut().insert_all_mut(hashes, |_, hash| hash);
    filter
}

/// Implements what is the same in all filters.
macro_rules! of_all {
    ($($name:ident)*) => {$(
        /// Inserts through a shared reference: other threads may insert and query concurrently.
        impl<T: ?Sized, S: HashItem<I::Borrowed>, I: AsItem<T>> Extend<I> for &$name<T, S> {
            fn extend<Items: IntoIterator<Item = I>>(&mut self, items: Items) {
                self.insert_many_with(items, |_, _| ());
            }
        }
    )*};
}

of_all! {
    BloomFilter BlockedBloomFilter OnceBloomFilter CountingBloomFilter
    ScalableBloomFilter OnceScalableBloomFilter RotatingBloomFilter
}

/// Implements `Clone` by copies of the fields.
macro_rules! copied {
    ($($name:ident: |$filter:ident| $copy:expr;)*) => {$(
        /// Copies the filter while other threads may insert. The copy has every item whose insert
        /// happened before. Of an item that is inserted concurrently it may have all bits, some, or
        /// none. If the allocation fails, aborts as the collections of std do.
        impl<T: ?Sized, S: Clone> Clone for $name<T, S> {
            fn clone(&self) -> Self {
                let $filter = self;
                $copy
            }
        }
    )*};
}

copied! {
    BloomFilter: |filter| Self { shared: filter.shared.snapshot() };
    BlockedBloomFilter: |filter| Self { shared: filter.shared.snapshot() };
    OnceBloomFilter: |filter| Self { shared: filter.shared.snapshot() };
    CountingBloomFilter: |filter| Self { shared: filter.shared.snapshot() };
    ScalableBloomFilter: |filter| Self::of_slices(filter.slices.copy(), filter.hasher.clone());
    OnceScalableBloomFilter: |filter| Self::of_slices(filter.slices.copy(), filter.hasher.clone());
}

/// Implements `Extend` for filters into which items go in order.
macro_rules! in_order {
    ($($name:ident)*) => {$(
        /// Inserts the items in order, as [`insert_many_with`](Self::insert_many_with).
        impl<T: ?Sized, S: HashItem<I::Borrowed>, I: AsItem<T>> Extend<I> for $name<T, S> {
            fn extend<Items: IntoIterator<Item = I>>(&mut self, items: Items) {
                self.insert_many_with(items, |_, _| ());
            }
        }
    )*};
}

in_order! { ScalableBloomFilter OnceScalableBloomFilter RotatingBloomFilter }

/// Implements what only filters of a fixed size have, or have in another way.
macro_rules! collection {
    ($($name:ident)*) => {$(
        /// Inserts all items in the order that is fastest. While it runs, it may allocate as much
        /// memory again as the filter, and does without if the allocation fails. If the iterator
        /// panics, earlier items may be missing.
        impl<T: ?Sized, S: HashItem<I::Borrowed>, I: AsItem<T>> Extend<I> for $name<T, S> {
            fn extend<Items: IntoIterator<Item = I>>(&mut self, items: Items) {
                self.shared.insert_all_mut(items, |hasher: &S, item: I| hasher.hash_item(item.as_item()));
            }
        }

        /// Builds a filter for exactly this number of items at the default rate of 1 %.
        ///
        /// If the iterator reports its exact length, the filter is sized for that length, and
        /// inserting takes at most as much memory again as the filter. If not, all items are hashed
        /// first, which takes 8 bytes per item. If the allocation of the filter fails, aborts as
        /// std's collections do.
        ///
        /// # Panics
        ///
        /// If the iterator reports a length for which no filter can be built.
        impl<T: ?Sized, S: HashItem<I::Borrowed> + Default, I: AsItem<T>> FromIterator<I> for $name<T, S> {
            fn from_iter<Items: IntoIterator<Item = I>>(items: Items) -> Self {
                of_items(items, S::default(), |hasher: &S, item: I| hasher.hash_item(item.as_item()))
            }
        }

        /// Inserts through a shared reference, in parallel.
        #[cfg(feature = "rayon")]
        impl<T: ?Sized, S: HashItem<I::Borrowed> + Sync, I: AsItem<T> + Send>
            rayon::iter::ParallelExtend<I> for &$name<T, S>
        {
            fn par_extend<Items>(&mut self, items: Items)
            where
                Items: rayon::iter::IntoParallelIterator<Item = I>,
            {
                use rayon::iter::ParallelIterator as _;
                let filter = *self;
                items.into_par_iter().for_each(|item| {
                    filter.shared.insert_hash(filter.hasher().hash_item(item.as_item()));
                });
            }
        }

        /// Inserts all items in the order that is fastest. While it runs, it may allocate as much
        /// memory again as the filter, and does without if the allocation fails. If the iterator
        /// panics, any items may be missing.
        #[cfg(feature = "rayon")]
        impl<T: ?Sized, S: HashItem<I::Borrowed> + Sync, I: AsItem<T> + Send>
            rayon::iter::ParallelExtend<I> for $name<T, S>
        {
            fn par_extend<Items>(&mut self, items: Items)
            where
                Items: rayon::iter::IntoParallelIterator<Item = I>,
            {
                let hash = |hasher: &S, item: I| hasher.hash_item(item.as_item());
                self.shared.par_insert_all_mut(items.into_par_iter(), hash);
            }
        }

        /// As [`FromIterator`], in parallel.
        #[cfg(feature = "rayon")]
        impl<T: ?Sized, S: HashItem<I::Borrowed> + Default + Sync, I: AsItem<T> + Send>
            rayon::iter::FromParallelIterator<I> for $name<T, S>
        {
            fn from_par_iter<Items>(items: Items) -> Self
            where
                Items: rayon::iter::IntoParallelIterator<Item = I>,
            {
                let hash = |hasher: &S, item: I| hasher.hash_item(item.as_item());
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

collection! { BloomFilter BlockedBloomFilter OnceBloomFilter CountingBloomFilter }

implement_from_arrays! { BloomFilter BlockedBloomFilter OnceBloomFilter CountingBloomFilter }

implement_debug! {
    BloomFilter: geometry capacity;
    BlockedBloomFilter: geometry capacity;
    OnceBloomFilter: geometry capacity;
    CountingBloomFilter: geometry capacity;
    ScalableBloomFilter: capacity size_in_bytes;
    OnceScalableBloomFilter: capacity size_in_bytes;
    RotatingBloomFilter: window geometry;
}
