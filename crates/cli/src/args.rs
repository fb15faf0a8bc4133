//! The command line: its options, their help texts, and the checks that options do not contradict
//! each other.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

mod build;
mod choice;
mod convert;
mod dedup;
mod delete;
mod examples;
mod foreign;
mod format;
mod help;
mod index;
mod info;
mod merge;
mod new;
mod plan;
mod query;
mod records;
mod remove;
mod server;
mod values;
mod which;

pub(crate) use self::build::BuildArgs;
pub(crate) use self::choice::Choice;
pub(crate) use self::convert::ConvertArgs;
pub(crate) use self::dedup::DedupArgs;
pub(crate) use self::delete::DeleteArgs;
pub(crate) use self::foreign::{FromArgs, KeyArgs};
pub(crate) use self::format::{Format, Named};
pub(crate) use self::index::IndexArgs;
pub(crate) use self::info::InfoArgs;
pub(crate) use self::merge::MergeArgs;
pub(crate) use self::new::NewArgs;
pub(crate) use self::plan::PlanArgs;
pub(crate) use self::query::QueryArgs;
pub(crate) use self::records::{RecordArgs, Stats};
pub(crate) use self::remove::RemoveArgs;
#[cfg(feature = "redis")]
pub(crate) use self::server::ServerArgs;
pub(crate) use self::which::WhichArgs;

use self::examples::{EXAMPLES, FILTER_EXAMPLES};
use crate::error::Exits;
use crate::remote::Address;

/// Remove repeated records from streams, and keep sets of records in small files
#[derive(Debug, Parser)]
#[command(name = "tamis", version, arg_required_else_help = true, after_long_help = format!("{EXAMPLES}\n\n{FILTER_EXAMPLES}"))]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Dedup(DedupArgs),
    New(NewArgs),
    Build(BuildArgs),
    Query(QueryArgs),
    Remove(RemoveArgs),
    Merge(MergeArgs),
    Convert(ConvertArgs),
    Delete(DeleteArgs),
    Index(IndexArgs),
    Which(WhichArgs),
    Info(InfoArgs),
    Plan(PlanArgs),
    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, in roff
    Man {
        /// The command whose page is printed [default: the page of tamis itself]
        command: Option<String>,
    },
}

impl Cli {
    /// The command line, with the layout of its help.
    pub(crate) fn laid_out() -> clap::Command {
        help::laid_out(Self::command())
    }

    /// Parses the command line of this process.
    pub(crate) fn parsed() -> Result<Self, clap::Error> {
        let mut matches = Self::laid_out().try_get_matches()?;
        let refused = |text| Self::command().error(ErrorKind::InvalidValue, text);
        require_files(&matches).map_err(refused)?;
        Self::from_arg_matches_mut(&mut matches)
    }
}

/// The arguments that may be addresses, by the command and their name. Every other path is that of
/// a file.
const ADDRESSES: [(&str, &str); 5] = [
    ("new", "filter"),
    ("query", "filter"),
    ("info", "filter"),
    ("merge", "filters"),
    ("delete", "filter"),
];

/// Returns a message if an address is given where only a file is possible.
fn require_files(matches: &ArgMatches) -> Result<(), String> {
    let Some((command, matches)) = matches.subcommand() else { return Ok(()) };
    for id in matches.ids().map(|id| id.as_str()) {
        // All arguments that name files have this type, and no others.
        let Ok(Some(mut paths)) = matches.try_get_many::<PathBuf>(id) else { continue };
        let is_file = !ADDRESSES.contains(&(command, id));
        if let Some(path) = paths.find(|path| is_file && Address::is_one(path)) {
            return Err(Address::unexpected(path));
        }
    }
    Ok(())
}

impl Command {
    /// What the exit code of the command says.
    pub(crate) const fn exits(&self) -> Exits {
        match self {
            Self::Which(_) => Exits::Found,
            Self::Query(args) => args.exits(),
            _ => Exits::Done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::laid_out().debug_assert();
    }
}
