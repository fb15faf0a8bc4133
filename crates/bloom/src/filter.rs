//! The traits that the filter types have in common: for generic types of this crate, and for
//! signatures of users.

/// Access to the shared part of a filter, for this crate only.
///
/// The types that the trait names are `pub`, since it is a supertrait of a public one. No path
/// names them outside this crate. Generic code outside can call these methods, but what they return
/// has no public method.
pub(crate) mod sealed {
    use crate::array::Array;
    use crate::shared::Shared;

    pub trait Sealed: Sized {
        type Array: Array;
        /// The type of the items, by another name than the one in `Buildable`.
        type Stored: ?Sized;
        type Hasher;

        fn from_shared(shared: Shared<Self::Array, Self::Stored, Self::Hasher>) -> Self;
        fn shared(&self) -> &Shared<Self::Array, Self::Stored, Self::Hasher>;
        fn shared_mut(&mut self) -> &mut Shared<Self::Array, Self::Stored, Self::Hasher>;
    }
}

/// A filter type of this crate: [`Builder`](crate::Builder) builds it, and
/// [`Exclusive`](crate::Exclusive) gives exclusive access to it.
///
/// The trait is sealed and serves signatures. Code that is generic over filters uses
/// [`Filter`](crate::Filter).
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
    /// The type of the items.
    type Item: ?Sized;

    /// The same filter type with another hasher.
    type WithHasher<S>: Buildable<Item = Self::Item> + sealed::Sealed<Hasher = S>;
}

/// A filter type in which each item lies in one line, for
/// [`Builder::words`](crate::Builder::words). Sealed.
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
