//! What the two filter types have in common, for the builder.

use crate::shared::Shared;
use crate::{BuildError, CuckooFilter, Geometry, OnceCuckooFilter};

/// The machinery behind [`Filter`], out of reach.
pub(crate) mod sealed {
    use crate::{BuildError, Geometry};

    pub trait Sealed: Sized {
        type Hasher;

        fn from_parts(
            geometry: Geometry,
            capacity: u64,
            hasher: Self::Hasher,
        ) -> Result<Self, BuildError>;
    }
}

/// A filter type of this crate: what [`Builder`](crate::Builder) builds.
///
/// Sealed; it is here to be read in signatures, its methods are those of the types.
///
/// # Examples
///
/// ```
/// use tamis_cuckoo::{BuildError, Builder, CuckooFilter, Filter};
///
/// fn size_of<F: Filter>(builder: &Builder<F>) -> Result<u64, BuildError> {
///     Ok(builder.geometry()?.size_in_bytes())
/// }
///
/// assert!(size_of(&CuckooFilter::<str>::builder().capacity(1_000_000))? < 2_000_000);
/// # Ok::<(), BuildError>(())
/// ```
pub trait Filter: sealed::Sealed {
    /// What is inserted.
    type Item: ?Sized;

    /// The same type of filter with another hasher.
    type WithHasher<S>: Filter<Item = Self::Item> + sealed::Sealed<Hasher = S>;
}

macro_rules! filters {
    ($($name:ident)*) => {$(
        impl<T: ?Sized, S> sealed::Sealed for $name<T, S> {
            type Hasher = S;

            fn from_parts(geometry: Geometry, capacity: u64, hasher: S) -> Result<Self, BuildError> {
                Ok(Self { shared: Shared::new(geometry, capacity, hasher)? })
            }
        }

        impl<T: ?Sized, S> Filter for $name<T, S> {
            type Item = T;
            type WithHasher<R> = $name<T, R>;
        }
    )*};
}

filters! { CuckooFilter OnceCuckooFilter }
