//! The reasons why bytes, sizes or keys of another system are refused.

use core::fmt;

use super::format::Format;
use super::key::KeyType;

/// The reason why bytes are not a filter of a system, or why the system has no such filter or key.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Error, GuavaFilter};
/// let error = GuavaFilter::from_bytes(&[1, 5, 0]).unwrap_err();
/// assert!(matches!(error, Error::Truncated { found: 3, expected: 6 }));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not, or not only, those of a filter of the format.
    NoFilter {
        /// What they are.
        found: &'static str,
    },
    /// The bytes end too early.
    Truncated {
        /// The number of bytes found.
        found: u64,
        /// The number of bytes required, as far as is known.
        expected: u64,
    },
    /// Bytes follow the filter.
    Trailing {
        /// The number of bytes found.
        found: u64,
        /// The number of bytes required.
        expected: u64,
    },
    /// A number in the bytes has a value that the system does not write.
    Field {
        /// What the number is.
        field: &'static str,
        /// The value found.
        found: i64,
        /// The least possible value.
        min: i64,
        /// The greatest possible value.
        max: i64,
    },
    /// The system makes no filter of this size or rate.
    Size {
        /// What the number is.
        parameter: &'static str,
    },
    /// The system has no keys of this type.
    Key {
        /// The type of the key.
        found: KeyType,
    },
    /// The system has no empty keys.
    EmptyKey,
    /// The filter is full: the system refuses the insert.
    Full,
    /// The system cannot remove keys from such a filter.
    NoRemoval,
    /// The filter is a part of a table or of a file, and takes no keys.
    ReadOnly,
    /// The filter has another format of the system than was asked for.
    OtherFormat {
        /// The format found.
        found: Format,
        /// The format asked for.
        expected: Format,
    },
    /// A filter of one format cannot become one of another.
    Convert {
        /// The format of the filter.
        from: Format,
        /// The format asked for.
        to: Format,
    },
    /// There is no such column with a Bloom filter, or there are several and none was named.
    Column {
        /// The names of the columns that have Bloom filters, with commas between them. If they are
        /// many, the first ones.
        columns: String,
    },
    /// A row group has no Bloom filter for the column, so that every key may be in it.
    RowGroup {
        /// The number of the row group, from 0.
        number: u64,
    },
    /// The filters have different formats, sizes or hashes, or the system cannot unite such
    /// filters.
    Union,
    /// The allocation failed.
    Alloc {
        /// Bytes requested.
        bytes: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFilter { found } => write!(f, "it is {found}"),
            Self::Truncated { found, expected } => {
                write!(f, "it ends after {found} bytes, and {expected} are needed")
            }
            Self::Trailing { found, expected } => {
                write!(f, "it has {found} bytes, and the filter ends after {expected}")
            }
            Self::Field { field, found, min, max } if min == max => {
                write!(f, "{field} is {found}, and must be {min}")
            }
            Self::Field { field, found, min, max } => {
                write!(f, "{field} is {found}, and must be from {min} to {max}")
            }
            Self::Size { parameter } => {
                write!(f, "the system makes no filter of this {parameter}")
            }
            Self::Key { found } => write!(f, "the system has no keys of type {found}"),
            Self::EmptyKey => f.write_str("the system has no empty keys"),
            Self::Full => f.write_str("the filter is full"),
            Self::Union => f.write_str(
                "it has another format, size or hash than the filter before it, or the system unites no such filters",
            ),
            Self::NoRemoval => f.write_str("the system cannot remove keys from such a filter"),
            Self::ReadOnly => {
                f.write_str("the filter is a part of a table or of a file, and takes no keys")
            }
            Self::OtherFormat { found, expected } => {
                write!(f, "it is a filter of format {found}, not of {expected}")
            }
            Self::Convert { from, to } if from.has_hash_of(*to) => {
                write!(f, "{from} cannot become {to}: filters of the two have other layouts")
            }
            Self::Convert { from, to } => {
                write!(f, "{from} cannot become {to}: the two hash a key differently")
            }
            Self::Column { columns } if columns.is_empty() => {
                f.write_str("it has no column with a Bloom filter")
            }
            Self::Column { columns } => {
                write!(f, "name a column that has Bloom filters: {columns}")
            }
            Self::RowGroup { number } => {
                write!(
                    f,
                    "row group {number} has no Bloom filter for the column: every key may be in it"
                )
            }
            Self::Alloc { bytes } => write!(f, "cannot allocate {bytes} bytes"),
        }
    }
}

impl core::error::Error for Error {}

impl From<KeyType> for Error {
    fn from(found: KeyType) -> Self {
        Self::Key { found }
    }
}
