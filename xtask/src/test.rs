//! `test`: all tests and doctests of the workspace.

use xshell::{Shell, cmd};

use crate::lint::OURS;
use crate::{Result, workspace};

pub(crate) fn run(sh: &Shell) -> Result {
    with(sh, &[&["--workspace"], &OURS[..]].concat())?;
    benches(sh)
}

/// The tests of what is not published; `package` runs those of all else.
pub(crate) fn tools(sh: &Shell) -> Result {
    with(sh, &["--package", "xtask"])?;
    benches(sh)
}

/// The tests and doctests of the packages that the flags name, with all their features.
pub(crate) fn with(sh: &Shell, flags: &[&str]) -> Result {
    let target = workspace::target_dir("");
    cmd!(sh, "cargo test {flags...} --all-features --target-dir {target}").run()?;
    Ok(())
}

fn benches(sh: &Shell) -> Result {
    cmd!(sh, "cargo test --package tamis-benches --features report --lib").run()?;
    Ok(())
}
