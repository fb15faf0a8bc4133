//! Why a run ends early, and the exit code that says so.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use tamis::formats::{LoadError, SaveError, foreign};
use tamis::{BuildError, InsertError, MergeError};

use crate::file_kind::FileKind;
use crate::key::{Flaw, NoKey};

mod text;

/// Why a run ended early. Its `Display` is one line that says where the error is, what was found,
/// what was expected and what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The reader of the output has closed the pipe. This is not a failure.
    Closed,
    /// The command line is wrong; the text says which part.
    Usage(String),
    /// An input cannot be read at all. For a file, this is found before any output.
    Input {
        /// The file, as it was given.
        name: String,
        /// What was found and what to do.
        found: String,
    },
    /// The output cannot be written at all. This is found before any input is read.
    Output {
        /// The file, as it was given.
        name: String,
        /// What was found.
        found: String,
    },
    /// A record ends the run. The records before it are printed.
    At {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// The reason.
        why: Why,
    },
    /// No record has the byte between fields, with `--strict`. This is found at the end of the
    /// input.
    Undelimited {
        /// The byte.
        delimiter: u8,
    },
    /// No filter of the size and rate asked for can be built.
    Filter {
        /// The kind asked for.
        kind: FileKind,
        /// The capacity asked for, or `None` if the filter could not grow further.
        capacity: Option<u64>,
        /// The rate asked for.
        rate: f64,
        /// The reason, in numbers for one slice of the filter.
        source: BuildError,
    },
    /// There is not enough memory for the filter asked for, or to let it grow. The first is found
    /// before any output.
    Memory {
        /// The number of bytes needed.
        needed: u64,
        /// The number of bytes available, or `None` if the system did not allocate more.
        available: Option<u64>,
    },
    /// There is not enough memory for what is in a file, or for the run.
    Short {
        /// The file, as it was given, or the program.
        name: String,
        /// The number of bytes needed.
        needed: u64,
        /// The number of bytes available, or `None` if the system did not allocate them.
        available: Option<u64>,
    },
    /// A table has doubled as often as it can.
    Outgrown,
    /// All items together bring the rate of a filter of fixed size above twice the one that was
    /// asked for. They were counted at the end.
    Overfull {
        /// The file of the filter.
        filter: String,
        /// The most items with which its rate is not above that.
        items: u64,
        /// The rate that was asked for.
        rate: f64,
    },
    /// More keys were inserted into a new filter of another system than it was built for.
    Crowded {
        /// The file of the filter.
        filter: String,
        /// The keys inserted.
        keys: u64,
        /// The capacity that was asked for.
        capacity: u64,
        /// The false-positive rate.
        rate: f64,
    },
    /// A saved filter cannot be read. This is found before any output.
    Load {
        /// The file, as it was given.
        name: String,
        /// The reason.
        source: LoadError,
    },
    /// A filter cannot be saved. An older file of that name is unchanged.
    Save {
        /// The file, as it was given.
        name: String,
        /// The reason.
        source: SaveError,
    },
    /// A file is not a filter of another system, or not one that this command takes.
    Foreign {
        /// The file, as it was given.
        name: String,
        /// The name of the format.
        format: &'static str,
        /// The reason.
        source: foreign::Error,
    },
    /// A filter in Redis cannot be used.
    Remote {
        /// The address, without the password.
        name: String,
        /// The reason.
        source: Box<dyn core::error::Error + Send + Sync>,
        /// What to do, if there is something.
        advice: Option<&'static str>,
        /// The exit code.
        code: u8,
    },
    /// A saved filter cannot be merged with those before it.
    Merge {
        /// The file, as it was given.
        name: String,
        /// The reason.
        source: MergeError,
    },
    /// Writing the output failed.
    Write(io::Error),
    /// The system did not start the thread that saves. This is found before any input is read.
    Thread(io::Error),
    /// The system returned no random seed.
    Random,
}

/// Why a record ends a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Why {
    /// Reading failed: the system reported an error, or the compressed data is invalid.
    Read(io::Error),
    /// The record is longer than the limit.
    TooLong {
        /// The limit in bytes.
        limit: u64,
        /// Whether a quoted field is open there.
        open: bool,
    },
    /// The header of an input is not the one expected. This becomes an [`Error::Input`].
    Header(String),
    /// The record has no key, with `--strict`.
    NoKey(NoKey),
    /// The row of CSV is malformed, with `--strict`.
    Malformed(Flaw),
    /// With `--fixed`: this is one new item more than the capacity.
    Full {
        /// The capacity asked for.
        capacity: u64,
    },
    /// The filter could not grow: [`Error::Filter`], [`Error::Memory`] or [`Error::Outgrown`].
    Growth(Box<Error>),
    /// A filter of fixed size refused the item.
    Insert(InsertError),
    /// The item would bring the rate of a filter of fixed size above twice the one that was asked
    /// for.
    Overfull {
        /// The file of the filter.
        filter: String,
        /// The most items with which its rate is not above that.
        items: u64,
        /// The rate that was asked for.
        rate: f64,
    },
    /// A filter of another system refused the item.
    Foreign(foreign::Error),
    /// A filter in Redis has no verdict on some records, of which this is the first.
    Remote {
        /// The reason.
        source: Box<dyn core::error::Error + Send + Sync>,
        /// What happened to all of them.
        fate: String,
    },
}

/// What the exit code of a command says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exits {
    /// How the run ended: 0 done, 1 failed while running, 2 bad usage or bad input.
    Done,
    /// Whether the run found something, as that of grep: 0 it did, 1 it did not, 2 any failure.
    Found,
}

impl Exits {
    /// Returns the exit code of a run that succeeded. `found`: whether it found something.
    pub(crate) const fn of_success(self, found: bool) -> u8 {
        match self {
            Self::Found if !found => 1,
            _ => 0,
        }
    }

    /// Returns the exit code of a run that ended with an error. A pipe is closed at a write, so
    /// something was found.
    pub(crate) fn of_error(self, error: &Error) -> u8 {
        match (self, error.exit_code()) {
            (Self::Found, 1) => 2,
            (_, code) => code,
        }
    }
}

impl Error {
    /// The error for a failed write. A closed pipe is not a failure, nor is a closed socket.
    pub(crate) fn written(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Self::Closed,
            _ => Self::Write(error),
        }
    }

    /// The same of one file, for a command that looks for the delimiter in each of its files.
    pub(crate) fn of_file(self, name: &str) -> Self {
        match self {
            Self::Undelimited { .. } => Self::Input { name: name.into(), found: self.to_string() },
            other => other,
        }
    }

    /// Returns the exit code: 0 for a closed pipe, 1 for a failure while running, 2 for bad usage
    /// or bad input. `tamis which` and `tamis query -e` exit with 2 in place of 1.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::At { why, .. } => why.exit_code(),
            Self::Load { source: LoadError::Io(source), .. } => code_of_unopened(source.kind()),
            Self::Write(_)
            | Self::Thread(_)
            | Self::Random
            | Self::Short { .. }
            | Self::Save { .. } => 1,
            Self::Overfull { .. } | Self::Crowded { .. } => 1,
            Self::Remote { code, .. } => *code,
            Self::Merge { source: MergeError::Insert(_) | MergeError::Alloc { .. }, .. } => 1,
            Self::Usage(_)
            | Self::Load { .. }
            | Self::Merge { .. }
            | Self::Foreign { .. }
            | Self::Input { .. }
            | Self::Output { .. }
            | Self::Undelimited { .. }
            | Self::Filter { .. }
            | Self::Memory { .. }
            | Self::Outgrown => 2,
        }
    }
}

impl Why {
    /// Whether all records before it were printed, and none after it was decided.
    pub(crate) const fn is_in_order(&self) -> bool {
        !matches!(self, Self::Full { .. } | Self::Growth(_) | Self::Remote { .. })
    }

    fn exit_code(&self) -> u8 {
        match self {
            Self::Insert(InsertError::TooManyCopies) => 2,
            // Invalid compressed data, and a file that cannot be opened, are bad input.
            Self::Read(source) => match source.kind() {
                ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof => 2,
                kind => code_of_unopened(kind),
            },
            Self::Full { .. } | Self::Growth(_) | Self::Insert(_) | Self::Overfull { .. } => 1,
            Self::Foreign(foreign::Error::Full | foreign::Error::Alloc { .. }) => 1,
            Self::Remote { .. } => 1,
            Self::TooLong { .. } | Self::Header(_) | Self::NoKey(_) | Self::Malformed(_) => 2,
            Self::Foreign(_) => 2,
        }
    }
}

/// The exit code of a failed read: 2 if the file cannot be opened.
const fn code_of_unopened(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::IsADirectory | ErrorKind::PermissionDenied | ErrorKind::NotFound => 2,
        ErrorKind::NotADirectory | ErrorKind::InvalidFilename => 2,
        _ => 1,
    }
}

impl From<Error> for Why {
    fn from(source: Error) -> Self {
        Self::Growth(Box::new(source))
    }
}

impl core::error::Error for Error {}
