//! `semver`: compares the public interfaces with those of the last release.

use xshell::{Shell, cmd};

use crate::Result;
use crate::result::Outcome;

pub(crate) fn run(sh: &Shell) -> Result<Outcome> {
    let last = cmd!(sh, "git describe --tags --abbrev=0 --match v[0-9]*").quiet().ignore_stderr();
    let Ok(tag) = last.read() else {
        return Ok(Outcome::Skipped("no interfaces compared: no release has a tag"));
    };
    if cmd!(sh, "cargo semver-checks --version").quiet().ignore_stderr().read().is_err() {
        return Ok(Outcome::Skipped("no interfaces compared: cargo-semver-checks was not found"));
    }
    cmd!(sh, "cargo semver-checks --workspace --baseline-rev {tag}").run()?;
    Ok(Outcome::Passed)
}
