//! `ci`: runs every check that a change must pass, cheap checks first.

use core::time::Duration;
use std::time::Instant;

use xshell::Shell;

use crate::{
    Result, bench, deny, features, fuzz, lint, model, no_std, outside, package, readme, test, tidy,
};

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Args {
    /// Run the statistical tests with large samples, which find smaller deviations
    #[arg(long)]
    long: bool,
    /// Continue after a step that fails, and fail at the end
    #[arg(long)]
    keep_going: bool,
}

/// A step: its name and its function. The name up to a colon is the command that runs the step alone.
type Step = (&'static str, fn(&Shell) -> Result);

/// The steps in order.
const STEPS: &[Step] = &[
    ("lint: format", lint::format),
    ("tidy", tidy::run),
    ("deny", deny::run),
    ("lint: clippy", lint::clippy),
    ("lint: docs", lint::docs),
    ("features", features::run),
    ("no-std", no_std::run),
    ("outside", outside::run),
    ("test: tools", test::tools),
    ("package", package::run),
    ("model --mutants", |sh| model::run(sh, true, None)),
    ("fuzz --replay", fuzz::replay),
    ("bench --gate", bench::gate_if_possible),
    ("readme", readme::run),
];

/// The commands that `ci` does not run, and why. A test checks that `ci` runs all others.
#[cfg(test)]
const NOT_IN_CI: &[(&str, &str)] = &[
    ("ci", "it is ci"),
    ("sanitize", "needs a nightly toolchain"),
    (
        "faults",
        "needs strace; the tests of tamis-formats kill saves and limit the size of files, without it",
    ),
    ("report", "its times are meaningless on a shared machine"),
    ("compare", "as report; also, the other programs may not be installed"),
    ("peers", "installs other systems; the vectors are what they wrote"),
    ("urls", "writes the input of compare; its unit tests check it"),
    ("logs", "writes the input of a benchmark; its unit tests check it"),
];

pub(crate) fn run(sh: &Shell, args: Args) -> Result {
    // The function `sample` in the module `common` of the tests reads this.
    let _long = args.long.then(|| sh.push_env("TAMIS_LONG", "1"));
    // Incremental compilation writes data for the next build. In a single run it costs more time than it saves.
    let _whole = sh.push_env("CARGO_INCREMENTAL", "0");
    // The line tables of the release profile are for profilers.
    let _release = sh.push_env("CARGO_PROFILE_RELEASE_DEBUG", "false");
    let (mut times, mut failed) = (Vec::new(), Vec::new());
    for &(name, step) in STEPS {
        eprintln!("\n== {name}");
        let start = Instant::now();
        let outcome = step(sh);
        times.push((name, start.elapsed()));
        if let Err(error) = outcome {
            failed.push(format!("step `{name}` failed: {error}"));
            if !args.keep_going {
                break;
            }
            eprintln!("error: {error}");
        }
    }
    print_table(&times);
    if !failed.is_empty() {
        return Err(failed.join("\n").into());
    }
    eprintln!("all {} steps passed", STEPS.len());
    Ok(())
}

fn print_table(times: &[(&str, Duration)]) {
    eprintln!();
    for (name, time) in times {
        eprintln!("{name:<18}{:>8.1} s", time.as_secs_f64());
    }
    let total: Duration = times.iter().map(|(_, time)| time).sum();
    eprintln!("{:<18}{:>8.1} s", "total", total.as_secs_f64());
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    #[test]
    fn every_command_is_a_step_or_exempt() {
        let cli = Cli::command();
        let commands: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
        let steps: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
        let exempt: Vec<&str> = NOT_IN_CI.iter().map(|(name, _)| *name).collect();
        assert_eq!(missing(&commands, &steps, &exempt), [""; 0], "add it to STEPS or NOT_IN_CI");
    }

    #[test]
    fn a_missing_command_is_found() {
        assert_eq!(missing(&["test", "bench", "new"], &["test: docs"], &["bench"]), ["new"]);
    }

    fn missing<'a>(commands: &[&'a str], steps: &[&str], exempt: &[&str]) -> Vec<&'a str> {
        // The name of a step begins with its command: `lint: docs`, `model --mutants`.
        let is_step =
            |name: &str| steps.iter().any(|step| step.split([':', ' ']).next() == Some(name));
        let missing = commands.iter().filter(|name| !is_step(name) && !exempt.contains(name));
        missing.copied().collect()
    }
}
