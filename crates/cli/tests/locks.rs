//! Whatever replaces a filter holds its lock: two programs that change it take turns.
#![cfg(unix)]

use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Files, by_shell, program};

/// Starts a command in the directory.
fn start(files: &Files, args: &[&str]) -> Child {
    program()
        .current_dir(&files.0)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs")
}

/// Starts `tamis new f` on a pipe, and returns it when it has printed a line, and so has the lock.
fn hold(files: &Files) -> (Child, ChildStdin) {
    let mut run = start(files, &["new", "-q", "f"]);
    let mut input = run.stdin.take().expect("piped");
    input.write_all(b"held\n").expect("written");
    let mut line = String::new();
    let output = run.stdout.as_mut().expect("piped");
    BufReader::new(output).read_line(&mut line).expect("read");
    assert_eq!(line, "held\n");
    (run, input)
}

/// Whether a command says that it waits for the lock of `f`, which it calls by this name.
fn is_wait(line: &str, name: &str) -> bool {
    line.starts_with(&format!("{name}: another run changes it, and has locked /"))
        && line.ends_with("/f.lock; waiting\n")
}

/// Starts a command that must wait for the lock of `f`, ends the run that holds it, and returns
/// what the command said.
fn after_a_run(files: &Files, args: &[&str]) -> String {
    let (mut run, input) = hold(files);
    let mut waiting = start(files, args);
    drop(waiting.stdin.take());
    let mut said = BufReader::new(waiting.stderr.take().expect("piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("read");
    assert!(is_wait(&line, "f"), "{args:?}: {line}");
    assert!(waiting.try_wait().expect("ours").is_none(), "{args:?} did not wait");
    drop(input);
    assert!(run.wait().expect("it ends").success());
    said.read_to_string(&mut line).expect("read");
    assert!(waiting.wait().expect("it ends").success(), "{args:?}: {line}");
    assert!(!files.path("f.lock").exists(), "{args:?} leaves the lock");
    line
}

/// Nothing is lost: the merge reads the filter after the run has saved it.
#[test]
fn a_merge_onto_a_filter_has_what_another_run_adds() {
    let files = Files::new();
    files.write("a", "a\n");
    files.write("b", "b\n");
    files.run(&["new", "-q", "f", "a"]);
    files.run(&["new", "-q", "g", "b"]);
    let said = after_a_run(&files, &["merge", "-o", "f", "f", "g"]);
    assert!(said.contains("2 filters merged"), "{said}");
    files.write("all", "a\nb\nheld\nother\n");
    assert_eq!(files.run(&["query", "-q", "f", "all"]).0, "a\nb\nheld\n");
}

/// Also for a filter that does not exist yet, and under another name.
#[test]
fn every_command_that_replaces_a_filter_waits() {
    let files = Files::new();
    files.write("in", "a\n");
    files.run(&["new", "-q", "g", "in"]);
    files.run(&["build", "-q", "-o", "t", "--to", "guava", "--capacity", "9", "in"]);
    for args in [
        &["build", "-o", "f", "in"][..],
        &["build", "-o", "f", "--to", "guava", "--capacity", "9", "in"],
        &["convert", "-o", "f", "g"],
        &["convert", "-o", "f", "--from", "guava", "t"],
        &["merge", "-o", "f", "g"],
        &["index", "-o", "f", "in"],
    ] {
        let _ = fs::remove_file(files.path("f"));
        after_a_run(&files, args);
    }
    // Under another name.
    let _ = fs::remove_file(files.path("f"));
    files.run(&["new", "-q", "f", "in"]);
    std::os::unix::fs::symlink("f", files.path("link")).expect("linked");
    let (mut run, input) = hold(&files);
    let mut waiting = start(&files, &["build", "-o", "link", "in"]);
    let mut said = BufReader::new(waiting.stderr.take().expect("piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("read");
    assert!(is_wait(&line, "link"), "{line}");
    drop(input);
    assert!(run.wait().expect("it ends").success() && waiting.wait().expect("it ends").success());
}

/// Whether a program has this lock. Its file is there before.
fn is_locked(file: &Path) -> bool {
    let tried = File::open(file).map(|file| file.try_lock());
    matches!(tried, Ok(Err(TryLockError::WouldBlock)))
}

/// A run that begins while a filter is built adds to the new one.
#[test]
fn a_run_waits_for_a_build() {
    let files = Files::new();
    let mut build = start(&files, &["build", "-q", "-o", "f", "--capacity", "100"]);
    // It has the lock before the input is read.
    let mut input = build.stdin.take().expect("piped");
    input.write_all(b"a\n").expect("written");
    let start_of_wait = Instant::now();
    while !is_locked(&files.path("f.lock")) {
        assert!(start_of_wait.elapsed() < Duration::from_secs(60), "it has no lock");
        thread::sleep(Duration::from_millis(1));
    }
    let mut run = start(&files, &["new", "f"]);
    run.stdin.take().expect("piped").write_all(b"a\nb\n").expect("written");
    let mut line = String::new();
    let mut said = BufReader::new(run.stderr.take().expect("piped"));
    said.read_line(&mut line).expect("read");
    assert!(is_wait(&line, "f"), "{line}");
    drop(input);
    assert!(build.wait().expect("it ends").success());
    assert_eq!(run.wait_with_output().expect("it ends").stdout, b"b\n");
}

#[test]
fn a_command_that_fails_leaves_no_lock() {
    let files = Files::new();
    files.write("in", "a\tx\n");
    files.write("bad", "no filter");
    files.run(&["new", "-q", "g", "in"]);
    for args in [
        &["merge", "-o", "f", "g", "bad"][..],
        &["merge", "-o", "f", "missing"],
        &["convert", "-o", "f", "bad"],
        &["build", "-o", "f", "--max-line", "1", "in"],
        &["build", "-o", "f", "--to", "guava", "--capacity", "9", "--max-line", "1", "in"],
        &["index", "-o", "f", "--max-line", "1", "in"],
        &["index", "-o", "f", "missing"],
    ] {
        files.tamis(args).assert().code(2).stdout("");
        assert_eq!(files.names(), ["bad", "g", "in"], "{args:?}");
    }
}

/// What is no lock is not removed: a file that another program has written, and what a link leads
/// to.
#[test]
fn a_file_that_is_no_lock_is_kept() {
    let files = Files::new();
    files.write("in", "a\n");
    files.write("Cargo.lock", "precious");
    std::os::unix::fs::symlink("nowhere", files.path("link.lock")).expect("linked");
    for args in [
        &["new", "-q", "Cargo", "in"][..],
        &["build", "-q", "-o", "Cargo", "in"],
        &["index", "-q", "-o", "Cargo", "in"],
        &["new", "-q", "link", "in"],
    ] {
        let text = files.refused(2, args);
        assert!(text.contains(".lock: cannot be locked"), "{text}");
    }
    assert_eq!(fs::read(files.path("Cargo.lock")).expect("kept"), b"precious");
    assert!(!files.path("nowhere").exists() && !files.path("Cargo").exists());
}

/// Without a descriptor for the second look at the lock, the run ends.
#[test]
fn a_lock_that_cannot_be_looked_at_is_an_error() {
    for limit in 4..10 {
        let files = Files::new();
        files.write("in", "a\n");
        let mut run = by_shell(&format!("ulimit -n {limit}"));
        run.args(["new", "-q", "f", "in"]).current_dir(&files.0);
        // The time only ends a run that never ends by itself.
        let run = assert_cmd::Command::from_std(run).timeout(Duration::from_secs(60)).assert();
        let output = run.get_output();
        assert!(output.status.code().is_some(), "{limit}: {output:?}");
    }
}

/// It takes root to be a user whose threads are limited.
#[test]
fn a_thread_that_cannot_start_is_an_error() {
    if !rustix::process::geteuid().is_root() {
        println!("NOT TESTED: only root can run the program as another user");
        return;
    }
    let files = Files::new();
    files.write("in", "a\n");
    fs::set_permissions(&files.0, fs::Permissions::from_mode(0o777)).expect("may be set");
    // The user has no other process.
    // The name of the limit differs between shells.
    let mut run = by_shell("ulimit -u 1 2>/dev/null || ulimit -p 1");
    run.args(["new", "-q", "f", "in"]).current_dir(&files.0);
    let output = run.uid(4244).output().expect("it runs");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("cannot start a thread: ") && output.stdout.is_empty(), "{said}");
    assert_eq!(files.names(), ["in"]);
}
