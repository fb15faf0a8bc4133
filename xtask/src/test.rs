//! `test`: all tests and doctests of the workspace.

use xshell::{Shell, cmd};

use crate::Result;
use crate::lint::OURS;

pub(crate) fn run(sh: &Shell) -> Result {
    cmd!(sh, "cargo test --workspace {OURS...} --all-features").run()?;
    cmd!(sh, "cargo test --package tamis-benches --features report --lib").run()?;
    Ok(())
}
