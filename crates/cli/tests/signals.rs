//! Signals: which are received, what they leave behind, and what a run that is killed has saved.

use core::time::Duration;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use std::{env, thread};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::tempdir;

use crate::common::processes::{kill, piped, until};
use crate::common::{Files, by_shell, names, program, tamis, words};

/// A number from 0 to `below`.
fn random(below: u64) -> u64 {
    getrandom::u64().expect("the system has them") % below
}

/// Reads one line.
fn line(output: &mut impl BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("read");
    line
}

/// What `nohup` and the shell's `&` ignore stays ignored.
#[test]
fn a_signal_that_was_inherited_as_ignored_stays_ignored() {
    for (name, signal) in [("HUP", Signal::HUP), ("INT", Signal::INT)] {
        let files = Files::new();
        let filter = files.path("seen");
        let mut shell = by_shell(&format!("trap '' {name}"));
        let shell = shell.args(["new", "-q"]).arg(&filter);
        let shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = shell.spawn().expect("a shell");
        let mut input = child.stdin.take().expect("piped");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        input.write_all(b"a\n").expect("it reads");
        assert_eq!(line(&mut output), "a\n");
        kill(&child, signal);
        thread::sleep(Duration::from_millis(50));
        input.write_all(b"b\n").expect("it reads");
        assert_eq!(line(&mut output), "b\n");
        drop(input);
        assert!(child.wait().expect("it ends").success());
        tamis().args(["new", "-q"]).arg(&filter).write_stdin("a\nb\nc\n").assert().stdout("c\n");
    }
}

/// The system ignores a signal to the first process of a container unless the process handles it.
#[cfg(target_os = "linux")]
#[test]
fn the_first_process_of_a_container_ends_with_the_status_of_the_signal() {
    let files = Files::new();
    let mut first = Command::new("unshare");
    first.args(["-p", "-f", "--kill-child"]).arg(program().get_program()).args(["new", "-q", "f"]);
    let first = first.current_dir(&files.0).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = first.spawn() else {
        println!("NOT TESTED: there is no unshare");
        return;
    };
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    _ = child.stdin.as_mut().expect("piped").write_all(b"a\n");
    if line(&mut output) != "a\n" {
        println!("NOT TESTED: this user may start no container");
        _ = child.wait();
        return;
    }
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let Ok(inner) = fs::read_to_string(children) else {
        println!("NOT TESTED: this kernel does not list children");
        return;
    };
    let inner = Pid::from_raw(inner.trim().parse().expect("a number")).expect("not 0");
    kill_process(inner, Signal::TERM).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(128 + 15));
    assert_eq!(files.names(), ["f"]);
}

/// A command that creates no file leaves the signals to the system.
#[test]
fn a_run_to_standard_output_receives_no_signal() {
    let mut child = piped(&["dedup", "-q"], Path::new("-")).spawn().expect("it runs");
    let mut input = child.stdin.take().expect("piped");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    input.write_all(b"a\n").expect("it reads");
    assert_eq!(line(&mut output), "a\n");
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("Linux has it");
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("listed");
    let caught = u64::from_str_radix(caught.trim(), 16).expect("a mask");
    assert_eq!([1, 2, 15].map(|signal| caught >> (signal - 1) & 1), [0; 3]);
    kill(&child, Signal::TERM);
    assert_eq!(child.wait().expect("it ends").signal(), Some(15));
}

/// `timeout` sends its signal twice: that is one request, and the run saves.
#[test]
fn two_signals_at_once_are_one() {
    // A round in which this test had to wait between the signals shows nothing.
    let mut rounds = 0;
    for _ in 0..1000 {
        if rounds == 20 {
            return;
        }
        let folder = tempdir().expect("a folder");
        let filter = folder.path().join("seen");
        let mut child = piped(&["new", "-q"], &filter).spawn().expect("it runs");
        let mut input = child.stdin.take().expect("piped");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        input.write_all(b"a\n").expect("it reads");
        assert_eq!(line(&mut output), "a\n");
        let first = Instant::now();
        kill(&child, Signal::TERM);
        kill(&child, Signal::TERM);
        let is_at_once = first.elapsed() < Duration::from_millis(50);
        assert_eq!(child.wait().expect("it ends").signal(), Some(15));
        if is_at_once {
            assert_eq!(names(folder.path()), ["seen"]);
            rounds += 1;
        }
    }
    panic!("in {rounds} rounds only, the signals were sent at once");
}

/// A signal while what was printed to a pipe or a device is saved: the save is finished, and the
/// status is that of the signal.
#[test]
fn a_signal_during_the_last_save_is_not_lost() {
    let files = Files::new();
    let (input, filter) = (files.write("in", "a\nb\n"), files.path("seen"));
    // A round in which the save ended before the signal came shows nothing.
    let is_shown = (0..100).any(|_| {
        let _ = fs::remove_file(&filter);
        let mut run = piped(&["new", "-q"], &filter);
        let run = run.args(LARGE).arg(&input).stdout(Stdio::null());
        let mut child = run.spawn().expect("it runs");
        until(|| is_saving(&files, "seen") || filter.exists());
        kill(&child, Signal::TERM);
        let status = child.wait().expect("it ends");
        assert!(status.success() || status.signal() == Some(15), "{status}");
        assert_eq!(files.names(), ["in", "seen"]);
        status.signal().is_some()
    });
    assert!(is_shown);
    tamis().args(["query", "-q"]).arg(&filter).arg(&input).assert().stdout("a\nb\n");
}

/// The sizes of a filter whose save takes a while.
const LARGE: [&str; 6] = ["--kind", "blocked", "--capacity", "4M", "--rate", "1e-6"];

/// A run that a signal ends has changed no file, and one that has changed them all succeeds: to
/// repeat a run that failed loses and removes nothing.
#[test]
fn a_signal_changes_all_files_or_none() {
    let files = Files::new();
    files.write("in", "a\nb\n");
    let counting = ["--kind", "counting", "--capacity", "400k"];
    let prepare = [&["build", "-q", "-o", "old", "in"], &counting[..]].concat();
    files.run(&prepare);
    let new = [&["new", "-q", "-o", "out", "seen", "in"], &LARGE[..]].concat();
    let build = [&["build", "-q", "-o", "seen", "in"], &LARGE[..]].concat();
    let remove = vec!["remove", "-q", "seen", "in"];
    for (args, out, seen) in
        [(new, Some("old\n"), false), (build, None, true), (remove, None, true)]
    {
        let mut ended = [0, 0];
        for round in 0..100 {
            if ended[1] > 0 && round >= 10 {
                break;
            }
            // The state before the run.
            let _ = fs::remove_file(files.path("seen"));
            if seen {
                fs::copy(files.path("old"), files.path("seen")).expect("copied");
            }
            out.map(|out| files.write("out", out));
            let state = || ["out", "seen"].map(|name| fs::read(files.path(name)).ok());
            let before = state();

            let mut run = program();
            let mut child = run.args(&args).current_dir(&files.0).spawn().expect("it runs");
            until(|| is_saving(&files, "seen") || child_has_ended(&child));
            // Later rounds have no pause: on a busy machine a save may end before it does.
            if round < 10 {
                thread::sleep(Duration::from_micros(random(20_000)));
            }
            kill(&child, Signal::TERM);
            let status = child.wait().expect("it ends");
            assert!(status.success() || status.signal() == Some(15), "{status}");
            let changed = state().iter().zip(&before).filter(|(now, before)| now != before).count();
            let all = if out.is_some() { 2 } else { 1 };
            assert_eq!(changed, if status.success() { all } else { 0 }, "{args:?}: {status}");
            assert!(files.names().iter().all(|name| !name.starts_with(".tamis-")));
            ended[usize::from(!status.success())] += 1;
        }
        assert!(ended[1] > 0, "{args:?}: no run was ended");
    }
}

/// Whether the process is one that has ended and that nobody has waited for.
fn child_has_ended(child: &Child) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("Linux has it");
    stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
}

/// Other signals that end a program leave nothing behind either.
#[test]
fn any_signal_that_ends_a_program_leaves_nothing_behind() {
    for signal in [Signal::USR1, Signal::ALARM, Signal::XCPU] {
        let files = Files::new();
        let mut child = piped(&["dedup", "-q", "-o"], &files.path("out")).spawn().expect("it runs");
        until(|| !files.names().is_empty());
        kill(&child, signal);
        assert_eq!(child.wait().expect("it ends").signal(), Some(signal.as_raw()));
        assert_eq!(files.names(), [""; 0]);
    }
}

/// A limit of the size of files is an error like a full disk: one line, and nothing has changed.
#[test]
fn a_limit_of_the_size_of_files_is_an_error() {
    let files = Files::new();
    files.write("in", (0..100_000).map(|line| format!("{line}\n")).collect::<String>());
    for run in ["new -q seen in", "new -q seen in -o out", "dedup -q in -o out"] {
        let output = by_shell("ulimit -f 50").args(words(run)).current_dir(&files.0).output();
        let output = output.expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{run}: {text}");
        assert!(text.lines().count() == 1 && text.contains("File too large"), "{run}: {text}");
        assert_eq!(files.names(), ["in"]);
    }
}

/// So is a limit of the file that standard output is.
#[test]
fn standard_output_in_a_file_that_may_not_grow_is_an_error() {
    let files = Files::new();
    let lines: String = (0..10_000).map(|line| format!("{line}\n")).collect();
    files.write("in", lines);
    files.run(&["build", "-q", "-o", "f", "in"]);
    for args in [&["dedup", "-q", "in"][..], &["query", "-q", "-e", "f", "in"]] {
        let mut shell = by_shell("ulimit -c 0; ulimit -f 8");
        let output = File::create(files.path("out")).expect("created");
        let shell = shell.args(args).current_dir(&files.0).stdin(Stdio::null()).stdout(output);
        let run = shell.output().expect("a shell");
        let text = String::from_utf8_lossy(&run.stderr);
        let code = if args[0] == "query" { 2 } else { 1 };
        assert_eq!((run.status.code(), text.lines().count()), (Some(code), 1), "{text}");
        assert!(text.contains("too large"), "{text}");
    }
}

/// Whether a run writes the new file of this name.
fn is_saving(files: &Files, name: &str) -> bool {
    let of_name = format!(".tamis-{name}-");
    files.names().iter().any(|name| name.starts_with(&of_name) && is_begun(files, name))
}

/// Whether a temporary file has contents: a command also creates an empty one to see that it may.
fn is_begun(files: &Files, name: &str) -> bool {
    fs::metadata(files.path(name)).is_ok_and(|found| found.len() > 0)
}

/// Whatever the moment, a signal leaves no temporary file and no lock behind.
#[test]
fn a_signal_leaves_nothing_behind() {
    let files = Files::new();
    let text: String = (0..20_000).map(|line| format!("{line}\n")).collect();
    files.write("in", text);
    for args in [
        &["dedup", "-q", "-o", "out", "in", "-"][..],
        &["new", "-q", "-o", "out", "seen", "in", "-"],
        &["build", "-q", "-o", "seen", "in"],
        &["build", "-q", "--to", "guava", "--capacity", "1M", "-o", "seen", "in"],
    ] {
        let mut killed = 0;
        for _ in 0..100 {
            let mut run = program();
            let run = run.args(args).current_dir(&files.0).stdin(Stdio::piped());
            let mut child = run.spawn().expect("it runs");
            thread::sleep(Duration::from_micros(random(12_000)));
            // The input is still open, so a run that reads it has not ended. (It may end before it
            // has served the signal.)
            kill(&child, Signal::TERM);
            killed += u32::from(child.wait().expect("it ends").signal() == Some(15));
        }
        let found = files.names();
        let is_named = |name: &String| ["in", "out", "seen"].contains(&name.as_str());
        assert!(found.iter().all(is_named), "{args:?}: {found:?}");
        assert!(killed > 0, "{args:?}");
    }
}

/// Killed at any time, a run leaves a filter that loads and contains only what was printed.
///
/// `TAMIS_LONG=1`: at 300 moments.
#[test]
fn a_killed_run_withholds_nothing() {
    let rounds = if env::var_os("TAMIS_LONG").is_some() { 300 } else { 20 };
    let input: String = (0..60_000).map(|line| format!("{line}\n")).collect();
    for to_file in [false, true] {
        let folder = tempdir().expect("a folder");
        let (filter, file) = (folder.path().join("seen"), folder.path().join("out"));
        let mut printed = HashSet::new();
        // More rounds, and longer ones, if the machine is too slow for a save in any of them.
        for round in 0.. {
            if round >= rounds && filter.exists() {
                break;
            }
            let mut run = piped(&["new", "-q", "--save-every", "1ms"], &filter);
            if to_file {
                run.stdout(File::create(&file).expect("created"));
            }
            let mut child = run.spawn().expect("it runs");
            let mut stdin = child.stdin.take().expect("piped");
            let text = input.clone();
            let writer = thread::spawn(move || {
                for part in text.as_bytes().chunks(20_000) {
                    if stdin.write_all(part).is_err() {
                        break;
                    }
                    thread::sleep(Duration::from_micros(300));
                }
                // The input stays open until the run is killed.
                stdin
            });
            let output = child.stdout.take();
            let reader = output.map(|output| thread::spawn(move || whole_lines(output)));
            thread::sleep(Duration::from_micros(2000 + random(60_000 * (1 + round / rounds))));
            child.kill().expect("killed");
            child.wait().expect("it ends");
            writer.join().expect("written");
            match reader {
                Some(reader) => printed.extend(reader.join().expect("read")),
                None => printed.extend(whole_lines(File::open(&file).expect("written"))),
            }
            if filter.exists() {
                assert_contains_only(&filter, &input, &printed);
            }
        }
    }
}

/// The lines of an output. One that was cut off was not printed.
fn whole_lines(output: impl Read) -> Vec<Vec<u8>> {
    let (mut output, mut lines, mut line) = (BufReader::new(output), Vec::new(), Vec::new());
    while output.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        if line.ends_with(b"\n") {
            lines.push(core::mem::take(&mut line));
        }
        line.clear();
    }
    lines
}

/// Everything that the filter contains was printed, in this run or before.
fn assert_contains_only(filter: &Path, input: &str, printed: &HashSet<Vec<u8>>) {
    let mut query = tamis();
    let kept = query.args(["query", "-q"]).arg(filter).write_stdin(input).assert().success();
    for line in kept.get_output().stdout.split_inclusive(|&byte| byte == b'\n') {
        assert!(printed.contains(line), "{}", String::from_utf8_lossy(line));
    }
}
