//! `test`: runs the tests and doctests of a workspace.

use std::ffi::OsStr;
use std::process::Command;
use std::thread;

use xshell::{Shell, cmd};

use crate::{Result, programs, workspace};

/// The programs that run alone: their threads race each other, and no other program takes their
/// processors.
const ALONE: [&str; 2] = ["race", "races"];

/// The program of the tests that start servers.
pub(crate) const SERVERS: &str = "servers";

/// The programs whose tests mostly wait.
const WAITING: [&str; 2] = [SERVERS, "crawler"];

/// Runs the tests of the workspace, without what takes long: the replay of fuzzed inputs and the
/// examples in a user's crate.
pub(crate) fn run(sh: &Shell) -> Result {
    let features = workspace::features(sh)?;
    let others = ["--exclude", "tamis-fuzz", "--exclude", "tamis-outside"];
    let flags = [&["--workspace", "--features", &features], &others[..]].concat();
    run_programs(sh, &flags)?;
    run_examples(sh, &flags)
}

/// Runs the tests of this program, which `package` does not know.
pub(crate) fn run_tools(sh: &Shell) -> Result {
    cmd!(sh, "cargo test --package xtask").run()?;
    Ok(())
}

/// Builds the test programs of the packages that cargo's flags select, and runs them.
pub(crate) fn run_programs(sh: &Shell, flags: &[impl AsRef<OsStr>]) -> Result {
    let programs = programs::build(sh, flags)?;
    let is_alone = |program: &&programs::Program| ALONE.contains(&program.name.as_str());
    for program in programs.iter().filter(is_alone) {
        programs::run_all([program.command()])?;
    }
    // The longest first: it mostly waits.
    let (servers, others): (Vec<_>, Vec<_>) = programs
        .iter()
        .filter(|program| !is_alone(program))
        .partition(|program| program.name == SERVERS);
    programs::run_all(servers.into_iter().chain(others).map(command))
}

/// Returns the command that runs the tests of a program. Of those that mostly wait, at least four
/// run at a time: those with servers take 69 s on two processors, instead of 99 with two at a time
/// (Zen 4).
pub(crate) fn command(program: &programs::Program) -> Command {
    let mut command = program.command();
    if WAITING.contains(&program.name.as_str()) {
        let threads = thread::available_parallelism().map_or(1, usize::from).max(4);
        command.arg(format!("--test-threads={threads}"));
    }
    command
}

/// Runs the doctests of the packages that cargo's flags select.
pub(crate) fn run_examples(sh: &Shell, flags: &[impl AsRef<OsStr>]) -> Result {
    cmd!(sh, "cargo test --doc {flags...}").run()?;
    Ok(())
}
