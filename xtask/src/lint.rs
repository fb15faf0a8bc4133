//! `lint`: format, clippy and documentation, all without a warning.

use xshell::{Shell, cmd};

use crate::model::CHECKERS;
use crate::{Result, workspace};

/// The workspaces beside the main one: manifest, what to check. The build products of other crates are shared.
const OTHERS: [(&str, &[&str]); 3] = [
    ("fuzz/Cargo.toml", &["--all-targets", "--no-default-features"]),
    ("xtask/no_std/Cargo.toml", &[]),
    ("xtask/outside/Cargo.toml", &["--all-targets"]),
];

/// What is built with all features: not the benches, whose features bring the peers.
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
    // The builds of the checkers are other code. The test profile brings the unit tests, where the models are.
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
