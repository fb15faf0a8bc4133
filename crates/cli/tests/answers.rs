//! The exit codes of commands that answer a question, `which` and `query -e`: those of grep.

use std::fs::{self, OpenOptions};
use std::process::Stdio;

use crate::common::{Files, by_shell, program, words};

/// A filter and an index of some lines, and a file of other lines.
fn example() -> Files {
    let files = Files::new();
    files.write("in", "a\nb\n");
    files.write("none", "c\nd\n");
    files.run(&["build", "-q", "-o", "F", "in", "--rate", "1e-9"]);
    files.run(&words("build -q --to guava --capacity 9 --rate 1e-9 -o G in"));
    files.run(&["index", "-q", "-o", "I", "in", "--rate", "1e-9"]);
    files
}

/// Runs a command; returns its exit code.
fn code(files: &Files, args: &[&str]) -> i32 {
    files.ended(args).0
}

#[test]
fn nothing_found_is_1() {
    let files = example();
    for (filter, more) in [("F", &[][..]), ("G", &["--from", "guava"])] {
        let query = |args: &[&str]| code(&files, &[&["query", "-q", filter], more, args].concat());
        for exit in ["-e", "--exit-status"] {
            assert_eq!(query(&[exit, "in"]), 0, "{filter}");
            assert_eq!(query(&[exit, "none", "in"]), 0, "{filter}");
            assert_eq!(query(&[exit, "none"]), 1, "{filter}");
            assert_eq!(query(&[exit, "none", "-o", "out"]), 1, "{filter}");
            assert_eq!(query(&[exit, "-v", "none"]), 0, "{filter}");
            assert_eq!(query(&[exit, "-v", "in"]), 1, "{filter}");
        }
        // Without the option, the code says only whether the run failed.
        assert_eq!((query(&["none"]), query(&["-v", "in"])), (0, 0), "{filter}");
    }
    assert_eq!(code(&files, &["which", "-q", "I", "a"]), 0);
    assert_eq!(code(&files, &["which", "-q", "I", "c", "b"]), 0);
    assert_eq!(code(&files, &["which", "-q", "I", "c"]), 1);
    // A record without a key matches nothing.
    assert_eq!(code(&files, &["which", "-q", "I", "a", "--key-field", "2"]), 1);
}

/// Every failure is 2, also those that are 1 for other commands: 1 must not say "not found" by
/// mistake.
#[cfg(target_os = "linux")]
#[test]
fn every_failure_is_2() {
    let files = example();
    let long = "a\n".repeat(100_000);
    files.write("long", &long);
    let run = |args: &[&str]| {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let mut command = program();
        command.args(args).current_dir(&files.0).stdout(full).stderr(Stdio::piped());
        let output = command.output().expect("it runs");
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(text.lines().count() == 1 && text.contains("cannot write the output"), "{text}");
        output.status.code()
    };
    for threads in ["1", "4"] {
        assert_eq!(run(&["query", "-q", "-e", "F", "long", "-j", threads]), Some(2));
        // As before, without the option.
        assert_eq!(run(&["query", "-q", "F", "long", "-j", threads]), Some(1));
    }
    assert_eq!(run(&["which", "-q", "I", "a"]), Some(2));
    // What was 2 stays 2.
    for args in [
        &["query", "-q", "-e", "missing", "in"][..],
        &["query", "-q", "-e", "F", "missing"],
        &["query", "-q", "-e", "F", "in", "--max-line", "0"],
        &["which", "missing", "a"],
        &["which", "I"],
    ] {
        assert_eq!(code(&files, args), 2, "{args:?}");
    }
    // A file of at most 8 KiB; the signal about it is ignored.
    let limited = by_shell("trap '' XFSZ; ulimit -f 16")
        .args(["query", "-q", "-e", "F", "long", "-o", "out"])
        .current_dir(&files.0)
        .output()
        .expect("it runs");
    assert_eq!(limited.status.code(), Some(2), "{limited:?}");
    assert!(!fs::exists(files.path("out")).expect("a folder"));
}

/// A pipe is closed at a write, so something was found.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_0() {
    let files = example();
    files.write("long", "a\n".repeat(200_000));
    for args in [&["query", "-q", "-e", "F", "long"][..], &["which", "-q", "I", "--keys", "long"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let mut command = program();
        command.args(args).current_dir(&files.0).stdout(writer).stderr(Stdio::piped());
        drop(reader);
        let child = command.spawn().expect("it runs");
        drop(command);
        let output = child.wait_with_output().expect("it ends");
        let text = String::from_utf8(output.stderr).expect("text");
        assert_eq!((output.status.code(), text.as_str()), (Some(0), ""), "{args:?}");
    }
}
