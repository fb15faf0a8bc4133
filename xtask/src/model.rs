//! `model`: runs the models of concurrent code and their mutants under loom and shuttle.
//!
//! A mutant is a model with a planted defect, named `mutant_*`. Its test passes if the checker finds the defect.

use xshell::{PushEnv, Shell, cmd};

use crate::{Result, workspace};

/// A model checker. A build with `--cfg tamis_<name>` uses the checker's atomics.
pub(crate) struct Checker {
    name: &'static str,
    /// The cargo flags that select the crates with models for it, and the checker itself.
    pub(crate) packages: &'static [&'static str],
    /// The name of the modules that contain the models.
    module: &'static str,
}

/// loom runs every interleaving of two or three threads; shuttle runs random interleavings of more threads.
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
    /// Sets the checker's flags, and a target folder of its own: in a shared folder each run would rebuild everything.
    pub(crate) fn env<'s>(&self, sh: &'s Shell) -> [PushEnv<'s>; 2] {
        [
            sh.push_env("RUSTFLAGS", format!("--cfg tamis_{}", self.name)),
            sh.push_env("CARGO_TARGET_DIR", workspace::target_dir(self.name)),
        ]
    }

    /// Runs the models whose names contain `name`, and returns their number.
    fn run(&self, sh: &Shell, mutants: bool, name: &str) -> Result<usize> {
        let Self { packages, module, .. } = *self;
        let _env = self.env(sh);
        let list = cmd!(sh, "cargo test --release {packages...} --lib -- --list --format terse");
        let list = workspace::read(list)?;
        if select(&list, module, true, "").is_empty() {
            return Err(format!("no module `{module}` contains a model").into());
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
        // Success would be misleading: nothing was checked.
        return Err("no model has a name that contains this text".into());
    }
    eprintln!("{count} models passed");
    Ok(())
}

/// Returns the names of a module's models in libtest's list.
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
    fn models_and_mutants_are_distinguished() {
        assert_eq!(select(LIST, "models", false, ""), ["models::racing_inserts"]);
        assert_eq!(
            select(LIST, "models", true, ""),
            ["models::racing_inserts", "models::mutant_lossy"]
        );
        assert_eq!(select(LIST, "models", true, "lossy"), ["models::mutant_lossy"]);
        assert!(select(LIST, "models", true, "odd").is_empty());
    }
}
