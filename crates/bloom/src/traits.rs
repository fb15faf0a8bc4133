//! The common traits, implemented for the filter types.

use core::convert::Infallible;

use tamis_core::{BuildError, Figures, Filter, Hashed, HashedCopies, OnceFilter, WithRate};
use tamis_hash::HashItem;

use crate::array::Removable as _;
use crate::array::classic::Classic;
use crate::array::counting::Counting;
use crate::array::line::InLine;
use crate::array::once::OnceArray;
use crate::bits::{Free, Locked};
use crate::blocked::BlockedBloomFilter;
use crate::builder::Builder;
use crate::chain::Chain;
use crate::classic::BloomFilter;
use crate::counting::CountingBloomFilter;
use crate::filter::{self, Buildable, InLines};
use crate::growing::{self, Growing, ScalableBuilder};
use crate::once::OnceBloomFilter;
use crate::once_scalable::OnceScalableBloomFilter;
use crate::rotating::RotatingBloomFilter;
use crate::rotating::builder::RotatingBuilder;
use crate::scalable::ScalableBloomFilter;
use crate::shared::Shared;

/// Implements the traits of filters, by methods of the type and its builder.
macro_rules! filters {
    ($($(#[$doc:meta])* $name:ident: $builder:ident;)*) => {$(
        impl<T: ?Sized, S: HashItem<T>> Filter for $name<T, S> {
            type Item = T;
            type Hasher = S;

            #[inline]
            fn hasher(&self) -> &S {
                self.hasher()
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

            fn saturation(&self) -> f64 {
                self.saturation()
            }
        }

        $(#[$doc])*
        impl<T: ?Sized, S: HashItem<T>> WithRate for $name<T, S> {
            fn with_rate(capacity: usize, rate: f64, hasher: S) -> Result<Self, BuildError> {
                $builder::new(hasher).capacity(capacity).false_positive_rate(rate).build()
            }
        }
    )*};
}

filters! {
    BloomFilter: Builder;
    BlockedBloomFilter: Builder;
    OnceBloomFilter: Builder;
    CountingBloomFilter: Builder;
    /// The capacity is that of the first slice.
    ScalableBloomFilter: ScalableBuilder;
    /// The capacity is that of the first slice.
    OnceScalableBloomFilter: ScalableBuilder;
    /// Builds a filter with a window by items.
    RotatingBloomFilter: RotatingBuilder;
}

/// Implements the operations on hashes, by those of a field.
macro_rules! hashed {
    ($($name:ident.$field:ident)*) => {$(
        impl<T: ?Sized, S> Hashed for $name<T, S> {
            type Inserted = bool;
            type InsertError = Infallible;

            #[inline]
            fn insert_hash(&self, hash: u64) -> bool {
                self.$field.insert_hash(hash)
            }

            #[inline]
            fn contains_hash(&self, hash: u64) -> bool {
                self.$field.contains_hash(hash)
            }

            #[inline]
            fn insert_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, bool),
            ) {
                self.$field.insert_many_with(hashes, on_result);
            }

            #[inline]
            fn contains_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, bool),
            ) {
                self.$field.contains_many_with(hashes, on_result);
            }

            #[inline]
            fn prefetch_hash(&self, hash: u64) {
                self.$field.prefetch(hash);
            }
        }
    )*};
}

hashed! {
    BloomFilter.shared
    BlockedBloomFilter.shared
    OnceBloomFilter.shared
    CountingBloomFilter.shared
    ScalableBloomFilter.chain
    OnceScalableBloomFilter.chain
}

/// Gives builders access to the filters of a fixed size.
macro_rules! buildable {
    ($($name:ident, $array:ty;)*) => {$(
        impl<T: ?Sized, S> filter::sealed::Sealed for $name<T, S> {
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
    )*};
}

buildable! {
    BloomFilter, Classic;
    BlockedBloomFilter, InLine<Free>;
    OnceBloomFilter, OnceArray;
    CountingBloomFilter, Counting;
}

/// Gives builders access to the filters that grow.
macro_rules! growing {
    ($($name:ident, $claim:ty;)*) => {$(
        impl<T: ?Sized, S> growing::sealed::Sealed for $name<T, S> {
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
    )*};
}

growing! {
    ScalableBloomFilter, Free;
    OnceScalableBloomFilter, Locked;
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
impl<T: ?Sized, S: HashItem<T>> OnceFilter for OnceScalableBloomFilter<T, S> {}

/// Exactly one of concurrent inserts of an item returns `Ok(true)`. The filter forgets: an item
/// that has left the window is new again, and then one more insert returns `Ok(true)`.
impl<T: ?Sized, S: HashItem<T>> OnceFilter for RotatingBloomFilter<T, S> {}

impl<T: ?Sized, S> InLines for BlockedBloomFilter<T, S> {}
impl<T: ?Sized, S> InLines for OnceBloomFilter<T, S> {}
impl<T: ?Sized, S> InLines for CountingBloomFilter<T, S> {}
