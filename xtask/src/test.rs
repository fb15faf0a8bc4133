//! `test`: runs the tests and doctests of a workspace.

use std::ffi::OsStr;

use xshell::{Shell, cmd};

use crate::{Result, programs, workspace};

/// The programs that run alone: the threads of two race each other, and no other program takes
/// their processors; the third has servers that must answer before deadlines.
const ALONE: [&str; 3] = ["race", "races", "servers"];

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
    let others = programs.iter().filter(|program| !is_alone(program));
    programs::run_all(others.map(programs::Program::command))
}

/// Runs the doctests of the packages that cargo's flags select.
pub(crate) fn run_examples(sh: &Shell, flags: &[impl AsRef<OsStr>]) -> Result {
    cmd!(sh, "cargo test --doc {flags...}").run()?;
    Ok(())
}
