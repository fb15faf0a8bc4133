//! Runs a step of `ci` beside the others, as a process of its own.

use core::time::Duration;
use std::env;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::SystemTime;

use xshell::Shell;

use crate::{Result, workspace};

/// A step that runs. It ends with this value.
pub(super) struct Beside {
    pub(super) name: &'static str,
    start: SystemTime,
    child: Child,
    /// The file of what it prints.
    log: PathBuf,
}

impl Beside {
    /// Starts the command of this program that has the name of the step. It gives way to the other
    /// steps: some of their tests have deadlines.
    pub(super) fn start(sh: &Shell, name: &'static str) -> Result<Self> {
        let log = workspace::target_dir("ci-beside.log");
        let file = File::create(&log)?;
        let mut command = Command::new("nice");
        command
            .arg(env::current_exe()?)
            .args(name.split(' '))
            .stdout(file.try_clone()?)
            .stderr(file);
        for variable in ["TAMIS_LONG", "CARGO_INCREMENTAL"] {
            command.envs(sh.var_os(variable).map(|value| (variable, value)));
        }
        Ok(Self { name, start: SystemTime::now(), child: command.spawn()?, log })
    }

    /// Waits for the end, and prints what the step has printed. Returns the time from the start to
    /// the last line of it.
    pub(super) fn finish(mut self) -> (Duration, Result) {
        let status = self.child.wait();
        let end = fs::metadata(&self.log).and_then(|log| log.modified());
        let time = end.ok().and_then(|end| end.duration_since(self.start).ok());
        eprintln!("{}", fs::read_to_string(&self.log).unwrap_or_default());
        let outcome = match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(status.to_string().into()),
            Err(error) => Err(error.into()),
        };
        (time.unwrap_or_default(), outcome)
    }
}

/// Ends the step where `ci` ends before it.
impl Drop for Beside {
    fn drop(&mut self) {
        // It fails if the step has ended.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
