//! `outside`: compiles and runs the examples of the documentation, and three programs, in a crate
//! outside the workspace that depends on no crate of ours but `tamis`.
//!
//! The crates below `tamis` cannot name `tamis`, so their examples contain a hidden line that names
//! a replacement: `# use tamis_bloom as tamis;`. This command removes that line. No other line may
//! name a crate that `tamis` hides.

mod examples;

use xshell::{Shell, cmd};

use crate::{Result, workspace};

const MANIFEST: &str = "xtask/outside/Cargo.toml";

pub(crate) fn run(sh: &Shell) -> Result {
    let target = workspace::target_dir("");
    let list = workspace::target_dir("outside-examples.rs");
    let examples = examples::of_the_documentation(sh)?;
    sh.write_file(&list, examples::as_items(&examples))?;
    let flags = ["--manifest-path", MANIFEST, "--target-dir"];
    let _env = sh.push_env("TAMIS_EXAMPLES", &list);
    cmd!(sh, "cargo test {flags...} {target} --doc").run()?;
    eprintln!("{} examples of the documentation passed", examples.len());
    for program in programs(sh)? {
        cmd!(sh, "cargo run {flags...} {target} --bin {program}").run()?;
    }
    Ok(())
}

/// Returns the names of the programs.
fn programs(sh: &Shell) -> Result<Vec<String>> {
    let files = sh.read_dir("xtask/outside/src/bin")?;
    let names = files.iter().filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned()));
    let names: Vec<String> = names.collect();
    if names.is_empty() {
        return Err("xtask/outside/src/bin contains no program".into());
    }
    Ok(names)
}
