//! `features`: every published crate builds with no feature, with each alone, and with all.

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

/// Clippy rather than check: it alone takes `-D warnings` without rebuilding the dependencies.
fn check(sh: &Shell, name: &str, flags: &[&str]) -> Result {
    cmd!(sh, "cargo clippy --quiet --package {name} {flags...} -- -D warnings").run()?;
    Ok(())
}
