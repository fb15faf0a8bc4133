//! The return type of the commands.

use core::error::Error;

/// A result whose error is a message for the person at the terminal.
pub(crate) type Result<T = ()> = core::result::Result<T, Box<dyn Error>>;
