//! What ends a crawl early.

use core::fmt::Display;
use std::error::Error;
use std::path::Path;

/// An error of a library, or a message.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Names the file of an error.
pub(crate) fn at(path: &Path, error: &dyn Display) -> Failure {
    format!("{}: {error}", path.display()).into()
}
