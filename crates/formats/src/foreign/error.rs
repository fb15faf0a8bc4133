//! The reasons why bytes, sizes or keys of another system are refused.

use super::format::Format;
use super::key::KeyType;

/// The reason why bytes are not a filter of a system, or why the system has no such filter or
/// key.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Error, Format, read};
/// let error = read(&[Format::GuavaMitz64], &[1, 5, 0], None).unwrap_err();
/// assert!(matches!(error, Error::Truncated { found: 3, expected: 6 }));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not, or not only, those of a filter of the format.
    #[error("it is {found}")]
    NoFilter {
        /// What they are.
        found: &'static str,
    },
    /// The bytes end too early.
    #[error("it ends after {found} bytes, and {expected} are needed")]
    Truncated {
        /// The number of bytes found.
        found: u64,
        /// The number of bytes required, as far as is known.
        expected: u64,
    },
    /// Bytes follow the filter.
    #[error("it has {found} bytes, and the filter ends after {expected}")]
    Trailing {
        /// The number of bytes found.
        found: u64,
        /// The number of bytes required.
        expected: u64,
    },
    /// A number in the bytes has a value that the system does not write.
    #[error("{field} is {found}, and must be {}", range(*.min, *.max))]
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
    #[error("the system makes no filter of this {parameter}")]
    Size {
        /// What the number is.
        parameter: &'static str,
    },
    /// The system has no keys of this type.
    #[error("the system has no keys of type {found}")]
    Key {
        /// The type of the key.
        found: KeyType,
    },
    /// The system has no empty keys.
    #[error("the system has no empty keys")]
    EmptyKey,
    /// The filter is full: the system refuses the insert.
    #[error("the filter is full")]
    Full,
    /// The system cannot remove keys from such a filter.
    #[error("the system cannot remove keys from such a filter")]
    NoRemoval,
    /// The filter is a part of a table or of a file, and takes no keys.
    #[error("the filter is a part of a table or of a file, and takes no keys")]
    ReadOnly,
    /// The filter has another format of the system than was asked for.
    #[error("it is a filter of format {found}, not of {expected}")]
    OtherFormat {
        /// The format found.
        found: Format,
        /// The format asked for.
        expected: Format,
    },
    /// A filter of one format cannot become one of another.
    #[error(
        "{from} cannot become {to}: {}",
        if .from.has_hash_of(*.to) {
            "filters of the two have other layouts"
        } else {
            "the two hash a key differently"
        }
    )]
    Convert {
        /// The format of the filter.
        from: Format,
        /// The format asked for.
        to: Format,
    },
    /// There is no such column with a Bloom filter, or there are several and none was named.
    #[error(
        "{}{columns}",
        if .columns.is_empty() {
            "it has no column with a Bloom filter"
        } else {
            "name a column that has Bloom filters: "
        }
    )]
    Column {
        /// The names of the columns that have Bloom filters, with commas between them. If they
        /// are many, the first ones.
        columns: String,
    },
    /// A row group has no Bloom filter for the column, so that every key may be in it.
    #[error("row group {number} has no Bloom filter for the column: every key may be in it")]
    RowGroup {
        /// The number of the row group, from 0.
        number: u64,
    },
    /// The filters have different formats, sizes or hashes, or the system cannot unite such
    /// filters.
    #[error(
        "it has another format, size or hash than the filter before it, \
         or the system unites no such filters"
    )]
    Union,
    /// The allocation failed.
    #[error("cannot allocate {bytes} bytes")]
    Alloc {
        /// Bytes requested.
        bytes: u64,
    },
}

impl From<KeyType> for Error {
    fn from(found: KeyType) -> Self {
        Self::Key { found }
    }
}

/// Returns the values that a field can have.
fn range(min: i64, max: i64) -> String {
    if min == max { min.to_string() } else { format!("from {min} to {max}") }
}
