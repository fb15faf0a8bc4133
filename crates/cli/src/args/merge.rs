//! The options of `tamis merge`.

use std::path::PathBuf;

use clap::Args;

use super::foreign::FromArgs;
use super::server::ServerArgs;

/// Save a filter that contains the records of several filters
///
/// The filters must have been built with the same options and the same --capacity. The new filter
/// has that capacity too: if it holds more records, its false-positive rate is higher, and a
/// warning says so. A cuckoo filter may become full. A table of 'tamis new' grows. Filters of
/// another system (--from) must have the same sizes and hash. Filters of --kind scalable, and
/// windows, cannot be merged: build one from all records.
///
/// A filter in Redis (redis://host:port/#name) is copied first. A single filter of any kind is
/// saved as it is: this copies a filter from Redis into a file.
///
/// Exit codes: 0 success; 1 failure while running; 2 bad usage or bad input.
#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// The files of the filters, or their addresses in Redis
    #[arg(value_name = "FILTER", required = true)]
    pub(crate) filters: Vec<PathBuf>,

    /// The file of the new filter. It may be one of the filters
    #[arg(short, long, value_name = "FILTER")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) from: FromArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Print no summary; warnings are still printed
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
