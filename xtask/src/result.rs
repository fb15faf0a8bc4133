//! What every command returns.

use core::error::Error;

/// The message of the error is for the person at the terminal.
pub(crate) type Result<T = ()> = core::result::Result<T, Box<dyn Error>>;
