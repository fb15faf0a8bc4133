//! What ends a crawl early.

use core::fmt::Display;
use std::error::Error;
use std::path::{Path, PathBuf};

/// An error of a library, or a message.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Names the file of an error. The errors of `fs_err` name it themselves.
pub(crate) fn at(path: &Path, error: &dyn Display) -> Failure {
    format!("{}: {error}", path.display()).into()
}

/// A log in which a record is wrong that was written whole. A kill does not do that.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{}: damaged at byte {offset}; `--repair` goes on without this record", path.display())]
pub(crate) struct Damaged {
    pub(crate) path: PathBuf,
    pub(crate) offset: u64,
}
