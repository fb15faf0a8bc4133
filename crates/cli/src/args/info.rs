//! The options of `tamis info`.

use std::path::PathBuf;

use clap::Args;

use super::foreign::FromArgs;
use super::server::ServerArgs;

/// Print what a filter is and how full it is
///
/// The whole file is read and checked. The seed of the hash is never printed.
///
/// Exit codes: 0 success; 1 failure while running; 2 bad usage, or not a valid filter.
#[derive(Args, Debug)]
pub(crate) struct InfoArgs {
    /// The file of the filter, or its address in Redis: redis://host:port/#name
    pub(crate) filter: PathBuf,

    #[command(flatten)]
    pub(crate) from: FromArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
