//! `test`: runs the tests and doctests of a workspace.

use std::ffi::OsStr;

use xshell::{Shell, cmd};

use crate::{Result, programs, workspace};

/// The programs that run alone: the threads of two race each other, and no other program takes
/// their processors; the third has servers that must answer before deadlines. Its tests mostly
/// wait, so four run at a time: 69 s instead of 99 with two (Zen 4).
const ALONE: [(&str, &[&str]); 3] =
    [("race", &[]), ("races", &[]), ("servers", &["--test-threads", "4"])];

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
    let alone = |program: &programs::Program| ALONE.iter().find(|(name, _)| *name == program.name);
    for program in &programs {
        if let Some((_, arguments)) = alone(program) {
            let mut command = program.command();
            command.args(*arguments);
            programs::run_all([command])?;
        }
    }
    let others = programs.iter().filter(|program| alone(program).is_none());
    programs::run_all(others.map(programs::Program::command))
}

/// Runs the doctests of the packages that cargo's flags select.
pub(crate) fn run_examples(sh: &Shell, flags: &[impl AsRef<OsStr>]) -> Result {
    cmd!(sh, "cargo test --doc {flags...}").run()?;
    Ok(())
}
