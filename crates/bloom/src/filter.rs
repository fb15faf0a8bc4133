//! What the three filter types have in common: traits for this crate's generic types, and for signatures of users.

/// Access to the shared part of a filter, for this crate alone.
pub(crate) mod sealed {
    use crate::array::Array;
    use crate::shared::Shared;

    pub trait Sealed: Sized {
        type Array: Array;
        type Stored: ?Sized;
        type Hasher;

        fn from_shared(shared: Shared<Self::Array, Self::Stored, Self::Hasher>) -> Self;
        fn shared(&self) -> &Shared<Self::Array, Self::Stored, Self::Hasher>;
        fn shared_mut(&mut self) -> &mut Shared<Self::Array, Self::Stored, Self::Hasher>;
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
