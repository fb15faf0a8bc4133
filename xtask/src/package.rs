//! `package`: what would be published is complete and small, and passes its tests without the workspace.
//!
//! The tests and doctests of the published crates run here once, in the unpacked packages: a file, a dependency or a
//! setting that only the workspace has does not help them.

mod alone;
mod contents;
mod manifest;

use xshell::{Shell, cmd};

use crate::{Result, test, workspace};

pub(crate) fn run(sh: &Shell) -> Result {
    let packages = workspace::published(sh)?;
    none_wrong(packages.iter().flat_map(manifest::wrong).collect())?;
    let names = packages.iter().flat_map(|package| ["--package", &package.name]);
    let target = workspace::target_dir("");
    // Not verified by cargo: it would build each, and below each is built for its tests.
    cmd!(sh, "cargo package --quiet --no-verify --allow-dirty --target-dir {target} {names...}")
        .run()?;
    let folder = alone::unpack(sh, &packages)?;
    let mut wrong = Vec::new();
    for package in &packages {
        wrong.extend(contents::wrong(package, &package.archive(), &folder.join(package.stem()))?);
    }
    none_wrong(wrong)?;
    alone::write_workspace(sh, &packages, &folder)?;
    let manifest = folder.join("Cargo.toml");
    test::with(sh, &["--manifest-path", &manifest.to_string_lossy(), "--workspace"])
}

fn none_wrong(wrong: Vec<String>) -> Result {
    wrong.iter().for_each(|wrong| eprintln!("{wrong}"));
    match wrong.len() {
        0 => Ok(()),
        count => Err(format!("{count} things are wrong with the packages").into()),
    }
}
