//! The return types of the commands.

use core::error::Error;

/// A result whose error is a message for the person at the terminal.
pub(crate) type Result<T = ()> = core::result::Result<T, Box<dyn Error>>;

/// The outcome of a check that needs a program which may be missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    Passed,
    /// The program is missing; the text states what was not checked, and why.
    Skipped(&'static str),
}

/// Prints what was skipped.
pub(crate) fn print(outcome: Outcome) {
    if let Outcome::Skipped(what) = outcome {
        eprintln!("SKIPPED: {what}");
    }
}
