//! An output never destroys what the command reads, or the filter and its lock: under no name of
//! these files.
#![cfg(unix)]

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::common::{Files, program, tamis};

/// A directory with a filter `f` of the lines of `in`, its links `sym` and `hard`, an index `i` of
/// `in`, keys, and another filter `g`.
fn files() -> Files {
    let files = Files::new();
    files.write("in", "a\nb\n");
    files.write("keys", "a\n");
    files.run(&["new", "f", "in", "-q"]);
    files.run(&["new", "g", "keys", "-q"]);
    files.run(&["index", "-o", "i", "in", "-q"]);
    fs::hard_link(files.path("f"), files.path("hard")).expect("linked");
    symlink("f", files.path("sym")).expect("linked");
    fs::create_dir(files.path("sub")).expect("made");
    files
}

/// Every file of the directory with its contents.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable"));
    let mut all: Vec<_> = entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).expect("readable"))
        })
        .collect();
    all.sort();
    all
}

/// Runs a command that must fail with exit 2 and one line that has all parts, and change nothing.
fn refused(files: &Files, args: &[&str], stdin: &str, parts: &[&str]) {
    let before = contents(files.0.path());
    let stdin = if stdin.is_empty() { "/dev/null".into() } else { files.path(stdin) };
    let output = program()
        .current_dir(&files.0)
        .args(args)
        .stdin(File::open(stdin).expect("there"))
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
    assert!(text.lines().count() == 1 && parts.iter().all(|part| text.contains(part)), "{text}");
    assert_eq!(output.stdout, b"", "{args:?}");
    assert!(contents(files.0.path()) == before, "{args:?} has changed a file");
}

#[test]
fn an_output_of_records_is_not_the_filter_or_its_lock() {
    let files = files();
    let absolute = files.path("f").display().to_string();
    for command in ["new", "query"] {
        for name in ["f", "./f", "sub/../f", "sym", "hard", &absolute] {
            refused(&files, &[command, "f", "in", "-o", name], "", &["-o ", "is also the filter"]);
            refused(&files, &[command, name, "in", "-o", "f"], "", &["-o f", "is also the filter"]);
        }
        // The lock does not exist now, but other runs need it.
        for name in ["f.lock", "./f.lock", "sub/../f.lock"] {
            refused(&files, &[command, "sym", "in", "-o", name], "", &["the lock of the filter"]);
        }
        files.write("f.lock", "");
        refused(&files, &[command, "f", "in", "-o", "f.lock"], "", &["the lock of the filter"]);
        fs::remove_file(files.path("f.lock")).expect("there");
    }
    // A filter that is to be created.
    for name in ["n", "./n", "sub/../n"] {
        refused(&files, &["new", "n", "in", "-o", name], "", &["is also the filter"]);
    }
    refused(&files, &["new", "n", "in", "-o", "n.lock"], "", &["the lock of the filter"]);
    symlink("nothing", files.path("dangling")).expect("linked");
    refused(&files, &["new", "dangling", "in", "-o", "nothing"], "", &["is also the filter"]);
}

#[test]
fn an_output_of_records_is_no_input_except_that_of_dedup() {
    let files = files();
    fs::hard_link(files.path("in"), files.path("hard-in")).expect("linked");
    for command in ["new", "query"] {
        for name in ["in", "./in", "hard-in"] {
            refused(&files, &[command, "f", "keys", "in", "-o", name], "", &["is also an input"]);
        }
        refused(&files, &[command, "f", "-o", "in"], "in", &["is also an input (standard input)"]);
    }
    files.run(&["dedup", "-o", "in", "in", "-q"]);
    files.run(&["dedup", "--window", "9", "-o", "hard-in", "in", "-q"]);
    // Names that are like those of others do no harm.
    files.run(&["dedup", "in", "-o", "in.lock", "-q"]);
    files.run(&["dedup", "in", "-o", "f.lock", "-q"]);
    assert_eq!(fs::read(files.path("f.lock")).expect("written"), b"a\nb\n");
}

/// `>>` would add text to the file. After `>` there is nothing left, but the error says why.
#[test]
fn standard_output_is_none_of_the_files() {
    let redirected = |files: &Files, args: &[&str], stdin, output: &str, parts: &[&str]| {
        let before = contents(files.0.path());
        let append = OpenOptions::new().append(true).create(true).open(files.path(output));
        let output = program()
            .current_dir(&files.0)
            .args(args)
            .stdin(stdin)
            .stdout(append.expect("ours"))
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        let all = parts.iter().all(|part| text.contains(part));
        assert!(all && text.lines().count() == 1, "{args:?}: {text}");
        assert!(contents(files.0.path()) == before, "{args:?} has changed a file");
    };
    let files = files();
    files.write("f.lock", "");
    for (args, outputs) in [
        (&["new", "f", "in"][..], &["f", "hard", "f.lock", "in"][..]),
        (&["query", "f", "in"], &["f", "sym", "f.lock", "in"]),
        (&["query", "f", "in", "-o", "-"], &["f"]),
        (&["query", "f", "in", "-o", "/dev/stdout"], &["f"]),
        (&["dedup", "in"], &["in"]),
        (&["dedup", "--window", "9", "keys", "in"], &["in"]),
        (&["which", "i", "a"], &["i"]),
        (&["which", "i", "--keys", "keys"], &["i", "keys"]),
        (&["convert", "-o", "-", "f"], &["f", "hard", "f.lock"]),
        (&["info", "f"], &["f"]),
    ] {
        for output in outputs {
            redirected(&files, args, Stdio::null(), output, &["is also the output"]);
        }
    }
    let stdin = File::open(files.path("in")).expect("ours");
    redirected(&files, &["dedup"], stdin.into(), "in", &["is also the output", "-o FILE"]);
    fs::write(files.path("f"), "").expect("written");
    let empty = ["f: is also the output", "is empty"];
    redirected(&files, &["new", "f", "in"], Stdio::null(), "f", &empty);
    fs::remove_file(files.path("f.lock")).expect("there");
}

#[test]
fn a_filter_that_is_replaced_is_no_input() {
    let files = files();
    files.write("f.lock", "");
    let filter = "is also the filter, which this command replaces";
    for args in [
        &["new", "f", "in", "f"][..],
        &["new", "sym", "hard"],
        &["build", "-o", "in", "in"],
        &["build", "-o", "sub/../in", "keys", "in"],
        &["build", "-o", "in", "--to", "guava", "--capacity", "9", "in"],
        &["remove", "f", "hard"],
    ] {
        refused(&files, args, "", &[filter]);
    }
    refused(&files, &["build", "-o", "in"], "in", &["standard input: is also the filter"]);
    refused(&files, &["index", "-o", "in", "keys", "in"], "", &["is also the index"]);
    // The lock would be emptied of nothing, but it is removed at the end.
    for args in [
        &["new", "f", "f.lock"][..],
        &["build", "-o", "f", "f.lock"],
        &["remove", "f", "in", "./f.lock"],
        &["index", "-o", "f", "f.lock"],
        &["merge", "-o", "f", "g", "f.lock"],
        &["convert", "-o", "f", "f.lock"],
    ] {
        refused(&files, args, "", &["f.lock: is the lock of f"]);
    }
}

#[test]
fn a_filter_does_not_replace_the_lock_of_another() {
    let files = files();
    for args in [
        &["merge", "-o", "f.lock", "f", "g"][..],
        &["merge", "-o", "./f.lock", "sym"],
        &["convert", "-o", "f.lock", "f"],
    ] {
        refused(&files, args, "", &["the lock of the filter"]);
    }
    // What these commands are for.
    files.run(&["merge", "-o", "f", "f", "g", "-q"]);
    files.run(&["convert", "-o", "f", "f", "-q"]);
    files.run(&["convert", "-o", "sym", "hard", "-q"]);
    let bytes = fs::read(files.path("f")).expect("there");
    tamis()
        .current_dir(&files.0)
        .args(["convert", "-q", "-o", "f", "-"])
        .write_stdin(bytes.clone())
        .assert()
        .success();
    assert!(fs::read(files.path("f")).expect("there") == bytes);
    files.run(&["new", "f", "keys", "-o", "out", "-q"]);
    assert_eq!(fs::read(files.path("out")).expect("written"), b"");
    assert_eq!(files.run(&["query", "f", "in", "-q"]).0, "a\nb\n");
}

#[test]
fn filters_of_other_systems_are_protected_too() {
    let files = files();
    files.run(&["build", "-o", "bf", "--to", "guava", "--capacity", "9", "in", "-q"]);
    for command in ["new", "query"] {
        let args = [command, "--from", "guava", "bf", "in", "-o"];
        refused(&files, &[&args[..], &["./bf"]].concat(), "", &["is also the filter"]);
        refused(&files, &[&args[..], &["bf.lock"]].concat(), "", &["the lock of the filter"]);
    }
    refused(&files, &["new", "--from", "guava", "bf", "bf"], "", &["is also the filter"]);
}

/// The reader gets the records, and the pipe stays a pipe.
#[test]
fn a_pipe_is_written_through() {
    let files = files();
    let pipe = files.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
    for args in [&["dedup", "in"][..], &["query", "f", "in"], &["new", "fresh", "in"]] {
        let read = thread::scope(|scope| {
            let reader = scope.spawn(|| fs::read(&pipe).expect("read"));
            files.run(&[args, &["-q", "-o", "pipe"]].concat());
            reader.join().expect("read")
        });
        assert_eq!(read, b"a\nb\n", "{args:?}");
        assert!(fs::symlink_metadata(&pipe).expect("there").file_type().is_fifo());
    }
    // A filter is not saved in one, and the program does not wait for its reader to say so.
    for args in [
        &["build", "-o", "pipe", "in"][..],
        &["merge", "-o", "pipe", "f", "g"],
        &["convert", "-o", "pipe", "f"],
        &["index", "-o", "pipe", "in"],
    ] {
        refused(&files, args, "", &["is a device or a pipe"]);
    }
}

/// A run that reads what it writes would wait for itself. What `which` verifies is read too.
#[test]
fn a_pipe_is_not_both_ends_and_a_verified_file_is_no_output() {
    let files = Files::new();
    assert!(Command::new("mkfifo").arg(files.path("p")).status().expect("it runs").success());
    for args in [&["dedup", "-q", "p", "-o", "p"][..], &["new", "-q", "f", "p", "-o", "p"]] {
        tamis().current_dir(&files.0).args(args).assert().code(2).stdout("");
    }
    files.write("log", "a\n");
    files.run(&["index", "-q", "-o", "index", "log"]);
    let log = fs::OpenOptions::new().append(true).open(files.path("log")).expect("ours");
    let mut which = program();
    which.args(["which", "-q", "--verify", "index", "a"]).current_dir(&files.0).stdout(log);
    assert_eq!(which.output().expect("it runs").status.code(), Some(2));
    assert_eq!(fs::read(files.path("log")).expect("kept"), b"a\n");
}
