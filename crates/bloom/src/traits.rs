//! The common traits, implemented for the filter types.

use core::convert::Infallible;
use core::marker::PhantomData;

use tamis_core::{HashedCopies, OnceFilter, implement_filter, implement_hashed};
use tamis_hash::HashItem;

use crate::array::Removable as _;
use crate::array::classic::Classic;
use crate::array::counting::Counting;
use crate::array::line::InLine;
use crate::array::once::OnceArray;
use crate::bits::{Free, Locked};
use crate::blocked::BlockedBloomFilter;
use crate::builder::Builder;
use crate::chain::slices::Slices;
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

implement_filter! {
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

implement_hashed! {
    BloomFilter.shared -> bool, Infallible: insert_hash, insert_many_with, contains_hash;
    BlockedBloomFilter.shared -> bool, Infallible: insert_hash, insert_many_with, contains_hash;
    OnceBloomFilter.shared -> bool, Infallible: insert_hash, insert_many_with, contains_hash;
    CountingBloomFilter.shared -> bool, Infallible: insert_hash, insert_many_with, contains_hash;
    ScalableBloomFilter.slices -> bool, Infallible: insert, insert_many_with, contains;
    OnceScalableBloomFilter.slices -> bool, Infallible: insert, insert_many_with, contains;
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
            type Hasher = S;

            fn of_slices(slices: Slices<$claim>, hasher: S) -> Self {
                Self { slices, hasher, item: PhantomData }
            }

            fn slices(&self) -> &Slices<$claim> {
                &self.slices
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
