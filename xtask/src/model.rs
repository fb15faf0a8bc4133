//! `model`: the loom models, which try every interleaving, and their mutants.
//!
//! A model is a test in a module `models` of a crate in [`MODELLED`]. A mutant is a model with a
//! planted defect, named `mutant_*`; its test passes when loom catches the defect.

use xshell::{PushEnv, Shell, cmd};

use crate::{Result, workspace};

/// The crates that have models, and loom itself, as flags of cargo.
pub(crate) const MODELLED: [&str; 8] = [
    "--package",
    "tamis-sync",
    "--package",
    "tamis-bloom",
    "--package",
    "tamis-cuckoo",
    "--features",
    "tamis-sync/loom",
];

/// Builds under these flags and in its own folder, or each run would rebuild everything.
pub(crate) fn loom_env(sh: &Shell) -> [PushEnv<'_>; 2] {
    [
        sh.push_env("RUSTFLAGS", "--cfg tamis_loom"),
        sh.push_env("CARGO_TARGET_DIR", workspace::target_dir("loom")),
    ]
}

pub(crate) fn run(sh: &Shell, mutants: bool, name: Option<&str>) -> Result {
    let _env = loom_env(sh);
    let list = cmd!(sh, "cargo test --release {MODELLED...} --lib -- --list --format terse");
    let list = workspace::read(list)?;
    let models = select(&list, mutants, name.unwrap_or_default());
    if models.is_empty() {
        // A pass would be the worst of all: nothing was checked.
        return Err("there is no such model".into());
    }
    let count = models.len();
    cmd!(sh, "cargo test --release {MODELLED...} --lib -- --exact {models...}").run()?;
    eprintln!("{count} models passed");
    Ok(())
}

/// The names of the models in libtest's list.
fn select<'a>(list: &'a str, mutants: bool, name: &str) -> Vec<&'a str> {
    list.lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .filter(|test| test.split("::").any(|part| part == "models"))
        .filter(|test| mutants || !test.contains("mutant_"))
        .filter(|test| test.contains(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "models::racing_inserts: test\nmodels::mutant_lossy: test\nodd::a: test\n";

    #[test]
    fn models_and_mutants_are_told_apart() {
        assert_eq!(select(LIST, false, ""), ["models::racing_inserts"]);
        assert_eq!(select(LIST, true, ""), ["models::racing_inserts", "models::mutant_lossy"]);
        assert_eq!(select(LIST, true, "lossy"), ["models::mutant_lossy"]);
        assert!(select(LIST, true, "odd").is_empty());
    }
}
