//! Why a set of filters cannot be written.

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
/// let builder = BloomFilter::<str>::builder().capacity(10).hasher(Rapid::with_seed(1));
/// let filter = builder.build()?;
/// let mut set = SetStream::new(Vec::new());
/// set.add("monday", &filter)?;
/// // The set is as before: another name can be tried.
/// let error = set.add("monday", &filter).unwrap_err();
/// assert!(matches!(error, SetSaveError::DuplicateName { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetSaveError {
    /// The filter or the index cannot be written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// The set has a filter of this name.
    #[error("the set has a filter of the name `{}`", .name.escape_ascii())]
    DuplicateName {
        /// The name.
        name: Vec<u8>,
    },
    /// The name has more than 65,535 bytes.
    #[error("the name has {len} bytes; it can have {}", MAX_NAME)]
    LongName {
        /// The number of bytes.
        len: usize,
    },
    /// The filter has another hash algorithm or another seed than the filters in the set.
    #[error("the filter has another hash algorithm or another seed than the filters in the set")]
    OtherHash,
    /// The filter to copy cannot be read from its set, or has another normalization than this
    /// set.
    #[error(transparent)]
    Copy(#[from] SetError),
    /// The filter grows, so it cannot be used in place.
    #[error("the {kind} grows, and a set has filters of a fixed size")]
    Grows {
        /// The kind of the filter.
        kind: Kind,
    },
    /// A part of a filter was written before an error, so that nothing can follow.
    #[error("the set cannot be continued: an error left a part of a filter in it")]
    Broken,
}

impl From<io::Error> for SetSaveError {
    fn from(error: io::Error) -> Self {
        Self::Save(SaveError::Io(error))
    }
}
