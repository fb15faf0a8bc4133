//! Runs the program, and keeps files for it.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs, process, thread};

/// What a run of the program printed.
pub(crate) struct Ran {
    args: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    /// The output of a run that succeeded, as text.
    pub(crate) fn text(self) -> String {
        assert_eq!(self.code, Some(0), "{}: {}", self.args, self.stderr);
        String::from_utf8(self.stdout).unwrap()
    }

    /// The error message of a run that found bad usage or bad input, and printed nothing.
    pub(crate) fn refused(self) -> String {
        assert_eq!(self.code, Some(2), "{}: {}", self.args, self.stderr);
        assert!(self.stdout.is_empty(), "{}", self.args);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        self.stderr
    }
}

/// Runs the program with this input.
pub(crate) fn run(args: &[&str], input: &[u8]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_program"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    thread::scope(|scope| {
        // A program that refuses its arguments does not read its input.
        scope.spawn(move || drop(stdin.write_all(input)));
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        Ran { args: args.join(" "), code: output.status.code(), stdout: output.stdout, stderr }
    })
}

/// A directory that is removed with its files.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let thread = format!("{:?}", thread::current().id());
        let number: String = thread.chars().filter(char::is_ascii_digit).collect();
        let path = env::temp_dir().join(format!("tamis-vectors-{}-{number}", process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file, and returns its path.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
