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

/// Implements the traits of an error for the errors within.
macro_rules! inner {
    ($($(#[$cfg:meta])* $variant:ident($inner:ty))*) => {
        impl fmt::Display for Error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($(#[$cfg])* Self::$variant(error) => error.fmt(f),)*
                }
            }
        }

        /// The message is that of the inner error, so the source is the inner error's source.
        impl core::error::Error for Error {
            fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
                match self {
                    $($(#[$cfg])* Self::$variant(error) => error.source(),)*
                }
            }
        }

        $(
            $(#[$cfg])*
            impl From<$inner> for Error {
                fn from(error: $inner) -> Self {
                    Self::$variant(error)
                }
            }
        )*
    };
}

inner! {
    Build(BuildError)
    Insert(InsertError)
    Union(UnionError)
    Merge(MergeError)
    #[cfg(feature = "formats")]
    Save(SaveError)
    #[cfg(feature = "formats")]
    Load(LoadError)
}

/// Lets generic code use `?` with filters whose inserts cannot fail.
impl From<Infallible> for Error {
    fn from(error: Infallible) -> Self {
        match error {}
    }
}
