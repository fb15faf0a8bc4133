//! Why a set of filters cannot be opened, or one of its filters cannot be loaded.

use std::io;

use crate::error::{Hex, LoadError};

/// The reason why a set of filters cannot be opened, or one of its filters cannot be loaded.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{FilterSet, SetError};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("segments.set");
/// std::fs::write(&path, "not a set")?;
/// let error = FilterSet::<str>::open(&path, 0).unwrap_err();
/// assert!(matches!(error, SetError::Length { found: 9, expected: 64 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// The system could not open or read the file.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The path names a directory, a pipe or a device.
    #[error("{}", LoadError::NotAFile)]
    NotAFile,
    /// The file has another length than its trailer requires, or is shorter than a trailer.
    #[error("the set of filters is damaged: the file has {found} bytes; it must have {expected}")]
    Length {
        /// The length of the file in bytes.
        found: u64,
        /// The length required.
        expected: u64,
    },
    /// The file does not end with the trailer of a set.
    #[error("this is not a set of filters: the magic of its trailer is{}", Hex(.found))]
    Magic {
        /// The eight bytes that must be those of the format.
        found: Vec<u8>,
    },
    /// The version of the format is not 1.
    #[error("the set has version {found} of the format; this release reads version 1")]
    Version {
        /// The version in the file.
        found: u32,
    },
    /// The checksum of the trailer is wrong.
    #[error(
        "the trailer is damaged: its checksum is {found:#018x}, \
         and that of its bytes is {expected:#018x}"
    )]
    TrailerChecksum {
        /// The checksum in the file.
        found: u64,
        /// The checksum of the bytes.
        expected: u64,
    },
    /// A field of the trailer has another value than the rest of the file requires.
    #[error("the trailer is wrong: its {field} is {found}; it must be {expected}")]
    Field {
        /// The name of the field in the specification.
        field: &'static str,
        /// The value in the file.
        found: u64,
        /// The value required.
        expected: u64,
    },
    /// The file is too short for the number of filters.
    #[error("the trailer is wrong: it says {found} filters, and the file has room for {most}")]
    Filters {
        /// The number in the file.
        found: u64,
        /// The most filters that the file can hold.
        most: u64,
    },
    /// The index is too short or too long for the number of filters.
    #[error("the trailer is wrong: its index length is {found}; it must be from {least} to {most}")]
    IndexLen {
        /// The length in the file.
        found: u64,
        /// The shortest length possible.
        least: u64,
        /// The longest length possible.
        most: u64,
    },
    /// The checksum of the index is wrong.
    #[error(
        "the index is damaged: its checksum is {found:#018x}, \
         and that of its bytes is {expected:#018x}"
    )]
    IndexChecksum {
        /// The checksum in the trailer.
        found: u64,
        /// The checksum of the bytes.
        expected: u64,
    },
    /// A field of an entry of the index is wrong.
    #[error("the index is wrong: the {field} of filter {filter} is {found}; it must be {expected}")]
    Entry {
        /// The number of the filter, from 0.
        filter: usize,
        /// The name of the field in the specification.
        field: &'static str,
        /// The value in the file.
        found: u64,
        /// The value required, or the nearest one that is possible.
        expected: u64,
    },
    /// Two filters have the same name.
    #[error(
        "the index is wrong: filters {} and {} have the same name `{}`",
        .filters[0], .filters[1], .name.escape_ascii()
    )]
    DuplicateName {
        /// The numbers of the filters, from 0.
        filters: [usize; 2],
        /// The name.
        name: Vec<u8>,
    },
    /// A filter cannot be loaded.
    #[error("filter {filter} of the set, `{}`: {error}", .name.escape_ascii())]
    Filter {
        /// The number of the filter, from 0.
        filter: usize,
        /// The name of the filter.
        name: Vec<u8>,
        /// The fault. Offsets and lengths in it count from the start of the filter.
        error: LoadError,
    },
    /// The header of a filter is not the one that the index was written for.
    #[error(
        "filter {filter} of the set is not the one in the index: the checksum of its header is \
         {found:#018x}, and that in the index is {expected:#018x}"
    )]
    OtherHeader {
        /// The number of the filter, from 0.
        filter: usize,
        /// The checksum of the header.
        found: u64,
        /// The checksum in the index.
        expected: u64,
    },
    /// A byte between filters is not zero.
    #[error("the byte at offset {offset} between filters is not zero, as the format requires")]
    NotZero {
        /// The offset of the byte in the file.
        offset: u64,
    },
    /// The set has no filter of this number.
    #[error("there is no filter {filter}: the set has {len}, counted from 0")]
    NoFilter {
        /// The number asked for.
        filter: usize,
        /// The number of filters.
        len: usize,
    },
    /// The allocation of the index failed.
    #[error("cannot allocate {bytes} bytes")]
    Alloc {
        /// The number of bytes requested.
        bytes: u64,
    },
}
