//! What the three filter types have in common, for the types that are generic over them.

use crate::array::{Array, Classic, InLine};
use crate::bits::Free;
use crate::exact::Exact;
use crate::geometry::Kind;
use crate::shared::Shared;
use crate::{BlockedBloomFilter, BloomFilter, BuildError, Geometry, OnceBloomFilter};

/// The machinery behind [`Filter`], out of reach.
pub(crate) mod sealed {
    use crate::geometry::Kind;
    use crate::{BuildError, Geometry};

    pub trait Sealed: Sized {
        const KIND: Kind;
        type Hasher;

        fn from_parts(
            geometry: Geometry,
            capacity: u64,
            hasher: Self::Hasher,
        ) -> Result<Self, BuildError>;
        fn hasher(&self) -> &Self::Hasher;
        fn has(&self, hash: u64) -> bool;
        fn set_alone(&mut self, hash: u64) -> bool;
        fn set_all_alone<I>(
            &mut self,
            items: impl IntoIterator<Item = I>,
            hash: impl Fn(&Self::Hasher, I) -> u64,
        );
        fn set_many_alone<I>(
            &mut self,
            items: impl IntoIterator<Item = I>,
            hash: impl Fn(&Self::Hasher, I) -> u64,
            told: impl FnMut(usize, bool),
        );
    }
}

/// A filter type of this crate: what [`Builder`](crate::Builder) builds and
/// [`Exclusive`](crate::Exclusive) gives alone.
///
/// Sealed; it is here to be read in signatures, its methods are those of the types.
///
/// # Examples
///
/// ```
/// use tamis_bloom::{BloomFilter, BlockedBloomFilter, BuildError, Builder, Filter, Geometry};
///
/// fn size_of<F: Filter>(builder: &Builder<F>) -> Result<u64, BuildError> {
///     Ok(builder.geometry()?.size_in_bytes())
/// }
///
/// let classic = BloomFilter::<str>::builder().capacity(1_000_000);
/// let blocked = BlockedBloomFilter::<str>::builder().capacity(1_000_000);
/// assert!(size_of(&classic)? < size_of(&blocked)?);
/// # Ok::<(), BuildError>(())
/// ```
pub trait Filter: sealed::Sealed {
    /// What is inserted.
    type Item: ?Sized;

    /// The same type of filter with another hasher.
    type WithHasher<S>: Filter<Item = Self::Item> + sealed::Sealed<Hasher = S>;
}

macro_rules! filters {
    ($($name:ident, $array:ty;)*) => {$(
        impl<T: ?Sized, S> sealed::Sealed for $name<T, S> {
            const KIND: Kind = <$array as Array>::KIND;
            type Hasher = S;

            fn from_parts(geometry: Geometry, capacity: u64, hasher: S) -> Result<Self, BuildError> {
                Ok(Self { shared: Shared::new(geometry, capacity, hasher)? })
            }

            #[inline]
            fn hasher(&self) -> &S {
                self.shared.hasher()
            }

            #[inline]
            fn has(&self, hash: u64) -> bool {
                self.shared.has(hash)
            }

            #[inline]
            fn set_alone(&mut self, hash: u64) -> bool {
                self.shared.set_alone(hash)
            }

            #[inline]
            fn set_all_alone<I>(
                &mut self,
                items: impl IntoIterator<Item = I>,
                hash: impl Fn(&S, I) -> u64,
            ) {
                self.shared.set_all_alone(items, hash);
            }

            #[inline]
            fn set_many_alone<I>(
                &mut self,
                items: impl IntoIterator<Item = I>,
                hash: impl Fn(&S, I) -> u64,
                told: impl FnMut(usize, bool),
            ) {
                self.shared.set_many_alone(items, hash, told);
            }
        }

        impl<T: ?Sized, S> Filter for $name<T, S> {
            type Item = T;
            type WithHasher<R> = $name<T, R>;
        }
    )*};
}

filters! {
    BloomFilter, Classic;
    BlockedBloomFilter, InLine<Free>;
    OnceBloomFilter, Exact;
}
