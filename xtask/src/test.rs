//! `test`: runs all tests and doctests of the workspace.

use xshell::{Shell, cmd};

use crate::lint::OURS;
use crate::{Result, workspace};

pub(crate) fn run(sh: &Shell) -> Result {
    with(sh, &[&["--workspace"], &OURS[..]].concat())?;
    benches(sh)
}

/// Runs the tests of the crates that are not published; `package` runs the tests of the others.
pub(crate) fn tools(sh: &Shell) -> Result {
    with(sh, &["--package", "xtask", "--package", "tamis-vectors"])?;
    benches(sh)
}

/// Runs the tests and doctests of the packages that the flags select, with all features.
pub(crate) fn with(sh: &Shell, flags: &[&str]) -> Result {
    let target = workspace::target_dir("");
    cmd!(sh, "cargo test {flags...} --all-features --target-dir {target}").run()?;
    Ok(())
}

fn benches(sh: &Shell) -> Result {
    cmd!(sh, "cargo test --package tamis-benches --features report --lib").run()?;
    Ok(())
}
