//! Why a run ends early, and the exit code that says so.

use core::fmt;
use std::io;
use std::sync::Arc;

use tamis::BuildError;

use crate::key::NoKey;
use crate::units::{bytes, grouped};

/// Why a run ended before all was done. Its `Display` is one line: where, what was found, what was
/// expected, what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The reader of our output has gone: no failure.
    Closed,
    /// A command line that makes no sense; the text says which part.
    Usage(String),
    /// An input that cannot be read at all, found before any output.
    Input {
        /// The file, as it was given.
        name: String,
        /// What was found and what to do.
        found: String,
    },
    /// Reading failed in the middle of an input.
    Read {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line that was being read, from 1.
        line: u64,
        /// What the system or the decompressor said.
        source: io::Error,
    },
    /// A record longer than the limit.
    TooLong {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Under `--strict`: a record without a key.
    NoKey {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// What was missing.
        found: NoKey,
    },
    /// Under `--fixed`: one more new item than the capacity.
    Full {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// The capacity asked for.
        capacity: u64,
    },
    /// No filter of the size and rate asked for can be built.
    Filter(BuildError),
    /// The filter asked for is larger than the memory at hand, found before any output.
    Memory {
        /// Bytes needed.
        needed: u64,
        /// Bytes at hand.
        available: u64,
    },
    /// The filter could not grow in the middle of the input.
    Growth {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// Why not: [`Error::Filter`] or [`Error::Memory`].
        source: Box<Error>,
    },
    /// Writing the output failed.
    Write(io::Error),
    /// The system gave no random seed.
    Random,
}

impl Error {
    /// The exit code: 0 the reader has gone, 1 it failed while running, 2 bad usage or input.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::Read { .. }
            | Self::Full { .. }
            | Self::Growth { .. }
            | Self::Write(_)
            | Self::Random => 1,
            Self::Usage(_)
            | Self::Input { .. }
            | Self::TooLong { .. }
            | Self::NoKey { .. }
            | Self::Filter(_)
            | Self::Memory { .. } => 2,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => write!(f, "the reader of the output has gone"),
            Self::Usage(text) => write!(f, "{text}"),
            Self::Input { name, found } => write!(f, "{name}: {found}"),
            Self::Read { name, line, source } => {
                write!(f, "{name}, line {}: cannot read on: {source}", grouped(*line))
            }
            Self::TooLong { name, line, limit } => write!(
                f,
                "{name}, line {}: longer than --max-line {}; raise it if such a line is meant",
                grouped(*line),
                bytes(*limit)
            ),
            Self::NoKey { name, line, found } => write!(
                f,
                "{name}, line {}: {found}; without --strict such a record passes through",
                grouped(*line)
            ),
            Self::Full { name, line, capacity } => write!(
                f,
                "{name}, line {}: the filter is full with {} items; raise --capacity, or leave \
                 --fixed away so that it grows",
                grouped(*line),
                grouped(*capacity)
            ),
            Self::Filter(source) => {
                write!(f, "no such filter: {source}; change --capacity or --rate")
            }
            Self::Memory { needed, available } => write!(
                f,
                "the filter needs {}, this machine has {} free; lower --capacity or raise --rate",
                bytes(*needed),
                bytes(*available)
            ),
            Self::Growth { name, line, source } => {
                write!(f, "{name}, line {}: cannot grow: {source}", grouped(*line))
            }
            Self::Write(source) => write!(f, "cannot write the output: {source}"),
            Self::Random => write!(f, "--seed random: the system gave no random bytes"),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } | Self::Write(source) => Some(source),
            Self::Filter(source) => Some(source),
            Self::Growth { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<BuildError> for Error {
    fn from(source: BuildError) -> Self {
        Self::Filter(source)
    }
}
