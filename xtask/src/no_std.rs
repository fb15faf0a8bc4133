//! `no-std`: links and runs a program without std, which proves that the library does not need std.

use xshell::{Shell, cmd};

use crate::{Result, workspace};

pub(crate) fn run(sh: &Shell) -> Result {
    let target = workspace::target_dir("");
    cmd!(sh, "cargo run --manifest-path xtask/no_std/Cargo.toml --target-dir {target}").run()?;
    Ok(())
}
