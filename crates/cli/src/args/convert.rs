//! The options of `tamis convert`.

use std::path::PathBuf;

use clap::Args;

use super::foreign::FromArgs;
use super::format::{Format, format, help};

/// Read a filter, check all of it, and save it as an ordinary filter, or in another format
///
/// This turns a live filter, which programs share in one file, into an ordinary one, which all
/// commands take. The new filter contains every record whose insert ended before this command
/// began. An ordinary filter is saved with the same bytes.
///
/// A filter of another system (--from) is wrapped: the new file has its bytes, with a checksum, and
/// all commands take it. --to unwraps it, to the same bytes. A filter cannot be converted for a
/// system that hashes keys differently: build that one from the records.
///
/// The new filter is saved in one step. If the command fails, a file of that name stays as it is.
///
/// Exit codes: 0 success; 1 failure while running; 2 bad usage, or not a valid filter.
#[derive(Args, Debug)]
#[command(after_long_help = help())]
pub(crate) struct ConvertArgs {
    /// The file of the filter; '-' is standard input
    pub(crate) filter: PathBuf,

    /// The file of the new filter; '-' is standard output. It may be the same file, unless that is
    /// live
    #[arg(short, long, value_name = "FILTER")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) from: FromArgs,

    /// The format of the new filter
    #[arg(long, value_name = "FORMAT", value_parser = format, default_value_t = Format::Tamis)]
    pub(crate) to: Format,

    /// Print no summary; warnings are still printed
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
