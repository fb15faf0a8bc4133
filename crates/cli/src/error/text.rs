//! The texts of errors: one line each.

use core::fmt;
use std::io::ErrorKind;

use tamis::formats::{LoadError, SaveError, foreign};
use tamis::{BuildError, InsertError, MergeError};

use super::{Error, Why};
use crate::file_kind::FileKind;
use crate::key::Undelimited;
use crate::kind::Kind;
use crate::units::{bytes, counted, grouped, rate_up};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => write!(f, "the reader of the output has closed the pipe"),
            Self::Usage(text) => write!(f, "{text}"),
            Self::Input { name, found } => write!(f, "{name}: {found}"),
            Self::Output { name, found } => write!(f, "-o {name}: {found}"),
            Self::At { name, line, why } => write!(f, "{name}, line {}: {why}", grouped(*line)),
            Self::Undelimited { delimiter } => write!(f, "{}", Undelimited(*delimiter)),
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
            Self::Memory { needed, available: Some(available) } => write!(
                f,
                "out of memory: the filter needs {}, but {} are available; lower --capacity or --window, or give a --rate or raise it",
                bytes(*needed),
                bytes(*available)
            ),
            Self::Memory { needed, available: None } => write!(
                f,
                "out of memory: the filter needs {} more; lower --capacity, or give a --rate",
                bytes(*needed)
            ),
            Self::Short { name, needed, available } => {
                write!(f, "{name}: out of memory: it needs {}", bytes(*needed))?;
                available.map_or(Ok(()), |available| {
                    write!(f, ", but {} are available", bytes(available))
                })
            }
            Self::Outgrown => {
                write!(f, "the table has doubled as often as it can; give a sufficient --capacity")
            }
            Self::Overfull { filter, items, rate } => {
                write_overfull(f, filter, *items, *rate)?;
                write!(f, "omit --capacity, so that the records are counted, or give --overfull")
            }
            Self::Crowded { filter, keys, capacity, rate } => write!(
                f,
                "{filter}: at least {} are more than its capacity of {}, and its false-positive rate is {rate:.1e}; give a larger \
                 --capacity, or --overfull",
                counted(*keys, "key"),
                grouped(*capacity)
            ),
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
            Self::Remote { name, source, advice: None, .. } => write!(f, "{name}: {source}"),
            Self::Remote { name, source, advice: Some(advice), .. } => {
                write!(f, "{name}: {source}; {advice}")
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
            Self::Thread(source) => write!(f, "cannot start a thread: {source}"),
            Self::Random => write!(f, "--seed random: the system returned no random bytes"),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(source) if source.kind() == ErrorKind::OutOfMemory => source.fmt(f),
            Self::Read(source) => write!(f, "cannot read further: {source}"),
            Self::TooLong { limit, open } => {
                write!(f, "longer than --max-line, which is {}; ", counted(*limit, "byte"))?;
                f.write_str(if *open {
                    "a quoted field is open there; close it, or treat quotes as ordinary bytes with --no-csv"
                } else {
                    "raise it if the line is valid"
                })
            }
            Self::Header(found) => f.write_str(found),
            Self::NoKey(found) => write!(f, "{found}; without --strict this is a warning"),
            Self::Malformed(found) => write!(f, "{found}; without --strict this is a warning"),
            Self::Full { capacity } => write!(
                f,
                "the filter is full with {}; raise --capacity, or omit --fixed so that it grows",
                counted(*capacity, "item")
            ),
            Self::Growth(source) => write!(f, "cannot grow: {source}"),
            Self::Insert(source) => {
                write!(f, "{source}; ")?;
                f.write_str(match source {
                    InsertError::TooManyCopies => {
                        "remove repeated records with 'tamis dedup' first, or choose another --kind"
                    }
                    InsertError::Stalled => "run the command again",
                    _ => "build a new filter with a larger --capacity",
                })
            }
            Self::Overfull { filter, items, rate } => {
                write_overfull(f, filter, *items, *rate)?;
                f.write_str(
                    "build one with a larger --capacity from all records, or give --overfull",
                )
            }
            Self::Foreign(foreign::Error::Alloc { bytes: needed }) => {
                write!(f, "out of memory: the filter needs {} more", bytes(*needed))
            }
            Self::Foreign(source @ foreign::Error::Full) => write!(
                f,
                "{source}; build a larger one with 'tamis build', from records without repeats"
            ),
            Self::Foreign(source) => source.fmt(f),
            Self::Remote { source, fate } => write!(f, "{source}; {fate}"),
        }
    }
}

/// Writes that a filter has no room for more than `items`. `rate`: the one that was asked for.
fn write_overfull(f: &mut fmt::Formatter<'_>, filter: &str, items: u64, rate: f64) -> fmt::Result {
    write!(
        f,
        "{filter}: with more than {} its false-positive rate is above {:.1e}, the limit; ",
        counted(items, "item"),
        2.0 * rate
    )
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
