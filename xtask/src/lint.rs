//! `lint`: checks the format, runs clippy and builds the documentation, all without warnings.

use xshell::{Shell, cmd};

use crate::model::CHECKERS;
use crate::{Result, workspace};

/// The other workspaces: the manifest and the flags of each. All workspaces share the build
/// products of other crates.
const OTHERS: [(&str, &[&str]); 3] = [
    ("fuzz/Cargo.toml", &["--all-targets", "--no-default-features"]),
    ("xtask/no_std/Cargo.toml", &[]),
    ("xtask/outside/Cargo.toml", &["--all-targets"]),
];

/// The flags that exclude the benches from a build with all features: their features add the crates
/// to compare with.
pub(crate) const OURS: [&str; 2] = ["--exclude", "tamis-benches"];

pub(crate) fn run(sh: &Shell) -> Result {
    format(sh)?;
    clippy(sh)?;
    docs(sh)
}

pub(crate) fn format(sh: &Shell) -> Result {
    cmd!(sh, "cargo fmt --all --check").run()?;
    for (manifest, ..) in OTHERS {
        cmd!(sh, "cargo fmt --manifest-path {manifest} --check").run()?;
    }
    Ok(())
}

pub(crate) fn clippy(sh: &Shell) -> Result {
    cmd!(sh, "cargo clippy --workspace {OURS...} --all-targets --all-features -- -D warnings")
        .run()?;
    cmd!(sh, "cargo clippy --package tamis-benches --features report --all-targets -- -D warnings")
        .run()?;
    let target = workspace::target_dir("");
    for (manifest, flags) in OTHERS {
        cmd!(sh, "cargo clippy --manifest-path {manifest} {flags...} --target-dir {target}")
            .args(["--", "-D", "warnings"])
            .run()?;
    }
    // The model checkers compile other code. The models are unit tests, which only the test profile
    // includes.
    for checker in &CHECKERS {
        let (_env, packages) = (checker.env(sh), checker.packages);
        cmd!(sh, "cargo clippy --profile test {packages...} --lib -- -D warnings").run()?;
    }
    Ok(())
}

pub(crate) fn docs(sh: &Shell) -> Result {
    let _env = sh.push_env("RUSTDOCFLAGS", "-D warnings");
    cmd!(sh, "cargo doc --workspace {OURS...} --all-features --no-deps").run()?;
    Ok(())
}
