//! `lint`: checks the format, runs clippy and builds the documentation, all without warnings. The
//! models are compiled without warnings by `model`.

use xshell::{Shell, cmd};

use crate::{Result, workspace};

/// The manifest of the other workspace, which shares the build products of other crates.
const NO_STD: &str = "xtask/no_std/Cargo.toml";

pub(crate) fn run(sh: &Shell) -> Result {
    format(sh)?;
    clippy(sh)?;
    docs(sh)
}

pub(crate) fn format(sh: &Shell) -> Result {
    cmd!(sh, "cargo fmt --all --check").run()?;
    cmd!(sh, "cargo fmt --manifest-path {NO_STD} --check").run()?;
    Ok(())
}

pub(crate) fn clippy(sh: &Shell) -> Result {
    let (features, target) = (workspace::features(sh)?, workspace::target_dir(""));
    cmd!(sh, "cargo clippy --workspace --features {features} --all-targets -- -D warnings")
        .run()?;
    cmd!(sh, "cargo clippy --manifest-path {NO_STD} --target-dir {target} -- -D warnings").run()?;
    Ok(())
}

pub(crate) fn docs(sh: &Shell) -> Result {
    let _env = sh.push_env("RUSTDOCFLAGS", "-D warnings");
    let features = workspace::features(sh)?;
    cmd!(sh, "cargo doc --workspace --features {features} --no-deps").run()?;
    Ok(())
}
