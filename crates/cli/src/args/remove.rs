//! The options of `tamis remove`.

use std::path::PathBuf;

use clap::Args;

use super::foreign::{FromArgs, KeyArgs};
use super::records::RecordArgs;

/// Remove records from a filter, and save it
///
/// The filter must be of a kind that can remove: 'cuckoo', 'counting' or 'scalable-cuckoo', built
/// by 'tamis build --kind KIND'. Each record removes one copy. Remove only records that were
/// inserted. Any other record may remove a copy of a record that is present, which then seems
/// absent. (A counting filter never forgets a record of which it has counted 15 copies.)
///
/// The filter is saved at the end of the input, in one step. If the run fails, it is not changed.
/// Two runs that change one filter take turns.
///
/// Exit codes: 0 success; 1 failure while running; 2 bad usage or bad input.
#[derive(Args, Debug)]
pub(crate) struct RemoveArgs {
    /// The file of the filter
    pub(crate) filter: PathBuf,

    /// Files to read, in order; '-' or no file is standard input. Input is decompressed if its
    /// first bytes are those of gzip or Zstandard
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) from: FromArgs,

    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
}
