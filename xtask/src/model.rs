//! `model`: runs the models of concurrent code and their mutants under loom and shuttle.
//!
//! A mutant is a model with a planted defect, named `mutant_*`. Its test passes if the checker
//! finds the defect.

use core::cmp::Reverse;
use std::process::Command;

use xshell::{PushEnv, Shell, cmd};

use crate::{Result, programs, workspace};

/// A model checker.
struct Checker {
    name: &'static str,
    /// The flags of a build that uses the checker's atomics. `lint` sees no such build, so warnings
    /// are errors.
    rustflags: &'static str,
    /// The cargo flags that select the crates with models for it, and the checker itself.
    packages: &'static [&'static str],
    /// The name of the modules that contain the models.
    module: &'static str,
}

/// loom runs every interleaving of two or three threads; shuttle runs random interleavings of more
/// threads.
const CHECKERS: [Checker; 2] = [
    Checker {
        name: "loom",
        rustflags: "--cfg tamis_loom -D warnings",
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
        rustflags: "--cfg tamis_shuttle -D warnings",
        packages: &[
            "--package",
            "tamis-bloom",
            "--package",
            "tamis-cuckoo",
            "--features",
            "tamis-sync/shuttle",
        ],
        module: "schedules",
    },
];

impl Checker {
    /// Sets the checker's flags, and a target directory of its own: in a shared one each run would
    /// rebuild everything. Debug assertions are off: they would find some mutants before the
    /// model's property does.
    fn env<'s>(&self, sh: &'s Shell) -> [PushEnv<'s>; 3] {
        [
            sh.push_env("RUSTFLAGS", self.rustflags),
            sh.push_env("CARGO_TARGET_DIR", workspace::target_dir(self.name)),
            sh.push_env("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "false"),
        ]
    }

    /// Builds the models, and returns for each program with some of those that contain `name` a
    /// command that runs them, and their number.
    fn programs(&self, sh: &Shell, mutants: bool, name: &str) -> Result<Vec<(Command, usize)>> {
        let Self { packages, module, .. } = *self;
        let _env = self.env(sh);
        let (mut programs, mut all) = (Vec::new(), 0);
        for program in programs::build(sh, &[packages, &["--lib"]].concat())? {
            let path = &program.path;
            let list = cmd!(sh, "{path} --list --format terse").quiet();
            let list = workspace::read(list)?;
            all += select(&list, module, true, "").len();
            let models = select(&list, module, mutants, name);
            if !models.is_empty() {
                let mut program = program.command();
                // loom and shuttle map and unmap the stacks of their threads all the time, and two
                // tests of one process wait for each other in the system: 33 s for the models of
                // tamis-cuckoo instead of 24 with one.
                program.args(["--test-threads", "1", "--exact"]).args(&models);
                programs.push((program, models.len()));
            }
        }
        if all == 0 {
            return Err(format!("no module `{module}` contains a model").into());
        }
        Ok(programs)
    }
}

pub(crate) fn run(sh: &Shell, mutants: bool, name: Option<&str>) -> Result {
    let mut programs = Vec::new();
    for checker in &CHECKERS {
        programs.extend(checker.programs(sh, mutants, name.unwrap_or_default())?);
    }
    let count: usize = programs.iter().map(|(_, count)| count).sum();
    if count == 0 {
        // Success would be misleading: nothing was checked.
        return Err("no model has a name that contains this text".into());
    }
    // The longest first: otherwise it runs alone at the end.
    programs.sort_by_key(|(_, count)| Reverse(*count));
    programs::run_all(programs.into_iter().map(|(program, _)| program))?;
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
