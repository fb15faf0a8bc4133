//! `test`: all tests and doctests of the workspace.

use xshell::{Shell, cmd};

use crate::Result;

pub(crate) fn run(sh: &Shell) -> Result {
    cmd!(sh, "cargo test --workspace --all-features").run()?;
    Ok(())
}
