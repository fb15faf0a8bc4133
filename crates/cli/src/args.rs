//! The command line: its options, their help texts, and the checks that options do not contradict each other.

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

mod build;
mod choice;
mod convert;
mod dedup;
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
mod seed;
mod values;
mod which;

pub(crate) use self::build::BuildArgs;
pub(crate) use self::choice::Choice;
pub(crate) use self::convert::ConvertArgs;
pub(crate) use self::dedup::DedupArgs;
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
pub(crate) use self::seed::SeedArgs;
pub(crate) use self::which::WhichArgs;

use self::examples::{EXAMPLES, FILTER_EXAMPLES};
use crate::error::Exits;

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
        Self::from_arg_matches_mut(&mut matches)
    }
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
