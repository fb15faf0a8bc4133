//! Shared by the tests of the program: how to run it, its data, and the exact answers.

#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, process};

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use proptest::prelude::*;
use serde_json::Value;
use statrs::distribution::{DiscreteCDF, Poisson};
use tamis_cli::Kind;
use tamis_cli::dedup::Filter;
use tempfile::{TempDir, tempdir};

/// Returns a command that runs the program.
pub(crate) fn tamis() -> Command {
    cargo_bin_cmd!("tamis")
}

/// Returns a command that runs the program, with the standard input and output that a test sets.
pub(crate) fn program() -> process::Command {
    process::Command::new(cargo_bin!("tamis"))
}

/// Returns a command that runs the program after these commands of a shell, such as a limit.
pub(crate) fn by_shell(first: &str) -> process::Command {
    let mut command = process::Command::new("sh");
    command.args(["-c", &format!("{first}; exec \"$0\" \"$@\"")]).arg(cargo_bin!("tamis"));
    command
}

/// What a run has written to standard error.
pub(crate) fn said(run: &Assert) -> String {
    String::from_utf8(run.get_output().stderr.clone()).expect("text")
}

/// The only line that a run has written to standard error.
pub(crate) fn line_said(run: &Assert) -> String {
    let text = said(run);
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

/// The words of a command line that has no quotes.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Parses what the program prints for programs.
pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("one JSON object")
}

/// The names of the files in a directory, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file"));
    let mut names: Vec<String> =
        files.map(|file| file.file_name().into_string().expect("text")).collect();
    names.sort();
    names
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

/// Returns the exact answer: the record of this number, 1 or 2, of every key, and with the first
/// ones every record without a key.
pub(crate) fn nth_of_each<'a>(
    number: usize,
    records: &[&'a [u8]],
    separator: u8,
    key: impl Fn(&'a [u8]) -> Option<&'a [u8]>,
) -> Vec<u8> {
    let mut counts = HashMap::new();
    let mut output = Vec::new();
    for &record in records {
        let count = key(record).map(|key| {
            let count = counts.entry(key).or_insert(0);
            *count += 1;
            *count
        });
        if count.unwrap_or(1) == number {
            output.extend_from_slice(record);
            output.push(separator);
        }
    }
    output
}

/// Any filter of `tamis dedup` that hardly ever loses a record.
pub(crate) fn any_filter() -> impl Strategy<Value = Filter> {
    // At a lower rate a chain of cuckoo filters does not grow far.
    let chain = |kind| Filter::Chain { kind, rate: if kind == Kind::Cuckoo { 1e-8 } else { 1e-9 } };
    let [blocked, once, bloom, cuckoo] =
        [Kind::Blocked, Kind::Once, Kind::Bloom, Kind::Cuckoo].map(chain);
    prop_oneof![Just(Filter::Table), Just(blocked), Just(once), Just(bloom), Just(cuckoo)]
}

/// Checks that a number agrees with the one that the summary expects, which is accurate to 2 %: the
/// rest is chance. `alpha`: the probability that this fails by chance.
pub(crate) fn assert_expected(number: u64, expected: f64, alpha: f64, case: &str) {
    let case = format!("{case}: {number}, {expected} expected");
    println!("{case}");
    let low = Poisson::new(expected * 0.98).expect("positive");
    let high = Poisson::new(expected * 1.02).expect("positive");
    assert!(low.cdf(number) > alpha / 2.0, "too few: {case}");
    assert!(high.sf(number.saturating_sub(1)) > alpha / 2.0, "too many: {case}");
}

/// Returns the exact answer for whole lines.
pub(crate) fn exact(inputs: &[&[u8]]) -> Vec<u8> {
    nth_of_each(1, &records(inputs, b'\n'), b'\n', Some)
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

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("there")
    }

    pub(crate) fn names(&self) -> Vec<String> {
        names(self.0.path())
    }

    /// Returns a command that runs the program in the directory.
    pub(crate) fn tamis(&self, args: &[&str]) -> Command {
        let mut command = tamis();
        command.current_dir(&self.0).args(args);
        command
    }

    /// Runs a command in the directory; returns what it prints to standard output and to standard
    /// error.
    pub(crate) fn run(&self, args: &[&str]) -> (String, String) {
        let (code, output, said) = self.ended(args);
        assert_eq!(code, 0, "{args:?}: {said}");
        (output, said)
    }

    /// Runs a command in the directory; returns its exit code, and what it prints to standard
    /// output and to standard error.
    pub(crate) fn ended(&self, args: &[&str]) -> (i32, String, String) {
        let output = self.tamis(args).output().expect("it runs");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
    }

    /// Runs a command that fails with this code and prints nothing; returns the one line that it
    /// says.
    pub(crate) fn refused(&self, code: i32, args: &[&str]) -> String {
        line_said(&self.tamis(args).assert().code(code).stdout(""))
    }

    /// What `tamis info` says of a filter.
    pub(crate) fn info(&self, filter: &str) -> Value {
        let (text, said) = self.run(&["info", "--json", filter]);
        assert_eq!((said.as_str(), text.lines().count()), ("", 1));
        json(&text)
    }
}

/// Runs of `tamis` that a test signals, and pipes of which it knows what is unread.
#[cfg(target_os = "linux")]
pub(crate) mod processes {
    use core::time::Duration;
    use std::os::fd::AsFd;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::sync::{Arc, Once};
    use std::time::Instant;
    use std::{fs, thread};

    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::consts::{SIGHUP, SIGINT};
    use signal_hook::flag;

    use super::program;

    /// Returns a command that runs the program, with pipes for everything. It does not ignore
    /// SIGHUP and SIGINT.
    pub(crate) fn piped(args: &[&str], filter: &Path) -> Command {
        static CATCH: Once = Once::new();
        CATCH.call_once(catch_ignored);
        let mut command = program();
        command.args(args).arg(filter);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Catches SIGHUP and SIGINT if this program has inherited them as ignored, from `nohup` or a
    /// shell's `&`. The handler does nothing. A child inherits an ignored signal, but a caught one
    /// has its default action in a child.
    fn catch_ignored() {
        let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
        let mask = u64::from_str_radix(mask.trim(), 16).expect("a mask");
        for signal in [SIGHUP, SIGINT].into_iter().filter(|signal| mask >> (signal - 1) & 1 == 1) {
            flag::register(signal, Arc::default()).expect("it may be caught");
        }
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
}
