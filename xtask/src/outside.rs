//! `outside`: what the documentation shows compiles and runs in a crate of its own, where `tamis` is the only
//! dependency of ours, and so do three programs.
//!
//! In the crate that an example stands in `tamis` cannot be named, so a hidden line says what stands for it there:
//! `# use tamis_bloom as tamis;`. It is left out here. Apart from it no example names a crate that `tamis` hides.

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

/// The names of the programs beside the examples.
fn programs(sh: &Shell) -> Result<Vec<String>> {
    let files = sh.read_dir("xtask/outside/src/bin")?;
    let names = files.iter().filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned()));
    let names: Vec<String> = names.collect();
    if names.is_empty() {
        return Err("there is no program in xtask/outside/src/bin".into());
    }
    Ok(names)
}
