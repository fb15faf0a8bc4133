//! The options of `tamis delete`.

use std::path::PathBuf;

use clap::Args;

use super::server::ServerArgs;

/// Delete a filter in Redis, with all that it has in the servers
///
/// A filter in a file is deleted as any file, by rm. In Redis a filter is many keys, which may be
/// on many machines: this command deletes all of them, also those of a filter of which a part is
/// lost, or that was never finished. Runs that use the filter meanwhile fail.
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
