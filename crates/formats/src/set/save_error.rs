//! Why a set of filters cannot be written.

use core::error::Error;
use core::fmt;
use std::io;

use super::error::SetError;
use super::limits::MAX_NAME;
use crate::kind::Kind;
use crate::save_error::SaveError;

/// The reason why a filter was not added to a set, or why a set was not written.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{SetSaveError, SetStream};
/// use tamis::{BloomFilter, hash::Rapid};
///
/// let filter = BloomFilter::<str>::builder().capacity(10).hasher(Rapid::with_seed(1)).build()?;
/// let mut set = SetStream::new(Vec::new());
/// set.add("monday", &filter)?;
/// // The set is as before: another name can be tried.
/// let error = set.add("monday", &filter).unwrap_err();
/// assert!(matches!(error, SetSaveError::DuplicateName { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum SetSaveError {
    /// The filter or the index cannot be written.
    Save(SaveError),
    /// The set has a filter of this name.
    DuplicateName {
        /// The name.
        name: Vec<u8>,
    },
    /// The name has more than 65,535 bytes.
    LongName {
        /// The number of bytes.
        len: usize,
    },
    /// The filter has another hash algorithm or another seed than the filters in the set.
    OtherHash,
    /// The filter to copy cannot be read from its set, or has another normalization than this set.
    Copy(SetError),
    /// The filter grows, so it cannot be used in place.
    Grows {
        /// The kind of the filter.
        kind: Kind,
    },
    /// A part of a filter was written before an error, so that nothing can follow.
    Broken,
}

impl fmt::Display for SetSaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Save(error) => error.fmt(f),
            Self::DuplicateName { name } => {
                write!(f, "the set has a filter of the name `{}`", name.escape_ascii())
            }
            Self::LongName { len } => {
                write!(f, "the name has {len} bytes; it can have {MAX_NAME}")
            }
            Self::OtherHash => f.write_str(
                "the filter has another hash algorithm or another seed than the filters in the set",
            ),
            Self::Copy(error) => error.fmt(f),
            Self::Grows { kind } => {
                write!(f, "the {kind} grows, and a set has filters of a fixed size")
            }
            Self::Broken => {
                f.write_str("the set cannot be continued: an error left a part of a filter in it")
            }
        }
    }
}

/// The message of an inner error is its own, so the source is its source.
impl Error for SetSaveError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Save(error) => error.source(),
            Self::Copy(error) => error.source(),
            _ => None,
        }
    }
}

impl From<SaveError> for SetSaveError {
    fn from(error: SaveError) -> Self {
        Self::Save(error)
    }
}

impl From<SetError> for SetSaveError {
    fn from(error: SetError) -> Self {
        Self::Copy(error)
    }
}

impl From<io::Error> for SetSaveError {
    fn from(error: io::Error) -> Self {
        Self::Save(SaveError::Io(error))
    }
}
