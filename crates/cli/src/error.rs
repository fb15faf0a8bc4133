//! Why a run ends early, and the exit code that says so.

use core::fmt;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use tamis::BuildError;

use crate::Kind;
use crate::key::NoKey;
use crate::units::{bytes, grouped, rate_up};

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
    /// An output that cannot be written at all, found before any input is read.
    Output {
        /// The file, as it was given.
        name: String,
        /// What was found.
        found: String,
    },
    /// Reading an input failed: the system could not, or the bytes are not what they should be.
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
    /// A record without a key, under `--strict`; or one that is not what it seems to be, always.
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
    Filter {
        /// The kind asked for.
        kind: Kind,
        /// The capacity asked for; none for the growth beyond it.
        capacity: Option<u64>,
        /// The rate asked for.
        rate: f64,
        /// Why not, in numbers of a part of the filter.
        source: BuildError,
    },
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
            // Bytes that are not what the name of the file says are bad input.
            Self::Read { source, .. } => match source.kind() {
                ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof => 2,
                ErrorKind::IsADirectory | ErrorKind::PermissionDenied | ErrorKind::NotFound => 2,
                _ => 1,
            },
            Self::Full { .. } | Self::Growth { .. } | Self::Write(_) | Self::Random => 1,
            Self::Usage(_)
            | Self::Input { .. }
            | Self::Output { .. }
            | Self::TooLong { .. }
            | Self::NoKey { .. }
            | Self::Filter { .. }
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
            Self::Output { name, found } => write!(f, "-o {name}: {found}"),
            Self::Read { name, line, source } => {
                write!(f, "{name}, line {}: cannot read on: {source}", grouped(*line))
            }
            Self::TooLong { name, line, limit } => write!(
                f,
                "{name}, line {}: longer than the {} bytes of --max-line; raise it if such a line is \
                 meant",
                grouped(*line),
                grouped(*limit)
            ),
            Self::NoKey { name, line, found } => {
                write!(f, "{name}, line {}: {found}", grouped(*line))?;
                if found.is_fatal() {
                    return Ok(());
                }
                write!(f, "; without --strict this is a warning")
            }
            Self::Full { name, line, capacity } => write!(
                f,
                "{name}, line {}: the filter is full with {} items; raise --capacity, or leave \
                 --fixed away so that it grows",
                grouped(*line),
                grouped(*capacity)
            ),
            Self::Filter { kind, capacity, rate, source } => {
                write!(f, "no filter of rate {rate:e}")?;
                if let Some(items) = capacity {
                    write!(f, " for {} items", grouped(*items))?;
                }
                match (*source, kind, capacity.is_some()) {
                    (BuildError::RateTooLow { lowest, .. }, Kind::Cuckoo, true) => write!(
                        f,
                        ": that of a cuckoo filter is at least {}; raise --rate, or take another \
                         --kind",
                        rate_up(lowest)
                    ),
                    (BuildError::RateTooLow { lowest, .. }, Kind::Cuckoo, false) => write!(
                        f,
                        " that grows on: each slice of a cuckoo filter takes {} of it; give a \
                         --capacity that suffices, raise --rate, or take another --kind",
                        rate_up(lowest)
                    ),
                    (BuildError::RateTooLow { .. }, _, true) => write!(
                        f,
                        ": items with equal 64-bit hashes are more than that; lower --capacity or \
                         raise --rate"
                    ),
                    (BuildError::RateTooLow { .. }, _, false) => write!(
                        f,
                        " that grows on: items with equal 64-bit hashes are nearly as many; give a \
                         --capacity that suffices, or raise --rate"
                    ),
                    (BuildError::TooLarge, ..) => {
                        write!(f, ": it would be too large for any machine; lower --capacity")
                    }
                    (BuildError::Alloc { .. }, ..) => {
                        write!(f, ": the system gave no memory for it; lower --capacity")
                    }
                    _ => write!(f, ": {source}"),
                }
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
            Self::Filter { source, .. } => Some(source),
            Self::Growth { source, .. } => Some(source),
            _ => None,
        }
    }
}
