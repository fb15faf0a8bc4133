//! `tamis new` saves what the reader of its output has taken, and nothing else.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use crate::common::processes::{kill, piped, unread, until};
use crate::common::{Files, tamis};

const NEW: &[&str] = &["new", "-q"];

/// Lines, and a file of them.
fn lines(files: &Files, count: u32) -> String {
    let text: String = (0..count).map(|line| format!("{line}\n")).collect();
    files.write("in", &text);
    text
}

/// What the next run prints.
fn next(filter: &Path, input: &Path) -> String {
    let output = tamis().args(NEW).arg(filter).arg(input).assert().success().stderr("");
    String::from_utf8(output.get_output().stdout.clone()).expect("text")
}

/// All that a process writes to standard error until it ends.
fn said(child: &mut Child) -> String {
    let mut text = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut text).expect("text");
    text
}

/// The same without the line about a slow reader, which may come, once, on a busy machine.
fn without_wait(said: &str) -> Vec<&str> {
    let is_wait = |line: &&str| line.contains("has taken nothing for 3 s");
    let (waits, others): (Vec<_>, Vec<_>) = said.lines().partition(is_wait);
    assert!(waits.len() <= 1, "{said}");
    others
}

/// Runs the program with a shell command behind it; returns its exit code and what it says.
fn before(consumer: &str, command: &mut Command) -> (Option<i32>, String) {
    let mut consumer =
        Command::new("sh").args(["-c", consumer]).stdin(Stdio::piped()).spawn().expect("a shell");
    let input = consumer.stdin.take().expect("piped");
    let mut run = command.stdout(input).spawn().expect("it runs");
    // The command has the other writing end.
    command.stdout(Stdio::null());
    let text = said(&mut run);
    let code = run.wait().expect("it ends").code();
    consumer.wait().expect("it ends");
    (code, text)
}

/// A consumer that reads nothing, or ends too early, takes nothing with it.
#[test]
fn what_a_failed_consumer_has_not_read_is_printed_again() {
    let files = Files::new();
    let (input, filter) = (files.path("in"), files.path("seen"));
    for (consumer, count, rounds) in [
        ("exit 1", 1000, 10),
        ("true", 1000, 10),
        // It ends when all is written.
        ("sleep 0.1", 1000, 10),
        ("head -c 100 >/dev/null", 90_000, 3),
    ] {
        let text = lines(&files, count);
        for _ in 0..rounds {
            let mut run = piped(NEW, &filter);
            let (code, said) = before(consumer, run.arg(&input));
            assert_eq!(code, Some(0), "{said}");
            assert!(said.contains("not saved") && said.contains("prints them again"), "{said}");
            assert_eq!(without_wait(&said).len(), 1, "{said}");
            assert_eq!(files.names(), ["in"]);
        }
        assert!(next(&filter, &input) == text);
        assert_eq!(next(&filter, &input), "");
        fs::remove_file(&filter).expect("saved");
    }
}

/// The line counts the records since the last save.
#[test]
fn the_records_that_are_printed_again_are_counted() {
    let files = Files::new();
    let filter = files.path("seen");
    files.write("in", "a\nb\n");
    assert_eq!(next(&filter, &files.path("in")), "a\nb\n");
    for (input, part) in
        [("a\nb\nc\nd\n", "2 new records are not saved"), ("b\nc\n", "1 new record is")]
    {
        files.write("in", input);
        let mut run = piped(NEW, &filter);
        let (code, said) = before("sleep 0.1", run.arg(files.path("in")));
        assert!(code == Some(0) && said.contains(part), "{said}");
    }
    assert_eq!(next(&filter, &files.path("in")), "c\n");
    // Nothing new is nothing to wait for.
    assert_eq!(before("exec sleep 0.1", piped(NEW, &filter).arg(files.path("in"))).1, "");
}

/// A filter of another system is as safe.
#[test]
fn a_foreign_filter_is_not_saved_either() {
    let files = Files::new();
    let text = lines(&files, 1000);
    files.run(&["build", "-q", "--to", "guava", "--capacity", "2000", "-o", "seen", "/dev/null"]);
    let before_run = files.path("seen");
    let empty = fs::read(&before_run).expect("built");
    let mut run = piped(&["new", "-q", "--from", "guava"], &before_run);
    let (code, said) = before("sleep 0.1", run.arg(files.path("in")));
    assert!(code == Some(0) && said.contains("1,000 new records are not saved"), "{said}");
    assert!(fs::read(&before_run).expect("built") == empty);
    // The next run prints what the first would have printed, in order. A filter of another system
    // may withhold a line by a false positive.
    let (output, _) = files.run(&["new", "-q", "--from", "guava", "seen", "in"]);
    let mut rest = text.lines();
    assert!(
        output.lines().count() > 900 && output.lines().all(|line| rest.any(|next| next == line))
    );
}

/// If the reader waits, for the exit of the program or for a key, a line says what the program
/// waits for.
#[test]
fn a_reader_that_stalls_and_goes_on_has_everything() {
    for first in [0, 10] {
        let files = Files::new();
        let filter = files.path("seen");
        let text = lines(&files, 1000);
        let mut child = piped(NEW, &filter).arg(files.path("in")).spawn().expect("it runs");
        let mut output = child.stdout.take().expect("piped");
        let mut read = vec![0; first];
        output.read_exact(&mut read).expect("read");
        // The line comes while nothing is read.
        let mut said = String::new();
        let mut errors = BufReader::new(child.stderr.take().expect("piped"));
        errors.read_line(&mut said).expect("read");
        assert!(said.contains("nothing for 3 s") && said.contains("--no-wait"), "{said}");
        assert!(said.contains("seen.lock is held"), "{said}");
        assert_eq!(files.names(), ["in", "seen.lock"]);
        output.read_to_end(&mut read).expect("read");
        assert!(child.wait().expect("it ends").success());
        assert!(read == text.as_bytes());
        // It says so once.
        assert_eq!(errors.lines().count(), 0);
        assert_eq!(next(&filter, &files.path("in")), "");
    }
}

/// One signal ends a run whose output nobody reads, whether the pipe is full or not.
#[test]
fn a_signal_ends_a_run_that_nobody_reads() {
    for (count, first) in [(1000, 0), (1000, 10), (90_000, 0)] {
        let files = Files::new();
        let filter = files.path("seen");
        let text = lines(&files, count);
        let mut child = piped(NEW, &filter).arg(files.path("in")).spawn().expect("it runs");
        let mut output = child.stdout.take().expect("piped");
        output.read_exact(&mut vec![0; first]).expect("read");
        let full = 60_000.min(text.len() - first) as u64;
        until(|| unread(&output) >= full);
        kill(&child, Signal::TERM);
        let status = child.wait().expect("it ends");
        assert_eq!(status.signal(), Some(15));
        let said = said(&mut child);
        assert!(said.contains("not saved") && without_wait(&said).len() == 1, "{said}");
        assert_eq!(files.names(), ["in"]);
        assert!(next(&filter, &files.path("in")) == text);
    }
}

/// A signal that comes while the input goes on: the same.
#[test]
fn a_signal_ends_a_run_that_nobody_reads_and_that_waits_for_input() {
    let files = Files::new();
    let filter = files.path("seen");
    let mut child = piped(NEW, &filter).spawn().expect("it runs");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(b"a\nb\n").expect("it reads");
    let output = child.stdout.take().expect("piped");
    until(|| unread(&output) == 4);
    kill(&child, Signal::INT);
    assert_eq!(child.wait().expect("it ends").signal(), Some(2));
    let said = said(&mut child);
    assert!(said.contains("2 new records are not saved"), "{said}");
    assert_eq!(files.names(), [""; 0]);
}

/// An interval that finds something unread does not stop the flow, and the next one saves.
#[test]
fn an_interval_with_a_slow_reader_is_skipped() {
    let files = Files::new();
    let filter = files.path("seen");
    let mut child =
        piped(&["new", "-q", "--save-every", "10ms"], &filter).spawn().expect("it runs");
    let mut input = child.stdin.take().expect("piped");
    let mut output = child.stdout.take().expect("piped");
    for line in 0..20 {
        writeln!(input, "{}", char::from(b'a' + line)).expect("it reads");
        until(|| unread(&output) == u64::from(line + 1) * 2);
        assert!(!filter.exists());
        // Some intervals pass.
        std::thread::sleep(core::time::Duration::from_millis(15));
    }
    output.read_exact(&mut [0; 40]).expect("read");
    until(|| filter.exists());
    drop(input);
    assert!(child.wait().expect("it ends").success());
    assert_eq!(said(&mut child), "");
}

/// `--no-wait` saves what nobody has read, and so does an output without a reader.
#[test]
fn a_run_that_does_not_wait_saves_at_once() {
    let files = Files::new();
    let text = lines(&files, 1000);
    let (filter, input) = (files.path("seen"), files.path("in"));
    let mut child =
        piped(&["new", "-q", "--no-wait"], &filter).arg(&input).spawn().expect("it runs");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(unread(child.stdout.take().expect("piped")), text.len() as u64);
    assert_eq!(next(&filter, &input), "");
    for output in ["/dev/null", "out"] {
        fs::remove_file(&filter).expect("saved");
        let output = File::create(files.0.path().join(output)).expect("created");
        let mut run = piped(NEW, &filter);
        assert!(run.arg(&input).stdout(output).status().expect("it runs").success());
        assert_eq!(next(&filter, &input), "");
    }
    assert_eq!(fs::read(files.path("out")).expect("written"), text.as_bytes());
}

/// A socket, which is what some programs start others with, is like a pipe.
#[test]
fn a_socket_is_waited_for() {
    let files = Files::new();
    let text = lines(&files, 1000);
    let (filter, input) = (files.path("seen"), files.path("in"));
    let start = || {
        let (ours, theirs) = UnixStream::pair().expect("a socket");
        let mut run = piped(NEW, &filter);
        (run.arg(&input).stdout(OwnedFd::from(theirs)).spawn().expect("it runs"), ours)
    };
    // Closed by a peer that has read a part.
    let (mut child, mut peer) = start();
    peer.read_exact(&mut [0; 10]).expect("read");
    drop(peer);
    let text_of_it = said(&mut child);
    assert!(text_of_it.contains("not saved"), "{text_of_it}");
    assert!(child.wait().expect("it ends").success());
    // Not read.
    let (mut child, peer) = start();
    let mut line = String::new();
    let mut errors = BufReader::new(child.stderr.take().expect("piped"));
    errors.read_line(&mut line).expect("read");
    assert!(line.contains("nothing for 3 s"), "{line}");
    kill(&child, Signal::TERM);
    assert_eq!(child.wait().expect("it ends").signal(), Some(15));
    assert_eq!(files.names(), ["in"]);
    drop(peer);
    // Read.
    let (mut child, mut peer) = start();
    let mut read = String::new();
    peer.read_to_string(&mut read).expect("read");
    assert!(read == text && child.wait().expect("it ends").success());
    assert_eq!(next(&filter, &input), "");
}

/// A FIFO that `-o` names is like a pipe.
#[test]
fn a_fifo_is_waited_for() {
    let files = Files::new();
    let text = lines(&files, 1000);
    let (filter, input, fifo) = (files.path("seen"), files.path("in"), files.path("fifo"));
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("it runs").success());
    for is_read in [false, true] {
        let mut run = piped(NEW, &filter);
        let mut child = run.arg(&input).arg("-o").arg(&fifo).spawn().expect("it runs");
        let mut reader = File::open(&fifo).expect("a writer");
        let mut read = String::new();
        if is_read {
            reader.read_to_string(&mut read).expect("read");
        } else {
            until(|| unread(&reader) == text.len() as u64);
            drop(reader);
        }
        let said = said(&mut child);
        assert_eq!(said.contains("1,000 new records are not saved"), !is_read, "{said}");
        assert!(child.wait().expect("it ends").success());
        assert_eq!((filter.exists(), read == text), (is_read, is_read));
    }
}
