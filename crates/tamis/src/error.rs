//! One error type for code that builds, fills, combines, saves and loads filters.

use core::convert::Infallible;
use core::fmt;

use tamis_bloom::UnionError;
use tamis_core::BuildError;
use tamis_cuckoo::{InsertError, MergeError};
#[cfg(feature = "formats")]
use tamis_formats::{LoadError, SaveError};

/// An error of building, filling, combining, saving or loading a filter. A function that returns
/// this type can use `?` on each of these errors.
///
/// The errors of normalizations, of sets of filters, and of the filters of other systems (all in
/// the module `formats`) are not among them.
///
/// # Examples
///
/// ```
/// use tamis::{CuckooFilter, Error, OnceBloomFilter};
///
/// fn run() -> Result<(), Error> {
///     let seen = OnceBloomFilter::<str>::with_capacity(1000)?;
///     let online = CuckooFilter::<str>::with_capacity(1000)?;
///     if seen.insert("ada") {
///         online.insert("ada")?;
///     }
///     Ok(())
/// }
///
/// assert!(run().is_ok());
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A filter cannot be built.
    Build(BuildError),
    /// An item cannot be inserted.
    Insert(InsertError),
    /// Two Bloom filters cannot be united.
    Union(UnionError),
    /// Two cuckoo filters cannot be merged.
    Merge(MergeError),
    /// A filter cannot be saved.
    #[cfg(feature = "formats")]
    Save(SaveError),
    /// A file or a stream cannot be read as a filter.
    #[cfg(feature = "formats")]
    Load(LoadError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::Insert(error) => error.fmt(f),
            Self::Union(error) => error.fmt(f),
            Self::Merge(error) => error.fmt(f),
            #[cfg(feature = "formats")]
            Self::Save(error) => error.fmt(f),
            #[cfg(feature = "formats")]
            Self::Load(error) => error.fmt(f),
        }
    }
}

/// The message is that of the inner error, so the source is the inner error's source.
impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Build(error) => error.source(),
            Self::Insert(error) => error.source(),
            Self::Union(error) => error.source(),
            Self::Merge(error) => error.source(),
            #[cfg(feature = "formats")]
            Self::Save(error) => error.source(),
            #[cfg(feature = "formats")]
            Self::Load(error) => error.source(),
        }
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl From<InsertError> for Error {
    fn from(error: InsertError) -> Self {
        Self::Insert(error)
    }
}

impl From<UnionError> for Error {
    fn from(error: UnionError) -> Self {
        Self::Union(error)
    }
}

impl From<MergeError> for Error {
    fn from(error: MergeError) -> Self {
        Self::Merge(error)
    }
}

#[cfg(feature = "formats")]
impl From<SaveError> for Error {
    fn from(error: SaveError) -> Self {
        Self::Save(error)
    }
}

#[cfg(feature = "formats")]
impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

/// Lets generic code use `?` with filters whose inserts cannot fail.
impl From<Infallible> for Error {
    fn from(error: Infallible) -> Self {
        match error {}
    }
}
