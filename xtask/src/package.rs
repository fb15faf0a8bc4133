//! `package`: checks that the packages to publish are complete and small, and runs their tests
//! outside the workspace.
//!
//! The tests and doctests of the published crates run in the unpacked packages. They fail if they
//! need a file, a dependency or a setting that only the workspace has. The crates that are not
//! published use the unpacked packages, too, so that nothing is built twice.

mod contents;
mod isolated;
mod manifest;

use xshell::{Shell, cmd};

use crate::{Result, outside, test, workspace};

/// Checks the packages, and runs their tests.
pub(crate) fn run(sh: &Shell) -> Result {
    pack(sh)?;
    run_tests(sh)?;
    run_examples(sh)
}

/// Makes the packages, checks them, and unpacks them into a workspace.
pub(crate) fn pack(sh: &Shell) -> Result {
    let all = workspace::packages(sh)?;
    // This program and the Python package are tested in the workspace.
    let all =
        all.into_iter().filter(|package| !["xtask", "tamis-python"].contains(&&*package.name));
    let (packages, others): (Vec<_>, Vec<_>) = all.partition(|package| package.published);
    none_wrong(packages.iter().flat_map(manifest::wrong).collect())?;
    let names = packages.iter().flat_map(|package| ["--package", &package.name]);
    let target = workspace::target_dir("");
    // `--no-verify`: the tests build every package anyway.
    cmd!(sh, "cargo package --quiet --no-verify --allow-dirty --target-dir {target} {names...}")
        .run()?;
    let folder = isolated::unpack(sh, &packages)?;
    let mut wrong = Vec::new();
    for package in &packages {
        wrong.extend(contents::wrong(package, &package.archive(), &folder.join(package.stem()))?);
    }
    none_wrong(wrong)?;
    isolated::write_workspace(sh, &packages, &others, &folder)
}

/// Runs the tests in the unpacked packages, and those of the crates that are not published.
pub(crate) fn run_tests(sh: &Shell) -> Result {
    test::run_programs(sh, &flags(sh)?)
}

/// Runs the doctests in the unpacked packages, and the examples as a user sees them.
pub(crate) fn run_examples(sh: &Shell) -> Result {
    let _examples = outside::examples(sh)?;
    test::run_examples(sh, &flags(sh)?)
}

/// Returns the flags that select the workspace of unpacked packages.
pub(crate) fn flags(sh: &Shell) -> Result<Vec<String>> {
    let manifest = isolated::folder().join("Cargo.toml").display().to_string();
    let target = workspace::target_dir("").display().to_string();
    let features = workspace::features(sh)?;
    let flags = ["--manifest-path", &manifest, "--target-dir", &target, "--workspace"];
    Ok([&flags[..], &["--features", &features]].concat().into_iter().map(str::to_owned).collect())
}

fn none_wrong(wrong: Vec<String>) -> Result {
    wrong.iter().for_each(|wrong| eprintln!("{wrong}"));
    match wrong.len() {
        0 => Ok(()),
        count => Err(format!("the packages have {count} defects").into()),
    }
}
