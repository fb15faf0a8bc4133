//! `outside`: compiles and runs the examples of the documentation, and three programs, in a crate
//! that depends on `tamis` as a user's crate does.
//!
//! The crates below `tamis` cannot name `tamis`, so their examples contain a hidden line that names
//! a replacement: `# use tamis_bloom as tamis;`. This command removes that line. No other line may
//! name a crate that `tamis` hides.

mod examples;

use xshell::{PushEnv, Shell, cmd};

use crate::{Result, workspace};

pub(crate) fn run(sh: &Shell) -> Result {
    let _examples = examples(sh)?;
    cmd!(sh, "cargo test --package tamis-outside").run()?;
    Ok(())
}

/// Writes the examples to a file, and its name to the environment: the crate includes the file in
/// its doctests.
pub(crate) fn examples(sh: &Shell) -> Result<PushEnv<'_>> {
    let list = workspace::target_dir("outside-examples.rs");
    let examples = examples::of_the_documentation(sh)?;
    sh.write_file(&list, examples::as_items(&examples))?;
    eprintln!("{} examples of the documentation", examples.len());
    Ok(sh.push_env("TAMIS_EXAMPLES", &list))
}
