//! Why a run ends early, and the exit code that says so.

use core::fmt;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use tamis::formats::{LoadError, SaveError, foreign};
use tamis::{BuildError, InsertError, MergeError};

use crate::file_kind::FileKind;
use crate::key::{Flaw, NoKey, Undelimited};
use crate::kind::Kind;
use crate::units::{bytes, counted, grouped, rate_up};

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
    /// Reading an input failed: the system reported an error, or the compressed data is invalid.
    Read {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line that was being read, from 1.
        line: u64,
        /// The error of the system or the decompressor.
        source: io::Error,
    },
    /// A record is longer than the limit.
    TooLong {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// The limit in bytes.
        limit: u64,
        /// Whether a quoted field is open there.
        open: bool,
    },
    /// A row of CSV is malformed, with `--strict`.
    Malformed {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// What was found.
        found: Flaw,
    },
    /// No record has the byte between fields, with `--strict`. This is found at the end of the
    /// input.
    Undelimited {
        /// The byte.
        delimiter: u8,
    },
    /// A record has no key, with `--strict`.
    NoKey {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// What was missing.
        found: NoKey,
    },
    /// With `--fixed`: there is one new item more than the capacity.
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
        kind: FileKind,
        /// The capacity asked for, or `None` if the filter could not grow further.
        capacity: Option<u64>,
        /// The rate asked for.
        rate: f64,
        /// The reason, in numbers for one slice of the filter.
        source: BuildError,
    },
    /// The filter asked for is larger than the available memory. This is found before any output.
    Memory {
        /// The number of bytes needed.
        needed: u64,
        /// The number of bytes available.
        available: u64,
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
    /// The system did not allocate the memory of a table.
    Allocation {
        /// The number of bytes asked for.
        needed: u64,
    },
    /// A table has doubled as often as it can.
    Outgrown,
    /// The filter could not grow in the middle of the input.
    Growth {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// The reason: [`Error::Filter`], [`Error::Memory`], [`Error::Allocation`] or
        /// [`Error::Outgrown`].
        source: Box<Error>,
    },
    /// A filter of fixed size refused an item.
    Insert {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// The reason.
        source: InsertError,
    },
    /// More items would bring the rate of a filter of fixed size above twice the one that was asked
    /// for.
    Overfull {
        /// The file and the line of the first item that has no room, or `None` if all items were
        /// counted at the end.
        record: Option<(Arc<str>, u64)>,
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
    /// A filter of fixed size refused an item, somewhere in the input.
    Room(InsertError),
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
    /// A filter of another system refused an item.
    ForeignItem {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line, from 1.
        line: u64,
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
    /// A filter in Redis has no verdict on some records.
    RemoteItem {
        /// The file, as it was given.
        name: Arc<str>,
        /// The line of the first of them, from 1.
        line: u64,
        /// The reason for the first.
        source: Box<dyn core::error::Error + Send + Sync>,
        /// What happened to all of them.
        fate: String,
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
    /// The system returned no random seed.
    Random,
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

    /// Returns the exit code: 0 for a closed pipe, 1 for a failure while running, 2 for bad usage
    /// or bad input. `tamis which` and `tamis query -e` exit with 2 in place of 1.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Closed => 0,
            // Invalid compressed data, and a file that cannot be opened, are bad input.
            Self::Read { source, .. } => match source.kind() {
                ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof => 2,
                ErrorKind::IsADirectory | ErrorKind::PermissionDenied | ErrorKind::NotFound => 2,
                ErrorKind::NotADirectory => 2,
                _ => 1,
            },
            Self::Load { source: LoadError::Io(source), .. } => match source.kind() {
                ErrorKind::IsADirectory | ErrorKind::PermissionDenied | ErrorKind::NotFound => 2,
                ErrorKind::NotADirectory => 2,
                _ => 1,
            },
            Self::Full { .. } | Self::Growth { .. } | Self::Write(_) | Self::Random => 1,
            Self::Short { .. } => 1,
            Self::Insert { .. } | Self::Overfull { .. } | Self::Crowded { .. } => 1,
            Self::Room(_) | Self::Save { .. } => 1,
            Self::ForeignItem {
                source: foreign::Error::Full | foreign::Error::Alloc { .. },
                ..
            } => 1,
            Self::Remote { code, .. } => *code,
            Self::RemoteItem { .. } => 1,
            Self::Merge { source: MergeError::Insert(_) | MergeError::Alloc { .. }, .. } => 1,
            Self::Usage(_)
            | Self::Load { .. }
            | Self::Merge { .. }
            | Self::Foreign { .. }
            | Self::ForeignItem { .. }
            | Self::Input { .. }
            | Self::Output { .. }
            | Self::TooLong { .. }
            | Self::NoKey { .. }
            | Self::Malformed { .. }
            | Self::Undelimited { .. }
            | Self::Filter { .. }
            | Self::Memory { .. }
            | Self::Allocation { .. }
            | Self::Outgrown => 2,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => write!(f, "the reader of the output has closed the pipe"),
            Self::Usage(text) => write!(f, "{text}"),
            Self::Input { name, found } => write!(f, "{name}: {found}"),
            Self::Output { name, found } => write!(f, "-o {name}: {found}"),
            Self::Read { name, line, source } if source.kind() == ErrorKind::OutOfMemory => {
                write!(f, "{name}, line {}: {source}", grouped(*line))
            }
            Self::Read { name, line, source } => {
                write!(f, "{name}, line {}: cannot read further: {source}", grouped(*line))
            }
            Self::TooLong { name, line, limit, open } => {
                let (line, limit) = (grouped(*line), counted(*limit, "byte"));
                write!(f, "{name}, line {line}: longer than --max-line, which is {limit}; ")?;
                if *open {
                    write!(
                        f,
                        "a quoted field is open there; close it, or treat quotes as ordinary bytes with --no-csv"
                    )
                } else {
                    write!(f, "raise it if the line is valid")
                }
            }
            Self::Malformed { name, line, found } => {
                write!(
                    f,
                    "{name}, line {}: {found}; without --strict this is a warning",
                    grouped(*line)
                )
            }
            Self::Undelimited { delimiter } => write!(f, "{}", Undelimited(*delimiter)),
            Self::NoKey { name, line, found } => {
                write!(
                    f,
                    "{name}, line {}: {found}; without --strict this is a warning",
                    grouped(*line)
                )
            }
            Self::Full { name, line, capacity } => write!(
                f,
                "{name}, line {}: the filter is full with {}; raise --capacity, or omit --fixed so \
                 that it grows",
                grouped(*line),
                counted(*capacity, "item")
            ),
            // "no filter of this rate [for these items]", then the reason and what to do.
            Self::Filter { kind, capacity, rate, source } => {
                write!(f, "no filter of rate {rate:e}")?;
                if let Some(items) = capacity {
                    write!(f, " for {}", counted(*items, "item"))?;
                }
                match (*source, kind, capacity.is_some()) {
                    // No filter has this size, at any rate.
                    (BuildError::RateTooLow { lowest, .. }, _, true) if lowest >= 1.0 => {
                        write_too_large(f, *kind)
                    }
                    (
                        BuildError::RateTooLow { lowest, .. },
                        FileKind::Fixed(Kind::Cuckoo),
                        true,
                    ) => write!(
                        f,
                        ": the rate of a cuckoo filter is at least {}; raise --rate, or choose \
                         another --kind",
                        rate_up(lowest)
                    ),
                    (
                        BuildError::RateTooLow { lowest, .. },
                        FileKind::Fixed(Kind::Cuckoo),
                        false,
                    ) => write!(
                        f,
                        " can grow further: each slice of a cuckoo filter takes {} of the rate; give a \
                         sufficient --capacity, raise --rate, or choose another --kind",
                        rate_up(lowest)
                    ),
                    (BuildError::RateTooLow { lowest, .. }, FileKind::GrowingCuckoo, true) => {
                        write!(
                            f,
                            ": the rate of a cuckoo filter that grows to twice this number is at least {}; raise \
                         --rate, lower --capacity, or choose another --kind",
                            rate_up(lowest)
                        )
                    }
                    (BuildError::RateTooLow { lowest, .. }, _, true) => write!(
                        f,
                        ": the rate is at least {}, so that equal 64-bit hashes make at most half of it; \
                         lower {} or raise --rate",
                        rate_up(lowest),
                        size_option(*kind)
                    ),
                    (BuildError::RateTooLow { .. }, _, false) => write!(
                        f,
                        " can grow further: equal 64-bit hashes would make more than half of the rate of the \
                         next slice; give a sufficient --capacity, or raise --rate"
                    ),
                    (BuildError::TooLarge, ..) => write_too_large(f, *kind),
                    (BuildError::Alloc { bytes: needed }, ..) => {
                        write!(
                            f,
                            ": out of memory: it needs {}; lower {}",
                            bytes(needed),
                            size_option(*kind)
                        )
                    }
                    _ => write!(f, ": {source}"),
                }
            }
            Self::Memory { needed, available } => write!(
                f,
                "out of memory: the filter needs {}, but {} are available; lower --capacity or --window, or give a --rate or raise it",
                bytes(*needed),
                bytes(*available)
            ),
            Self::Short { name, needed, available } => {
                write!(f, "{name}: out of memory: it needs {}", bytes(*needed))?;
                available.map_or(Ok(()), |available| {
                    write!(f, ", but {} are available", bytes(available))
                })
            }
            Self::Allocation { needed } => write!(
                f,
                "out of memory: the filter needs {} more; lower --capacity, or give a --rate",
                bytes(*needed)
            ),
            Self::Outgrown => {
                write!(f, "the table has doubled as often as it can; give a sufficient --capacity")
            }
            Self::Growth { name, line, source } => {
                write!(f, "{name}, line {}: cannot grow: {source}", grouped(*line))
            }
            Self::Insert { name, line, source } => {
                write!(f, "{name}, line {}: {source}; ", grouped(*line))?;
                match source {
                    InsertError::TooManyCopies => {
                        write!(
                            f,
                            "remove repeated records with 'tamis dedup' first, or choose another --kind"
                        )
                    }
                    InsertError::Stalled => write!(f, "run the command again"),
                    _ => write!(f, "build a new filter with a larger --capacity"),
                }
            }
            Self::Overfull { record, filter, items, rate } => {
                if let Some((name, line)) = record {
                    write!(f, "{name}, line {}: ", grouped(*line))?;
                }
                write!(
                    f,
                    "{filter}: with more than {} its false-positive rate is above {:.1e}, twice the rate that it was built for; ",
                    counted(*items, "item"),
                    2.0 * rate
                )?;
                match record {
                    Some(_) => write!(
                        f,
                        "build one with a larger --capacity from all records, or give --overfull"
                    ),
                    None => write!(
                        f,
                        "omit --capacity, so that the records are counted, or give --overfull"
                    ),
                }
            }
            Self::Crowded { filter, keys, capacity, rate } => write!(
                f,
                "{filter}: {} are more than its capacity of {}, and its false-positive rate is {rate:.1e}; give a larger \
                 --capacity, or --overfull",
                counted(*keys, "key"),
                grouped(*capacity)
            ),
            Self::Room(source) => write!(f, "{source}"),
            Self::Load { name, source } => {
                write!(f, "{name}: {source}")?;
                match source {
                    LoadError::HashProbe { .. } => {
                        write!(f, "; build the filter again from its records with 'tamis build'")
                    }
                    _ => Ok(()),
                }
            }
            Self::Foreign { name, format, source } => write!(f, "{name}: {format}: {source}"),
            Self::ForeignItem { name, line, source } => {
                write!(f, "{name}, line {}: ", grouped(*line))?;
                match source {
                    foreign::Error::Alloc { bytes: needed } => {
                        write!(f, "out of memory: the filter needs {} more", bytes(*needed))
                    }
                    foreign::Error::Full => write!(
                        f,
                        "{source}; remove repeated records with 'tamis dedup' first, or give a larger --capacity"
                    ),
                    _ => source.fmt(f),
                }
            }
            Self::Remote { name, source, advice: None, .. } => write!(f, "{name}: {source}"),
            Self::Remote { name, source, advice: Some(advice), .. } => {
                write!(f, "{name}: {source}; {advice}")
            }
            Self::RemoteItem { name, line, source, fate } => {
                write!(f, "{name}, line {}: {source}; {fate}", grouped(*line))
            }
            Self::Save { name, source } => {
                write!(f, "{name}: cannot save the filter: ")?;
                match source {
                    SaveError::Alloc { bytes: needed } => {
                        write!(f, "out of memory: it needs {} more", bytes(*needed))
                    }
                    _ => source.fmt(f),
                }
            }
            Self::Merge { name, source } => {
                write!(f, "{name}: cannot be merged with the filters before it: ")?;
                match source {
                    MergeError::Alloc { bytes: needed } => {
                        return write!(f, "out of memory: it needs {} more", bytes(*needed));
                    }
                    _ => source.fmt(f)?,
                }
                match source {
                    MergeError::Insert(_) => {
                        write!(f, "; build the filters with a larger --capacity")
                    }
                    _ => Ok(()),
                }
            }
            Self::Write(source) => write!(f, "cannot write the output: {source}"),
            Self::Random => write!(f, "--seed random: the system returned no random bytes"),
        }
    }
}

fn write_too_large(f: &mut fmt::Formatter<'_>, kind: FileKind) -> fmt::Result {
    write!(f, ": it would be too large for any machine; lower {}", size_option(kind))
}

/// The option that gives the size of a filter.
const fn size_option(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Rotating => "--window",
        _ => "--capacity",
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } | Self::Write(source) => Some(source),
            Self::Filter { source, .. } => Some(source),
            Self::Growth { source, .. } => Some(source),
            Self::Insert { source, .. } => Some(source),
            Self::Load { source, .. } => Some(source),
            Self::Save { source, .. } => Some(source),
            Self::Merge { source, .. } => Some(source),
            Self::Foreign { source, .. } | Self::ForeignItem { source, .. } => Some(source),
            Self::Remote { source, .. } | Self::RemoteItem { source, .. } => Some(&**source),
            _ => None,
        }
    }
}
