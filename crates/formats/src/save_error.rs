//! Why a filter cannot be written.

use std::io;

use tamis_core::BuildError;

use crate::error::LoadError;
use crate::kind::Kind;

/// The reason why a filter was not written, or not durably: see [`save`](crate::save) on what
/// is then at its path.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{SaveError, save};
/// use tamis::{BloomFilter, hash::Rapid};
///
/// let builder = BloomFilter::<str>::builder().capacity(10).hasher(Rapid::with_seed(1));
/// let filter = builder.build()?;
/// let error = save(&filter, std::env::temp_dir()).unwrap_err();
/// assert!(matches!(error, SaveError::NotAFile));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The system could not create, write or rename the file.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The path names a directory, a pipe, a device, or an open file that was removed.
    #[error("the path names a directory, a pipe, a device or a removed file")]
    NotAFile,
    /// The allocation of a copy of the filter failed.
    #[error("cannot allocate {bytes} bytes")]
    Alloc {
        /// The number of bytes requested.
        bytes: u64,
    },
    /// The format has no number for the hash algorithm of the filter.
    #[error("the format has no number for the hash algorithm {name}")]
    Algorithm {
        /// The name of the algorithm.
        name: &'static str,
    },
    /// The sizes of a live filter belong to another type of filter.
    #[error(transparent)]
    Sizes(BuildError),
    /// Inserts into a live filter of these sizes need locks. A process that is killed would
    /// leave one.
    #[error(
        "a {kind} with {words} words per item needs locks, and a killed process would leave \
         one locked; a live filter of this type needs one word per item"
    )]
    LiveLocks {
        /// The kind of the filter.
        kind: Kind,
        /// The number of words that an item touches.
        words: u32,
    },
    /// A file that exists already cannot be opened as the live filter asked for.
    #[error(transparent)]
    Existing(LoadError),
    /// This processor is big-endian, so it cannot use a file in place.
    #[error("this processor is big-endian: it cannot use a file in place")]
    BigEndian,
}
