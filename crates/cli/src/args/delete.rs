//! The options of `tamis delete`.

use std::path::PathBuf;

use clap::Args;

use super::server::ServerArgs;

/// Delete a filter in Redis, with all its keys on all servers
///
/// To delete a filter in a file, use rm. In Redis a filter has many keys, which may be on many
/// machines. This command deletes all of them, even if a part of the filter is lost, or if its
/// creation was interrupted. Runs that use the filter at that time fail.
///
/// On a terminal the program asks before it deletes. Otherwise it needs --yes.
///
/// Exit codes: 0 deleted; 1 failure while running, or the answer was not yes; 2 bad usage, or there
/// is no such filter.
#[derive(Args, Debug)]
pub(crate) struct DeleteArgs {
    /// The address of the filter: redis://host:port/#name
    pub(crate) filter: PathBuf,

    /// Delete without asking
    #[arg(short, long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Print nothing if the filter is deleted
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
