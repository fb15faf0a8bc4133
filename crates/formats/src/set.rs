//! A set of filters in one file, with a name for each, and an index at the end. `spec/set-v1.md`
//! describes every byte.

mod cache;
mod error;
mod filter;
mod filter_set;
mod index;
mod info;
mod limits;
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
