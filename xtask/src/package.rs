//! `package`: checks that the packages to publish are complete and small, and runs their tests
//! outside the workspace.
//!
//! The tests and doctests of the published crates run in the unpacked packages. They fail if they
//! need a file, a dependency or a setting that only the workspace has.

mod contents;
mod isolated;
mod manifest;

use std::path::PathBuf;

use xshell::{Shell, cmd};

use crate::{Result, test, workspace};

pub(crate) fn run(sh: &Shell) -> Result {
    let packages = workspace::published(sh)?;
    none_wrong(packages.iter().flat_map(manifest::wrong).collect())?;
    let names = packages.iter().flat_map(|package| ["--package", &package.name]);
    let target = workspace::target_dir("");
    // `--no-verify`: the tests below build every package anyway.
    cmd!(sh, "cargo package --quiet --no-verify --allow-dirty --target-dir {target} {names...}")
        .run()?;
    let folder = isolated::unpack(sh, &packages)?;
    let mut wrong = Vec::new();
    for package in &packages {
        wrong.extend(contents::wrong(package, &package.archive(), &folder.join(package.stem()))?);
    }
    none_wrong(wrong)?;
    isolated::write_workspace(sh, &packages, &folder)?;
    test::with(sh, &["--manifest-path", &manifest().to_string_lossy(), "--workspace"])
}

/// Returns the manifest of the workspace of unpacked packages.
pub(crate) fn manifest() -> PathBuf {
    isolated::folder().join("Cargo.toml")
}

fn none_wrong(wrong: Vec<String>) -> Result {
    wrong.iter().for_each(|wrong| eprintln!("{wrong}"));
    match wrong.len() {
        0 => Ok(()),
        count => Err(format!("the packages have {count} defects").into()),
    }
}
