//! `model`: the models of concurrent code, under loom and under shuttle, and their mutants.
//!
//! A mutant is a model with a planted defect, named `mutant_*`; its test passes when the defect is caught.

use xshell::{PushEnv, Shell, cmd};

use crate::{Result, workspace};

/// A checker of concurrent code: it replaces the atomics of a build under `--cfg tamis_<name>`.
pub(crate) struct Checker {
    name: &'static str,
    /// The crates that have models for it, and the checker itself, as flags of cargo.
    pub(crate) packages: &'static [&'static str],
    /// The modules that the models are in.
    module: &'static str,
}

/// loom tries every interleaving of two or three threads, shuttle random ones of more.
pub(crate) const CHECKERS: [Checker; 2] = [
    Checker {
        name: "loom",
        packages: &[
            "--package",
            "tamis-sync",
            "--package",
            "tamis-bloom",
            "--package",
            "tamis-cuckoo",
            "--features",
            "tamis-sync/loom",
        ],
        module: "models",
    },
    Checker {
        name: "shuttle",
        packages: &["--package", "tamis-cuckoo", "--features", "tamis-sync/shuttle"],
        module: "schedules",
    },
];

impl Checker {
    /// Builds under its flags and in its own folder, or each run would rebuild everything.
    pub(crate) fn env<'s>(&self, sh: &'s Shell) -> [PushEnv<'s>; 2] {
        [
            sh.push_env("RUSTFLAGS", format!("--cfg tamis_{}", self.name)),
            sh.push_env("CARGO_TARGET_DIR", workspace::target_dir(self.name)),
        ]
    }

    /// Runs the models that are asked for, and counts them.
    fn run(&self, sh: &Shell, mutants: bool, name: &str) -> Result<usize> {
        let Self { packages, module, .. } = *self;
        let _env = self.env(sh);
        let list = cmd!(sh, "cargo test --release {packages...} --lib -- --list --format terse");
        let list = workspace::read(list)?;
        if select(&list, module, true, "").is_empty() {
            return Err(format!("there is no model in a module `{module}`").into());
        }
        let models = select(&list, module, mutants, name);
        let count = models.len();
        if count > 0 {
            cmd!(sh, "cargo test --release {packages...} --lib -- --exact {models...}").run()?;
        }
        Ok(count)
    }
}

pub(crate) fn run(sh: &Shell, mutants: bool, name: Option<&str>) -> Result {
    let mut count = 0;
    for checker in &CHECKERS {
        count += checker.run(sh, mutants, name.unwrap_or_default())?;
    }
    if count == 0 {
        // A pass would be the worst of all: nothing was checked.
        return Err("there is no such model".into());
    }
    eprintln!("{count} models passed");
    Ok(())
}

/// The names of the models of a module in libtest's list.
fn select<'a>(list: &'a str, module: &str, mutants: bool, name: &str) -> Vec<&'a str> {
    list.lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .filter(|test| test.split("::").any(|part| part == module))
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
        assert_eq!(select(LIST, "models", false, ""), ["models::racing_inserts"]);
        assert_eq!(
            select(LIST, "models", true, ""),
            ["models::racing_inserts", "models::mutant_lossy"]
        );
        assert_eq!(select(LIST, "models", true, "lossy"), ["models::mutant_lossy"]);
        assert!(select(LIST, "models", true, "odd").is_empty());
    }
}
