//! Rule on the commands: `ci` runs each, or says why not.

use clap::CommandFactory;

use crate::{Cli, ci};

pub(super) fn check() -> Vec<String> {
    let cli = Cli::command();
    let commands: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
    let steps: Vec<&str> = ci::STEPS.iter().map(|(name, _)| *name).collect();
    let exempt: Vec<&str> = ci::NOT_IN_CI.iter().map(|(name, _)| *name).collect();
    left_out(&commands, &steps, &exempt)
}

fn left_out(commands: &[&str], steps: &[&str], exempt: &[&str]) -> Vec<String> {
    // A step is named after its command: `lint: docs`, `model --mutants`.
    let is_step = |name: &str| steps.iter().any(|step| step.split([':', ' ']).next() == Some(name));
    commands
        .iter()
        .filter(|name| !is_step(name) && !exempt.contains(name))
        .map(|name| format!("xtask/src/ci.rs:1: commands: run `{name}` in ci or say why not"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_left_out_is_found() {
        let left_out = left_out(&["test", "bench", "new"], &["test: docs"], &["bench"]);
        assert_eq!(left_out, ["xtask/src/ci.rs:1: commands: run `new` in ci or say why not"]);
    }
}
