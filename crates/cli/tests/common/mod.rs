//! Shared by the tests of the program: how to run it, its data, and the exact answers.

#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, process};

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use tempfile::{TempDir, tempdir};

/// Returns a command that runs the program.
pub(crate) fn tamis() -> Command {
    cargo_bin_cmd!("tamis")
}

/// Returns a command that runs `tamis dedup --quiet` with these arguments.
pub(crate) fn dedup(args: &[&str]) -> Command {
    let mut command = tamis();
    command.arg("dedup").arg("--quiet").args(args);
    command
}

/// Returns a file of 58,781 lines, 29,919 of them distinct: real ones, or generated ones if the
/// package stands outside the workspace.
pub(crate) fn homepages() -> PathBuf {
    static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
        let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tamis/data/homepages.txt");
        if real.exists() { real } else { generated(58_781, 29_919) }
    });
    FILE.clone()
}

/// Writes a file with the given numbers of lines and of distinct lines; the other lines repeat
/// earlier ones.
fn generated(lines: u64, distinct: u64) -> PathBuf {
    let (mut text, mut last) = (String::new(), None);
    for line in 0..lines {
        let newest = line * distinct / lines;
        let site = if last == Some(newest) { line * line % (newest + 1) } else { newest };
        writeln!(text, "https://www.site-{site}.example.org/")
            .expect("writes to a string do not fail");
        last = Some(newest);
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // Other processes may write it too, so each writes its own file and renames it.
    let part = folder.join(format!("homepages.{}", process::id()));
    let file = folder.join("homepages.txt");
    fs::write(&part, text).expect("written");
    fs::rename(part, &file).expect("renamed");
    file
}

/// Splits several inputs into records, without their separators. The last record of an input may
/// end without one.
pub(crate) fn records<'a>(inputs: &[&'a [u8]], separator: u8) -> Vec<&'a [u8]> {
    let mut records = Vec::new();
    for input in inputs {
        let mut parts: Vec<&[u8]> = input.split(|&byte| byte == separator).collect();
        if parts.last().is_some_and(|last| last.is_empty()) {
            parts.pop();
        }
        records.extend(parts);
    }
    records
}

/// Returns the exact answer: the first record of every key, and every record without a key.
pub(crate) fn first_of_each<'a>(
    records: &[&'a [u8]],
    separator: u8,
    key: impl Fn(&'a [u8]) -> Option<&'a [u8]>,
) -> Vec<u8> {
    let mut seen = HashSet::new();
    let mut output = Vec::new();
    for &record in records {
        if key(record).is_none_or(|key| seen.insert(key)) {
            output.extend_from_slice(record);
            output.push(separator);
        }
    }
    output
}

/// Returns the exact answer for whole lines.
pub(crate) fn exact(inputs: &[&[u8]]) -> Vec<u8> {
    first_of_each(&records(inputs, b'\n'), b'\n', Some)
}

/// A directory with files of lines, in which commands run.
pub(crate) struct Files(pub(crate) TempDir);

impl Files {
    pub(crate) fn new() -> Self {
        Self(tempdir().expect("a folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("written");
        path
    }

    /// Runs a command in the directory; returns what it prints to standard output and to standard
    /// error.
    pub(crate) fn run(&self, args: &[&str]) -> (String, String) {
        let output = tamis().current_dir(&self.0).args(args).assert().success();
        let output = output.get_output();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
        (text(&output.stdout), text(&output.stderr))
    }
}

/// Runs of `tamis` that a test signals, and pipes of which it knows what is unread.
#[cfg(target_os = "linux")]
pub(crate) mod processes {
    use core::time::Duration;
    use std::os::fd::AsFd;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::thread;
    use std::time::Instant;

    use rustix::process::{Pid, Signal, kill_process};

    /// Returns a command that runs the program, with pipes for everything.
    pub(crate) fn piped(args: &[&str], filter: &Path) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("tamis"));
        command.args(args).arg(filter);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Sends a signal to a process that has not been waited for.
    pub(crate) fn kill(child: &Child, signal: Signal) {
        kill_process(Pid::from_child(child), signal).expect("it exists");
    }

    /// Waits until the condition holds.
    pub(crate) fn until(condition: impl Fn() -> bool) {
        let start = Instant::now();
        while !condition() {
            assert!(start.elapsed() < Duration::from_secs(60), "it takes too long");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The number of bytes in a pipe.
    pub(crate) fn unread(pipe: impl AsFd) -> u64 {
        rustix::io::ioctl_fionread(pipe).expect("a pipe")
    }

    /// The names of the files in a directory.
    pub(crate) fn names(folder: &Path) -> Vec<String> {
        let files = std::fs::read_dir(folder).expect("a folder");
        let name = |file: std::fs::DirEntry| file.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = files.map(|file| name(file.expect("a file"))).collect();
        names.sort();
        names
    }
}
