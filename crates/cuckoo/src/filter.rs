//! The traits that both filter types implement: for the builder, and for generic code of users.

use tamis_core::{BuildError, Figures, Filter, Hashed, HashedCopies, OnceFilter, WithRate};
use tamis_hash::HashItem;

use crate::builder::{Buildable, Builder, sealed};
use crate::error::InsertError;
use crate::multiset::CuckooFilter;
use crate::once::OnceCuckooFilter;
use crate::shared::Shared;

macro_rules! filters {
    ($($name:ident: $insert:ident => $insert_many_with:ident, $inserted:ty;)*) => {$(
        impl<T: ?Sized, S> sealed::Sealed for $name<T, S> {
            type Stored = T;
            type Hasher = S;

            fn from_shared(shared: Shared<T, S>) -> Self {
                Self { shared }
            }

            fn shared(&self) -> &Shared<T, S> {
                &self.shared
            }
        }

        impl<T: ?Sized, S> Buildable for $name<T, S> {
            type Item = T;
            type WithHasher<R> = $name<T, R>;
        }

        impl<T: ?Sized, S: HashItem<T>> Filter for $name<T, S> {
            type Item = T;
            type Hasher = S;

            #[inline]
            fn hasher(&self) -> &S {
                &self.shared.hasher
            }

            fn capacity(&self) -> usize {
                self.shared.capacity()
            }

            fn size_in_bytes(&self) -> u64 {
                self.shared.size_in_bytes()
            }

            fn figures(&self) -> Figures {
                self.shared.read_figures(None)
            }

            fn figures_sampled(&self, lines: u64) -> Figures {
                self.shared.read_figures(Some(lines))
            }

            fn saturation(&self) -> f64 {
                self.shared.saturation()
            }
        }

        impl<T: ?Sized, S> Hashed for $name<T, S> {
            type Inserted = Result<$inserted, InsertError>;
            type InsertError = InsertError;

            #[inline]
            fn insert_hash(&self, hash: u64) -> Result<$inserted, InsertError> {
                self.shared.$insert(hash)
            }

            #[inline]
            fn contains_hash(&self, hash: u64) -> bool {
                self.shared.contains(hash)
            }

            #[inline]
            fn insert_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, Result<$inserted, InsertError>),
            ) {
                self.shared.$insert_many_with(hashes, on_result);
            }

            #[inline]
            fn contains_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, bool),
            ) {
                self.shared.contains_many_with(hashes, on_result);
            }

            #[inline]
            fn prefetch_hash(&self, hash: u64) {
                self.shared.prefetch(hash);
            }
        }

        impl<T: ?Sized, S: HashItem<T>> WithRate for $name<T, S> {
            fn with_rate(capacity: usize, rate: f64, hasher: S) -> Result<Self, BuildError> {
                Builder::new(hasher).capacity(capacity).false_positive_rate(rate).build()
            }
        }
    )*};
}

filters! {
    CuckooFilter: insert => insert_many_with, ();
    OnceCuckooFilter: insert_once => insert_once_many, bool;
}

impl<T: ?Sized, S> HashedCopies for CuckooFilter<T, S> {
    #[inline]
    fn remove_hash(&self, hash: u64) -> bool {
        self.shared.remove(hash)
    }

    #[inline]
    fn remove_hashes(
        &self,
        hashes: impl IntoIterator<Item = u64>,
        on_result: impl FnMut(usize, bool),
    ) {
        self.shared.remove_many_with(hashes, on_result);
    }

    #[inline]
    fn count_hash(&self, hash: u64) -> u32 {
        self.shared.count(hash)
    }
}

impl<T: ?Sized, S: HashItem<T>> OnceFilter for OnceCuckooFilter<T, S> {}
