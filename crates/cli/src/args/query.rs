//! The options of `tamis query`.

use std::path::PathBuf;

use clap::Args;

use super::examples::FILTER_EXAMPLES;
use super::foreign::{FromArgs, KeyArgs};
use super::records::RecordArgs;
use super::server::ServerArgs;
use crate::error::Exits;

/// Print the records that may be in a filter, in input order
///
/// Every record that was inserted is printed. A record that was not inserted is printed with the
/// probability that the summary states, the false-positive rate. A record without a key is in no
/// filter: it is printed with --invert.
///
/// Exit codes: 0 success (also if the output pipe was closed, or nothing was printed); 1 failure
/// while running; 2 bad usage or bad input. With --exit-status, like grep: 0 a record was printed
/// (also if the output pipe was closed after it); 1 none was; 2 any failure.
#[derive(Args, Debug)]
#[command(after_long_help = FILTER_EXAMPLES)]
pub(crate) struct QueryArgs {
    /// The file of the filter, or its address in Redis: redis://host:port/#name
    pub(crate) filter: PathBuf,

    /// Files to read, in order; '-' or no file is standard input. Input is decompressed if its
    /// first bytes are those of gzip or Zstandard
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Print the other records: those that surely are not in the filter
    #[arg(short = 'v', long)]
    pub(crate) invert: bool,

    /// Exit with 1 if no record was printed, and with 2 after any failure, as grep does
    #[arg(short, long)]
    exit_status: bool,

    /// Write to this file instead of standard output. It is replaced at the end of the run, and is
    /// not changed if the run fails. It is compressed if its name ends in .gz or .zst. '-' is
    /// standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) from: FromArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
}

impl QueryArgs {
    /// What the exit code says.
    pub(crate) const fn exits(&self) -> Exits {
        if self.exit_status { Exits::Found } else { Exits::Done }
    }
}
