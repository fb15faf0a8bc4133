//! The common traits and the traits of a collection, implemented for the growing filters.

use core::convert::Infallible;
use core::fmt;

use tamis_core::{AsItem, BuildError, Figures, Filter, Hashed, OnceFilter, WithRate};
use tamis_hash::HashItem;

use crate::bits::{Free, Locked};
use crate::chain::Chain;
use crate::growing::{Growing, ScalableBuilder, sealed};
use crate::once_scalable::OnceScalableBloomFilter;
use crate::scalable::ScalableBloomFilter;

macro_rules! filters {
    ($($name:ident, $claim:ty;)*) => {$(
        impl<T: ?Sized, S> sealed::Sealed for $name<T, S> {
            type Claim = $claim;
            type Stored = T;
            type Hasher = S;

            fn from_chain(chain: Chain<$claim, T, S>) -> Self {
                Self { chain }
            }

            fn chain(&self) -> &Chain<$claim, T, S> {
                &self.chain
            }
        }

        impl<T: ?Sized, S> Growing for $name<T, S> {
            type Item = T;
            type WithHasher<R> = $name<T, R>;
        }

        impl<T: ?Sized, S: HashItem<T>> Filter for $name<T, S> {
            type Item = T;
            type Hasher = S;

            #[inline]
            fn hasher(&self) -> &S {
                self.chain.hasher()
            }

            fn capacity(&self) -> usize {
                self.chain.slices.capacity()
            }

            fn size_in_bytes(&self) -> u64 {
                self.chain.size_in_bytes()
            }

            fn figures(&self) -> Figures {
                self.chain.slices.figures(None)
            }

            fn figures_sampled(&self, lines: u64) -> Figures {
                self.chain.slices.figures(Some(lines))
            }
        }

        impl<T: ?Sized, S> Hashed for $name<T, S> {
            type Inserted = bool;
            type InsertError = Infallible;

            #[inline]
            fn insert_hash(&self, hash: u64) -> bool {
                self.chain.insert_hash(hash)
            }

            #[inline]
            fn contains_hash(&self, hash: u64) -> bool {
                self.chain.contains_hash(hash)
            }

            #[inline]
            fn insert_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, bool),
            ) {
                self.chain.insert_many_with(hashes, on_result);
            }

            #[inline]
            fn contains_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, bool),
            ) {
                self.chain.contains_many_with(hashes, on_result);
            }

            #[inline]
            fn prefetch_hash(&self, hash: u64) {
                self.chain.prefetch(hash);
            }
        }

        /// The capacity is that of the first slice.
        impl<T: ?Sized, S: HashItem<T>> WithRate for $name<T, S> {
            fn with_rate(capacity: usize, rate: f64, hasher: S) -> Result<Self, BuildError> {
                ScalableBuilder::new(hasher).capacity(capacity).false_positive_rate(rate).build()
            }
        }

        /// Copies the filter while other threads may insert. The copy has every item whose insert
        /// happened before. Of an item that is inserted concurrently it may have all bits, some, or
        /// none.
        impl<T: ?Sized, S: Clone> Clone for $name<T, S> {
            fn clone(&self) -> Self {
                Self { chain: self.chain.snapshot() }
            }
        }

        /// Shows the sizes, never the bits.
        impl<T: ?Sized, S> fmt::Debug for $name<T, S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("slices", &self.chain.slices.len())
                    .field("capacity", &self.capacity())
                    .finish_non_exhaustive()
            }
        }

        /// Inserts all items. The filter grows as it needs.
        impl<T: ?Sized, S: HashItem<I::Borrowed>, I: AsItem<T>> Extend<I> for $name<T, S> {
            fn extend<Items: IntoIterator<Item = I>>(&mut self, items: Items) {
                self.insert_many_with(items, |_, _| ());
            }
        }

        /// Inserts through a shared reference: other threads may insert and query concurrently.
        impl<T: ?Sized, S: HashItem<I::Borrowed>, I: AsItem<T>> Extend<I> for &$name<T, S> {
            fn extend<Items: IntoIterator<Item = I>>(&mut self, items: Items) {
                self.insert_many_with(items, |_, _| ());
            }
        }
    )*};
}

filters! {
    ScalableBloomFilter, Free;
    OnceScalableBloomFilter, Locked;
}

impl<T: ?Sized, S: HashItem<T>> OnceFilter for OnceScalableBloomFilter<T, S> {}
