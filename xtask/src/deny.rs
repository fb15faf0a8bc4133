//! `deny`: licences, bans and sources of the dependencies.
//!
//! Advisories are left out: their database comes over the network and changes by the day, so a
//! change that passed would fail tomorrow.

use xshell::{Shell, cmd};

use crate::Result;

/// The version to install where there is none.
const VERSION: &str = "0.20.2";

pub(crate) fn run(sh: &Shell) -> Result {
    if cmd!(sh, "cargo deny --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        // Debug: it builds in half the time, and the check takes seconds either way.
        cmd!(sh, "cargo install --locked --debug cargo-deny --version {VERSION}").run()?;
    }
    cmd!(sh, "cargo deny --workspace --all-features check licenses bans sources").run()?;
    Ok(())
}
