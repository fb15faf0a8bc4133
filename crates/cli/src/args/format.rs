//! The formats of filters in files, as the command line names them.

use clap::ValueEnum;

/// The format of a filter in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The format of all commands. It is read in any of its forms, live or not, and written as an ordinary filter
    Tamis,
}
