//! `ci`: runs every check that a change must pass, cheap checks first.

mod beside;

use core::fmt::Write as _;
use core::time::Duration;
use std::time::Instant;

use xshell::Shell;

use self::Check::{Alone, Always, Beside, IfPossible};
use crate::result::Outcome;
use crate::{
    Result, bench, deny, features, lint, no_std, package, python, readme, redis, semver, test, tidy,
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

/// A step: its name and its check. The name up to a colon is the command that runs the step alone.
type Step = (&'static str, Check);

/// What a step runs.
#[derive(Clone, Copy)]
enum Check {
    Always(fn(&Shell) -> Result),
    /// A check that is skipped where a program is missing.
    IfPossible(fn(&Shell) -> Result<Outcome>),
    /// A check that waits until no other runs: its tests need the processors.
    Alone(fn(&Shell) -> Result),
    /// A check that starts in its turn, and runs while the later steps do. It has its own
    /// directories of build products, so cargo lets it build beside them.
    Beside,
}

/// A line of the table at the end: the name of a step, how long it took, and what it did not check.
type Line = (&'static str, Duration, Option<&'static str>);

/// The steps in order.
const STEPS: &[Step] = &[
    ("lint: format", Always(lint::format)),
    ("tidy", Always(tidy::run)),
    ("redis", IfPossible(redis::run)),
    ("deny", Always(deny::run)),
    ("lint: clippy", Always(lint::clippy)),
    ("lint: docs", Always(lint::docs)),
    ("features", Always(features::run)),
    ("no-std", Always(no_std::run)),
    ("semver", IfPossible(semver::run)),
    ("package", Always(package::pack)),
    ("test: tools", Always(test::run_tools)),
    ("test: programs", Alone(package::run_tests)),
    ("test: examples", Always(package::run_examples)),
    // It gives way to the later steps, which wait at times.
    ("model --mutants", Beside),
    ("redis --valkey", IfPossible(redis::valkey::run_if_possible)),
    ("python", IfPossible(python::run_if_possible)),
    ("bench --gate", IfPossible(bench::gate_if_possible)),
    ("readme", Always(readme::run)),
];

/// The commands that `ci` does not run, and why. A test checks that `ci` runs all others.
#[cfg(test)]
const NOT_IN_CI: &[(&str, &str)] = &[
    ("ci", "it is ci"),
    ("outside", "the steps `test` run its programs and its examples"),
    ("fuzz", "the step `test: programs` replays the inputs that were found"),
    ("release", "the step `package` makes and checks the packages"),
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
    // Incremental compilation writes data for the next build. In a single run it costs more time
    // than it saves.
    let _whole = sh.push_env("CARGO_INCREMENTAL", "0");
    // The line tables of the release profile are for profilers.
    let _release = sh.push_env("CARGO_PROFILE_RELEASE_DEBUG", "false");
    let start = Instant::now();
    let (mut lines, mut failed, mut running) = (Vec::new(), Vec::new(), Vec::new());
    for &(name, check) in STEPS {
        if matches!(check, Alone(_)) {
            finish(&mut running, &mut lines, &mut failed);
        }
        eprintln!("\n== {name}");
        let start = Instant::now();
        let outcome = match check {
            Always(check) | Alone(check) => check(sh).map(|()| Outcome::Passed),
            IfPossible(check) => check(sh),
            Beside => {
                running.push(beside::Beside::start(sh, name)?);
                continue;
            }
        };
        let skipped = match outcome {
            Ok(Outcome::Skipped(what)) => Some(what),
            _ => None,
        };
        lines.push((name, start.elapsed(), skipped));
        if let Err(error) = outcome {
            eprintln!("error: {error}");
            failed.push(format!("step `{name}` failed: {error}"));
            if !args.keep_going {
                running.clear();
                break;
            }
        }
    }
    finish(&mut running, &mut lines, &mut failed);
    eprint!("\n{}", table(&lines, start.elapsed()));
    if !failed.is_empty() {
        return Err(failed.join("\n").into());
    }
    eprintln!("{}", summary(&lines));
    Ok(())
}

/// Waits for the steps that run beside the others.
fn finish(running: &mut Vec<beside::Beside>, lines: &mut Vec<Line>, failed: &mut Vec<String>) {
    for step in running.drain(..) {
        let name = step.name;
        eprintln!("\n== {name}");
        let (time, outcome) = step.finish();
        lines.push((name, time, None));
        failed.extend(outcome.err().map(|error| format!("step `{name}` failed: {error}")));
    }
}

/// Returns the times of the steps, and that of all, in which steps ran beside each other. A step
/// that was skipped says so.
fn table(lines: &[Line], total: Duration) -> String {
    let mut table = String::new();
    let mut line = |name: &str, time: Duration, skipped: Option<&str>| {
        let skipped = skipped.map_or_else(String::new, |what| format!("  SKIPPED: {what}"));
        _ = writeln!(table, "{name:<18}{:>8.1} s{skipped}", time.as_secs_f64());
    };
    for &(name, time, skipped) in lines {
        line(name, time, skipped);
    }
    line("total", total, None);
    table
}

/// Returns the last line of a run without a failure.
fn summary(lines: &[Line]) -> String {
    match lines.iter().filter(|(.., skipped)| skipped.is_some()).count() {
        0 => format!("all {} steps passed", lines.len()),
        skipped => format!("steps passed: {}, SKIPPED: {skipped}", lines.len() - skipped),
    }
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

    #[test]
    fn a_skipped_step_is_shown_in_the_table_and_in_the_summary() {
        let time = Duration::from_secs(2);
        let mut lines = [("tidy", time, None), ("redis", time, None)];
        assert_eq!(summary(&lines), "all 2 steps passed");
        assert!(!table(&lines, 2 * time).contains("SKIPPED"));
        lines[1].2 = Some("no server");
        assert_eq!(summary(&lines), "steps passed: 1, SKIPPED: 1");
        let expected = "\
            tidy                   2.0 s\n\
            redis                  2.0 s  SKIPPED: no server\n\
            total                  4.0 s\n";
        assert_eq!(table(&lines, 2 * time), expected);
    }

    fn missing<'a>(commands: &[&'a str], steps: &[&str], exempt: &[&str]) -> Vec<&'a str> {
        // The name of a step begins with its command: `lint: docs`, `model --mutants`.
        let is_step =
            |name: &str| steps.iter().any(|step| step.split([':', ' ']).next() == Some(name));
        let missing = commands.iter().filter(|name| !is_step(name) && !exempt.contains(name));
        missing.copied().collect()
    }
}
