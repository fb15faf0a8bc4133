//! The common traits, implemented for the filter types.

use core::convert::Infallible;

use tamis_core::{BuildError, Figures, Filter, Hashed, HashedCopies, OnceFilter, WithRate};
use tamis_hash::HashItem;

use crate::array::Removable as _;
use crate::array::classic::Classic;
use crate::array::counting::Counting;
use crate::array::line::InLine;
use crate::array::once::OnceArray;
use crate::bits::Free;
use crate::blocked::BlockedBloomFilter;
use crate::builder::Builder;
use crate::classic::BloomFilter;
use crate::counting::CountingBloomFilter;
use crate::filter::{Buildable, InLines, sealed};
use crate::once::OnceBloomFilter;
use crate::shared::Shared;

macro_rules! filters {
    ($($name:ident, $array:ty;)*) => {$(
        impl<T: ?Sized, S> sealed::Sealed for $name<T, S> {
            type Array = $array;
            type Stored = T;
            type Hasher = S;

            fn from_shared(shared: Shared<$array, T, S>) -> Self {
                Self { shared }
            }

            #[inline]
            fn shared(&self) -> &Shared<$array, T, S> {
                &self.shared
            }

            #[inline]
            fn shared_mut(&mut self) -> &mut Shared<$array, T, S> {
                &mut self.shared
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
                self.shared.hasher()
            }

            fn capacity(&self) -> usize {
                self.shared.capacity()
            }

            fn size_in_bytes(&self) -> u64 {
                self.geometry().size_in_bytes()
            }

            fn figures(&self) -> Figures {
                self.shared.figures()
            }

            fn figures_sampled(&self, lines: u64) -> Figures {
                self.shared.figures_sampled(lines)
            }

            fn saturation(&self) -> f64 {
                self.shared.saturation()
            }
        }

        impl<T: ?Sized, S> Hashed for $name<T, S> {
            type Inserted = bool;
            type InsertError = Infallible;

            #[inline]
            fn insert_hash(&self, hash: u64) -> bool {
                self.shared.insert_hash(hash)
            }

            #[inline]
            fn contains_hash(&self, hash: u64) -> bool {
                self.shared.contains_hash(hash)
            }

            #[inline]
            fn insert_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, bool),
            ) {
                self.shared.insert_many_with(hashes, on_result);
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
    BloomFilter, Classic;
    BlockedBloomFilter, InLine<Free>;
    OnceBloomFilter, OnceArray;
    CountingBloomFilter, Counting;
}

impl<T: ?Sized, S> HashedCopies for CountingBloomFilter<T, S> {
    #[inline]
    fn remove_hash(&self, hash: u64) -> bool {
        self.shared.array.remove(hash)
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
        self.shared.array.count(hash)
    }
}

impl<T: ?Sized, S: HashItem<T>> OnceFilter for OnceBloomFilter<T, S> {}

impl<T: ?Sized, S> InLines for BlockedBloomFilter<T, S> {}
impl<T: ?Sized, S> InLines for OnceBloomFilter<T, S> {}
impl<T: ?Sized, S> InLines for CountingBloomFilter<T, S> {}
