//! `features`: checks every published crate with no feature, with each feature alone, and with all
//! features.

use xshell::{Shell, cmd};

use crate::{Result, workspace};

pub(crate) fn run(sh: &Shell) -> Result {
    for package in workspace::published(sh)? {
        let name = &package.name;
        check(sh, name, &["--no-default-features"])?;
        for feature in &package.features {
            check(sh, name, &["--no-default-features", "--features", feature])?;
        }
        check(sh, name, &["--all-features"])?;
    }
    Ok(())
}

/// Runs clippy instead of `cargo check`, because only clippy accepts `-D warnings` without a
/// rebuild of the dependencies.
fn check(sh: &Shell, name: &str, flags: &[&str]) -> Result {
    cmd!(sh, "cargo clippy --quiet --package {name} {flags...} -- -D warnings").run()?;
    Ok(())
}
