//! What ends a crawl early.

use std::error::Error;

/// An error of a library, or a message.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;
