//! Builds programs of tests without running them, and runs them, several at a time.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use serde_json::Value;
use xshell::{Shell, cmd};

use crate::{Result, workspace};

/// A program that cargo has built from the tests of a package.
#[derive(Debug, PartialEq)]
pub(crate) struct Program {
    /// The directory of the package, in which the program must run.
    pub(crate) folder: PathBuf,
    /// The name of the target: that of the crate, or that of the file in `tests`.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

impl Program {
    /// Returns the command that runs the program in the directory of its package, as cargo does.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.folder);
        command
    }
}

/// Builds the programs that `cargo test` with these flags would run, apart from the doctests.
pub(crate) fn build(sh: &Shell, flags: &[impl AsRef<OsStr>]) -> Result<Vec<Program>> {
    let format = ["--no-run", "--message-format", "json-render-diagnostics"];
    programs(&workspace::read(cmd!(sh, "cargo test {flags...} {format...}"))?)
}

/// Returns the programs of tests in cargo's messages. Other programs, which tests start, are
/// not among them.
fn programs(messages: &str) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for line in messages.lines() {
        let message: Value = serde_json::from_str(line)?;
        let [path, manifest, name] =
            [&message["executable"], &message["manifest_path"], &message["target"]["name"]]
                .map(Value::as_str);
        if let (true, Some(path), Some(manifest), Some(name)) =
            (message["profile"]["test"] == true, path, manifest, name)
        {
            let folder = Path::new(manifest).parent().ok_or("a manifest without a directory")?;
            let (folder, name, path) = (folder.to_owned(), name.to_owned(), path.into());
            programs.push(Program { folder, name, path });
        }
    }
    Ok(programs)
}

/// Runs programs, as many at a time as there are processors, in the order of the list. Prints the
/// output of each at its end, and its time. After a failure, no further program starts.
pub(crate) fn run_all(programs: impl IntoIterator<Item = Command>) -> Result {
    let queue: Mutex<VecDeque<Command>> = Mutex::new(programs.into_iter().collect());
    let next = || queue.lock().expect("no thread panics").pop_front();
    let work = || -> std::result::Result<(), String> {
        while let Some(mut program) = next() {
            let start = Instant::now();
            let output = program.output().map_err(|error| format!("{program:?}: {error}"))?;
            let text = [output.stdout, output.stderr]
                .map(|text| String::from_utf8_lossy(&text).into_owned());
            let seconds = start.elapsed().as_secs_f64();
            eprintln!("{program:?}: {seconds:.1} s\n{}", text.concat());
            if !output.status.success() {
                queue.lock().expect("no thread panics").clear();
                return Err(format!("{program:?} failed"));
            }
        }
        Ok(())
    };
    let results: Vec<_> = thread::scope(|scope| {
        let count = thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    Ok(results.into_iter().collect::<std::result::Result<(), String>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_of_tests_are_returned() {
        let messages = concat!(
            r#"{"executable":"/t/main-1","manifest_path":"/c/a/Cargo.toml","#,
            r#""target":{"name":"main"},"profile":{"test":true}}"#,
            "\n",
            r#"{"executable":"/t/a","manifest_path":"/c/a/Cargo.toml","#,
            r#""target":{"name":"a"},"profile":{"test":false}}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        let main = Program { folder: "/c/a".into(), name: "main".into(), path: "/t/main-1".into() };
        assert_eq!(programs(messages).expect("valid messages"), [main]);
    }

    #[test]
    fn a_failing_program_is_an_error_and_ends_the_run() {
        assert!(run_all([Command::new("true")]).is_ok());
        let others = std::iter::repeat_with(|| Command::new("true")).take(8);
        assert!(run_all(others.chain([Command::new("false")])).is_err());
        assert!(run_all([Command::new("/no/such/program")]).is_err());
    }
}
