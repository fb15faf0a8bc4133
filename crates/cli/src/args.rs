//! The command line: its options, their help texts, and the checks that options do not contradict each other.

use clap::{Parser, Subcommand};
use clap_complete::Shell;

mod dedup;
mod plan;
mod records;
mod values;

pub(crate) use self::dedup::DedupArgs;
pub(crate) use self::plan::PlanArgs;
pub(crate) use self::records::{RecordArgs, Stats};

/// The examples in the help. A test runs each of them.
pub(crate) const EXAMPLES: &str = "\
Examples:
  The distinct lines of two files, one of them compressed, in input order:
    tamis dedup monday.txt tuesday.txt.gz -o both.txt
  The first row for each customer and day, fields 2 and 4 of a CSV file:
    tamis dedup --csv --key-field 2,4 orders.csv > first.csv
  The second occurrence of every repeated event, by the value of a JSON field:
    zcat events.json.gz | tamis dedup -d --json-key /id -q";

/// Remove repeated records from streams, in 5 to 10 bytes of memory per distinct record
#[derive(Debug, Parser)]
#[command(name = "tamis", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Dedup(DedupArgs),
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
