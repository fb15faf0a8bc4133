//! The project's commands: what CI runs, a person runs.

mod bench;
mod ci;
mod compare;
mod deny;
mod features;
mod fuzz;
mod lint;
mod model;
mod no_std;
mod outside;
mod package;
mod readme;
mod report;
mod result;
mod sanitize;
mod test;
mod tidy;
mod urls;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xshell::Shell;

use result::Result;

/// The project's commands; each prints the commands that it runs.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run everything that must pass before a change goes in, cheap steps first
    Ci(ci::Args),
    /// Check the format, run clippy (also on the builds for the model checkers) and build the documentation
    Lint,
    /// Run all tests and doctests
    Test,
    /// Run the models: every interleaving under loom, random schedules under shuttle
    Model {
        /// Run also the mutants: models with a planted defect that must be caught
        #[arg(long)]
        mutants: bool,
        /// Run only the models whose name contains NAME
        name: Option<String>,
    },
    /// Check the house rules: comment forms, dependency arrows, file sizes
    Tidy,
    /// Check licences, bans and sources of the dependencies
    Deny,
    /// Build every feature alone, none, and all
    Features,
    /// Link and run a program without std
    NoStd,
    /// Compile and run every example of the documentation, and three programs, outside the workspace
    Outside,
    /// Check what would be published, and run its tests without the workspace
    Package,
    /// Run the commands that README.md shows and compare what they print
    Readme,
    /// Fuzz one target, or each in turn; or replay the regressions, which needs no fuzzer
    Fuzz(fuzz::Args),
    /// Run the tests under a sanitizer (needs a nightly toolchain)
    Sanitize { sanitizer: sanitize::Sanitizer },
    /// Run the benchmarks; or count the instructions of the hot paths (needs valgrind)
    Bench {
        /// Count instructions, and fail if a path takes more than the committed number
        #[arg(long)]
        gate: bool,
        /// Count instructions, and write the numbers to be committed
        #[arg(long, conflicts_with = "gate")]
        bless: bool,
        /// Run only the benchmarks whose name contains FILTER
        #[arg(conflicts_with_all = ["gate", "bless"])]
        filter: Option<String>,
    },
    /// Measure the filters beside others and write `benches/REPORT.md`; goes on where an earlier run ended
    Report(report::Args),
    /// Write a list of made-up URLs with repetitions to standard output
    Urls(urls::Args),
    /// Time `tamis dedup` beside other programs that do its job
    Compare {
        /// The list of lines to run on
        file: PathBuf,
        /// Runs of each program; the median counts
        #[arg(long, default_value_t = 5)]
        runs: usize,
        /// Distinct lines, for `tamis dedup --capacity`
        #[arg(long)]
        capacity: Option<u64>,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result {
    let sh = Shell::new()?;
    if let Command::Compare { file, runs, capacity } = command {
        // Before the change of directory: the path is meant from where the person stands.
        return compare::run(&sh, &file.canonicalize()?, runs, capacity);
    }
    sh.change_dir(workspace::root());
    match command {
        Command::Ci(args) => ci::run(&sh, args),
        Command::Lint => lint::run(&sh),
        Command::Test => test::run(&sh),
        Command::Model { mutants, name } => model::run(&sh, mutants, name.as_deref()),
        Command::Tidy => tidy::run(&sh),
        Command::Deny => deny::run(&sh),
        Command::Features => features::run(&sh),
        Command::NoStd => no_std::run(&sh),
        Command::Outside => outside::run(&sh),
        Command::Package => package::run(&sh),
        Command::Readme => readme::run(&sh),
        Command::Fuzz(args) => fuzz::run(&sh, &args),
        Command::Sanitize { sanitizer } => sanitize::run(&sh, sanitizer),
        Command::Bench { gate: true, .. } => bench::gate(&sh, false),
        Command::Bench { bless: true, .. } => bench::gate(&sh, true),
        Command::Bench { filter, .. } => bench::run(&sh, filter.as_deref()),
        Command::Report(args) => report::run(&sh, args),
        Command::Urls(args) => urls::run(&args),
        Command::Compare { .. } => unreachable!("returned above"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}
