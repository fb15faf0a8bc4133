//! A set of filters in one file, with a name for each, and an index at the end. `spec/set-v1.md` describes every byte.

mod cache;
mod error;
mod filter;
mod filter_set;
mod index;
mod info;
mod save_error;
mod stream;
mod trailer;
mod writer;

pub use self::error::SetError;
pub use self::filter::SetFilter;
pub use self::filter_set::FilterSet;
pub use self::info::SetInfo;
pub use self::save_error::SetSaveError;
pub use self::stream::SetStream;
pub use self::writer::SetWriter;

/// Filters and the index start at multiples of this number of bytes.
const ALIGN: u64 = 4096;

/// The length of an entry of the index without its name.
const ENTRY: usize = 32;

/// The longest name in bytes.
const MAX_NAME: usize = 65_535;

/// The number of bytes that the smallest filter and its zeros take: a header with a table, and one line.
const SMALLEST: u64 = 2 * ALIGN;
