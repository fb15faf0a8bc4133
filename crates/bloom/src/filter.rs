//! What the three filter types have in common: for this crate's generic types, and for generic code of users.

use core::convert::Infallible;

use tamis_hash::HashItem;

use crate::array::{Array, Classic, InLine};
use crate::bits::Free;
use crate::geometry::Kind;
use crate::once_array::OnceArray;
use crate::shared::Shared;
use crate::{
    BlockedBloomFilter, BloomFilter, BuildError, Builder, Filter, Geometry, OnceBloomFilter,
    OnceFilter, Sampled, WithRate,
};

/// The machinery behind [`Buildable`], out of reach.
pub(crate) mod sealed {
    use crate::geometry::Kind;
    use crate::{BuildError, Geometry};

    pub trait Sealed: Sized {
        const KIND: Kind;
        type Hasher;

        fn from_parts(
            geometry: Geometry,
            capacity: usize,
            hasher: Self::Hasher,
        ) -> Result<Self, BuildError>;
        fn hasher(&self) -> &Self::Hasher;
        fn contains_hash(&self, hash: u64) -> bool;
        fn insert_hash_mut(&mut self, hash: u64) -> bool;
        fn insert_all_mut<I>(
            &mut self,
            items: impl IntoIterator<Item = I>,
            hash: impl Fn(&Self::Hasher, I) -> u64,
        );
        fn insert_many_mut<I>(
            &mut self,
            items: impl IntoIterator<Item = I>,
            hash: impl Fn(&Self::Hasher, I) -> u64,
            on_result: impl FnMut(usize, bool),
        );
    }
}

/// A filter type of this crate: what [`Builder`](crate::Builder) builds and
/// [`Exclusive`](crate::Exclusive) gives alone.
///
/// Sealed, for signatures; code that is generic over filters uses [`Filter`].
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::bloom::{Buildable, Builder};
/// use tamis::{BlockedBloomFilter, BloomFilter, BuildError};
///
/// fn size_of<F: Buildable>(builder: &Builder<F>) -> Result<u64, BuildError> {
///     Ok(builder.geometry()?.size_in_bytes())
/// }
///
/// let classic = BloomFilter::<str>::builder().capacity(1_000_000);
/// let blocked = BlockedBloomFilter::<str>::builder().capacity(1_000_000);
/// assert!(size_of(&classic)? < size_of(&blocked)?);
/// # Ok::<(), BuildError>(())
/// ```
pub trait Buildable: sealed::Sealed {
    /// What is inserted.
    type Item: ?Sized;

    /// The same type of filter with another hasher.
    type WithHasher<S>: Buildable<Item = Self::Item> + sealed::Sealed<Hasher = S>;
}

macro_rules! filters {
    ($($name:ident, $array:ty;)*) => {$(
        impl<T: ?Sized, S> sealed::Sealed for $name<T, S> {
            const KIND: Kind = <$array as Array>::KIND;
            type Hasher = S;

            fn from_parts(geometry: Geometry, capacity: usize, hasher: S) -> Result<Self, BuildError> {
                Ok(Self { shared: Shared::new(geometry, capacity, hasher)? })
            }

            #[inline]
            fn hasher(&self) -> &S {
                self.shared.hasher()
            }

            #[inline]
            fn contains_hash(&self, hash: u64) -> bool {
                self.shared.contains_hash(hash)
            }

            #[inline]
            fn insert_hash_mut(&mut self, hash: u64) -> bool {
                self.shared.insert_hash_mut(hash)
            }

            #[inline]
            fn insert_all_mut<I>(
                &mut self,
                items: impl IntoIterator<Item = I>,
                hash: impl Fn(&S, I) -> u64,
            ) {
                self.shared.insert_all_mut(items, hash);
            }

            #[inline]
            fn insert_many_mut<I>(
                &mut self,
                items: impl IntoIterator<Item = I>,
                hash: impl Fn(&S, I) -> u64,
                on_result: impl FnMut(usize, bool),
            ) {
                self.shared.insert_many_mut(items, hash, on_result);
            }
        }

        impl<T: ?Sized, S> Buildable for $name<T, S> {
            type Item = T;
            type WithHasher<R> = $name<T, R>;
        }

        impl<T: ?Sized, S: HashItem<T>> Filter for $name<T, S> {
            type Item = T;
            type Hasher = S;
            type InsertError = Infallible;

            #[inline]
            fn hasher(&self) -> &S {
                self.shared.hasher()
            }

            #[inline]
            fn try_insert_hash(&self, hash: u64) -> Result<bool, Infallible> {
                Ok(self.shared.insert_hash(hash))
            }

            #[inline]
            fn contains_hash(&self, hash: u64) -> bool {
                self.shared.contains_hash(hash)
            }

            #[inline]
            fn try_insert_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                mut on_result: impl FnMut(usize, Result<bool, Infallible>),
            ) {
                self.shared.insert_many(hashes, |number, new| on_result(number, Ok(new)));
            }

            #[inline]
            fn contains_hashes(
                &self,
                hashes: impl IntoIterator<Item = u64>,
                on_result: impl FnMut(usize, bool),
            ) {
                self.shared.contains_many(hashes, on_result);
            }

            fn capacity(&self) -> usize {
                self.shared.capacity()
            }

            fn size_in_bytes(&self) -> u64 {
                self.geometry().size_in_bytes()
            }

            fn len_estimate(&self) -> f64 {
                self.shared.len_estimate()
            }

            fn saturation(&self) -> f64 {
                self.shared.saturation()
            }

            fn false_positive_rate(&self) -> f64 {
                self.shared.false_positive_rate()
            }

            fn len_estimate_sampled(&self, lines: u64) -> Sampled {
                self.shared.len_estimate_sampled(lines)
            }

            fn saturation_sampled(&self, lines: u64) -> Sampled {
                self.shared.saturation_sampled(lines)
            }

            fn false_positive_rate_sampled(&self, lines: u64) -> Sampled {
                self.shared.false_positive_rate_sampled(lines)
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
}

impl<T: ?Sized, S: HashItem<T>> OnceFilter for OnceBloomFilter<T, S> {}

/// A filter type whose items lie in one line each: what [`Builder::words`] is for. Sealed.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::bloom::{Builder, Geometry, InLines};
/// use tamis::{BlockedBloomFilter, BuildError};
///
/// fn smallest<F: InLines>(builder: Builder<F>) -> Result<Geometry, BuildError> {
///     builder.words(8).geometry()
/// }
///
/// let builder = BlockedBloomFilter::<str>::builder().capacity(1000).false_positive_rate(1e-6);
/// assert_eq!(smallest(builder)?.words(), 8);
/// # Ok::<(), BuildError>(())
/// ```
pub trait InLines: Buildable {}

impl<T: ?Sized, S> InLines for BlockedBloomFilter<T, S> {}
impl<T: ?Sized, S> InLines for OnceBloomFilter<T, S> {}
