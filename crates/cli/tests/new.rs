//! `tamis new` prints what a filter does not contain, and adds it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Files, exact, homepages, json, line_said, tamis};
use assert_cmd::Command;

/// The options of a filter that is created; a rate at which no false positive is to be expected.
const SIZE: [&str; 4] = ["--capacity", "100k", "--rate", "1e-9"];

/// Returns a command that runs `tamis new` on this filter.
fn new(filter: &Path) -> Command {
    let mut command = tamis();
    command.arg("new").arg("--quiet").args(SIZE).arg(filter);
    command
}

/// What a run prints.
fn printed(command: &mut Command) -> Vec<u8> {
    command.assert().success().stderr("").get_output().stdout.clone()
}

/// Also those records that are lost at a high rate, whatever the kind is.
#[test]
fn the_output_and_the_filter_do_not_depend_on_the_number_of_threads() {
    for options in [
        &[][..],
        &["--kind", "blocked", "--capacity", "30k", "--rate", "10%"],
        &["--kind", "once", "--capacity", "30k", "--rate", "10%"],
        &["--kind", "bloom", "--capacity", "30k", "--rate", "10%"],
        &["--kind", "counting", "--capacity", "30k", "--rate", "10%"],
        &["--kind", "cuckoo", "--capacity", "30k", "--rate", "1%"],
        &["--kind", "scalable", "--rate", "10%"],
        &["--window", "5k", "--rate", "1%"],
    ] {
        let runs = ["1", "2", "7"].map(|threads| {
            let files = Files::new();
            let mut run = tamis();
            run.args(["new", "-q", "-j", threads]).args(options).arg(files.path("seen"));
            let output = run.arg(homepages()).assert().success().get_output().stdout.clone();
            (output, files.read("seen"))
        });
        assert!(runs.iter().all(|run| *run == runs[0]), "{options:?}");
    }
}

/// A table that is created without options loses nothing and grows.
#[test]
fn the_default_is_a_table_that_grows() {
    let list = fs::read(homepages()).expect("the list");
    let lines: String = (0..100_000).map(|line| format!("{line}\n")).collect();
    for threads in ["1", "3"] {
        let files = Files::new();
        let filter = files.path("seen.tamis");
        let new = |input: &[u8]| {
            let mut run = tamis();
            run.args(["new", "-q", "-j", threads]).arg(&filter).write_stdin(input);
            printed(&mut run)
        };
        assert!(new(&list) == exact(&[&list]));
        assert_eq!(new(&list), b"");
        assert!(new(lines.as_bytes()) == lines.as_bytes());
        assert_eq!(new(&[&list, lines.as_bytes()].concat()), b"");
        // Other commands know the table.
        let run =
            |args: &[&str]| tamis().args(args).arg(&filter).write_stdin(lines.clone()).assert();
        assert!(
            run(&["query", "-q", "-j", threads]).success().get_output().stdout == lines.as_bytes()
        );
        run(&["query", "-q", "-v"]).success().stdout("");
        let info = run(&["info", "--json"]).success().get_output().stdout.clone();
        let info = json(str::from_utf8(&info).expect("text"));
        assert_eq!((&info["kind"], &info["items"]), (&"table".into(), &129_919.0.into()));
        assert!(info["false_positive_rate"].as_f64().is_some_and(|rate| rate < 1e-11), "{info}");
        run(&["remove"]).code(2).stdout("");
        assert_eq!(files.names(), ["seen.tamis"]);
    }
}

/// A window prints a record again only when it has forgotten it, also in a later run.
#[test]
fn a_window_moves_on() {
    let lines = |from: u32, to: u32| -> Vec<u8> {
        (from..to).flat_map(|line| format!("{line}\n").into_bytes()).collect()
    };
    for threads in ["1", "3"] {
        let files = Files::new();
        let filter = files.path("seen.tamis");
        let new = |options: &[&str], input: &[u8]| {
            let mut run = tamis();
            run.args(["new", "-q", "-j", threads]).args(options).arg(&filter).write_stdin(input);
            printed(&mut run)
        };
        let (first, more) = (lines(0, 1000), lines(1000, 3000));
        assert!(new(&["--window", "1000"], &[&first[..], &first].concat()) == first);
        assert_eq!(new(&[], &first), b"");
        // Of 1000 records, the last 1000 are kept, and after 1200 none is.
        assert!(new(&["--window", "1k"], &more) == more);
        assert_eq!(new(&["--kind", "rotating", "--window", "1000"], &lines(2000, 3000)), b"");
        assert!(new(&[], &first) == first);
        // Other sizes are an error.
        for (options, part) in [
            (&["--window", "2000"][..], "has a window of 1,000 records, but --window is 2,000"),
            (&["--window", "1000", "--rate", "1%"], "--rate is 1.0e-2"),
            (&["--kind", "bloom", "--capacity", "9"], "--kind is bloom"),
            (&["--kind", "rotating"], "--window"),
            (&["--kind", "bloom"], "--capacity"),
            (&["--rate", "1%"], "--capacity"),
        ] {
            let output = tamis().arg("new").args(options).arg(&filter).write_stdin("a\n").assert();
            let text = line_said(&output.code(2).stdout(""));
            assert!(text.contains(part), "{options:?}: {text}");
        }
    }
}

/// A table is the same for any number of threads.
#[test]
fn a_table_can_be_repeated() {
    let files = Files::new();
    for capacity in [&[][..], &["--capacity", "1000"]] {
        let saved = |threads: &str| {
            let filter = files.path(threads);
            let _ = fs::remove_file(&filter);
            let mut run = tamis();
            run.args(["new", "-q", "-j", threads]).args(capacity).arg(&filter).arg(homepages());
            run.assert().success();
            fs::read(&filter).expect("saved")
        };
        assert!(saved("1") == saved("4"));
    }
}

#[test]
fn damaged_tables_are_2_and_nothing_is_printed() {
    let files = Files::new();
    let filter = files.path("seen");
    let mut run = tamis();
    run.args(["new", "-q"]).arg(&filter).write_stdin("a\nb\n").assert().success();
    let good = fs::read(&filter).expect("saved");
    let cut = [0, 1, 255, 256, 4095, 4096, good.len() / 2, good.len() - 1];
    let mut damaged: Vec<Vec<u8>> = cut.iter().map(|&end| good[..end].to_vec()).collect();
    damaged.push([&good[..], b"\0"].concat());
    // Every field of the header, the checksums, the directory and the lines.
    for at in (0..256).step_by(4).chain([256, 300, 4096, 4104, 4112, 5632, good.len() - 1]) {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        damaged.push(bytes);
    }
    // All commands load a table by the same code: the last damage is enough for the others.
    let others = ["new", "query"].map(|command| (command, damaged[damaged.len() - 1].clone()));
    for (command, bytes) in damaged.into_iter().map(|bytes| ("info", bytes)).chain(others) {
        fs::write(&filter, &bytes).expect("written");
        let run = tamis().arg(command).arg(&filter).write_stdin("c\n").assert();
        line_said(&run.code(2).stdout(""));
        assert!(fs::read(&filter).expect("written") == bytes);
    }
    assert_eq!(files.names(), ["seen"]);
}

#[test]
fn a_second_run_prints_nothing() {
    let list = fs::read(homepages()).expect("the list");
    for kind in ["blocked", "once", "bloom", "cuckoo", "counting", "scalable"] {
        for threads in ["1", "3"] {
            let files = Files::new();
            let filter = files.path("seen.tamis");
            let run =
                || printed(new(&filter).args(["--kind", kind, "-j", threads]).arg(homepages()));
            assert!(run() == exact(&[&list]), "{kind} {threads}");
            assert_eq!(run(), b"", "{kind} {threads}");
            assert_eq!(files.names(), ["seen.tamis"]);
        }
    }
}

/// Run after run, the output is that of one `dedup` over everything.
#[test]
fn runs_one_after_the_other_print_what_dedup_prints() {
    let files = Files::new();
    let filter = files.path("seen");
    let parts: Vec<String> = (0..8_u64)
        .map(|part| {
            let line = |line: u64| ((part * 5000 + line) * 2_654_435_761) % 30_000;
            (0..5000).map(|number| format!("{}\n", line(number))).collect()
        })
        .collect();
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    let mut output = Vec::new();
    for pair in parts.chunks(2) {
        let pair = (0..).zip(pair);
        let parts: Vec<PathBuf> =
            pair.map(|(number, part)| files.write(&format!("part{number}"), part)).collect();
        output.extend(printed(new(&filter).args(&parts)));
    }
    assert!(output == exact(&parts));
}

#[test]
fn the_summary_reports_what_is_new() {
    let files = Files::new();
    let filter = files.path("seen");
    let run = |input: &str| {
        let mut command = tamis();
        command.arg("new").args(SIZE).arg(&filter).args(["--stats", "json"]);
        let output = command.write_stdin(input).assert().success().get_output().clone();
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (text(output.stdout), json(&text(output.stderr)))
    };
    let (output, json) = run("a\nb\na\n");
    assert_eq!((output.as_str(), &json["new"], &json["seen"]), ("a\nb\n", &2.into(), &1.into()));
    let (output, json) = run("c\na\n");
    assert_eq!((output.as_str(), &json["new"], &json["seen"]), ("c\n", &1.into(), &1.into()));
    assert_eq!(json["kind"], "blocked");
    let (output, json) = run("");
    assert_eq!((output.as_str(), &json["lines"]), ("", &0.into()));
}

/// The key is compared, and the whole record printed. A record without a key is printed each time.
#[test]
fn keys_and_records_without_one() {
    let files = Files::new();
    let filter = files.path("seen");
    let run = |input: &str| {
        let mut command = tamis();
        command.arg("new").arg("-q").args(SIZE).arg(&filter).args(["--key-field", "2"]);
        let output = command.write_stdin(input).assert().success().get_output().clone();
        String::from_utf8(output.stdout).expect("text")
    };
    assert_eq!(run("1\tx\n2\tx\nnone\n3\ty\n"), "1\tx\nnone\n3\ty\n");
    assert_eq!(run("4\tx\nnone\n5\tz\n"), "none\n5\tz\n");
}

#[test]
fn an_empty_input_creates_the_filter() {
    let files = Files::new();
    let filter = files.path("seen");
    assert_eq!(printed(new(&filter).write_stdin("")), b"");
    tamis().arg("query").arg("-q").arg(&filter).write_stdin("a\n").assert().success().stdout("");
}

/// The seed is that of the file. It may be repeated, but not changed.
#[test]
fn the_seed_is_kept() {
    let files = Files::new();
    for (name, seed, other) in [("fixed", "7", "8"), ("keyed", "random", "7")] {
        let filter = files.path(name);
        assert_eq!(printed(new(&filter).args(["--seed", seed]).write_stdin("a\n")), b"a\n");
        assert_eq!(printed(new(&filter).args(["--seed", seed]).write_stdin("a\nb\n")), b"b\n");
        assert_eq!(printed(new(&filter).write_stdin("a\nb\nc\n")), b"c\n");
        let before = fs::read(&filter).expect("saved");
        let output =
            new(&filter).args(["--seed", other]).write_stdin("d\n").assert().code(2).stdout("");
        let text = line_said(&output);
        assert!(text.contains("seed"), "{text}");
        assert!(fs::read(&filter).expect("saved") == before);
    }
}

/// If the input is wrong at some line, the lines before it are printed and saved, and none after
/// it.
#[test]
fn what_was_printed_before_an_error_is_saved() {
    let good: String = (0..100_000).map(|line| format!("{line}\t{line}\n")).collect();
    let later: String = (200_000..300_000).map(|line| format!("{line}\t{line}\n")).collect();
    let input = format!("{good}bad\n{later}");
    for threads in ["1", "4"] {
        let files = Files::new();
        let filter = files.path("seen");
        let mut run = tamis();
        run.arg("new")
            .arg(&filter)
            .args(["--key-field", "2", "--strict", "-q"])
            .args(["-j", threads]);
        let output = run.write_stdin(input.clone()).assert().code(2);
        assert!(output.get_output().stdout == good.as_bytes());
        assert_eq!(files.names(), ["seen"]);
        // Of all the lines, those after the error are new.
        let mut query = tamis();
        query.args(["query", "-v", "-q", "--key-field", "2"]).arg(&filter);
        let left = query.write_stdin(format!("{good}{later}")).assert().success();
        assert!(left.get_output().stdout == later.as_bytes());
    }
}

/// With `-o`, nothing counts before the end of the run.
#[test]
fn an_output_file_and_the_filter_change_together() {
    let files = Files::new();
    let (filter, out) = (files.path("seen"), files.path("out"));
    let args = ["--key-field", "1", "--max-line", "5", "-o"];
    new(&filter).args(args).arg(&out).write_stdin("a\nlonger\n").assert().code(2).stdout("");
    assert_eq!(files.names(), [""; 0]);
    new(&filter).args(args).arg(&out).write_stdin("a\nb\n").assert().success().stdout("");
    assert_eq!(fs::read(&out).expect("written"), b"a\nb\n");
    new(&filter).args(args).arg(&out).write_stdin("b\nc\n").assert().success().stdout("");
    assert_eq!(fs::read(&out).expect("written"), b"c\n");
}

/// If nobody reads the output, nothing is saved: the next run prints it all again.
#[cfg(unix)]
#[test]
fn nothing_is_saved_that_was_not_printed() {
    let files = Files::new();
    let filter = files.path("seen");
    let input: String = (0..90_000).map(|line| format!("{line}\n")).collect();
    let file = files.write("in", &input);
    let program = assert_cmd::cargo::cargo_bin!("tamis");
    let script = r#""$0" new -q "$1" "$2" | head -n 1"#;
    let output = std::process::Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(program)
        .arg(&filter)
        .arg(&file)
        .output();
    assert_eq!(output.expect("it runs").stdout, b"0\n");
    assert!(printed(new(&filter).arg(&file)) == input.as_bytes());
}

#[cfg(target_os = "linux")]
mod signals {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Child, ChildStdin};
    use std::thread;

    use rustix::process::Signal;

    use super::*;
    use crate::common::processes::{kill, piped, until};

    /// Starts a run that reads a pipe.
    fn start(filter: &Path, args: &[&str]) -> (Child, ChildStdin) {
        let mut child = piped(&["new", "-q"], filter).args(args).spawn().expect("it runs");
        let input = child.stdin.take().expect("piped");
        (child, input)
    }

    /// A run that waits for more input saves what it has printed, and ends by the signal.
    #[test]
    fn a_signal_saves_what_was_printed() {
        use std::os::unix::process::ExitStatusExt;

        for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15), (Signal::HUP, 1)] {
            let files = Files::new();
            let filter = files.path("seen");
            let (mut child, mut input) = start(&filter, &[]);
            input.write_all(b"a\nb\npart").expect("written");
            let mut output = BufReader::new(child.stdout.take().expect("piped"));
            let mut lines = String::new();
            output.read_line(&mut lines).expect("read");
            output.read_line(&mut lines).expect("read");
            assert_eq!(lines, "a\nb\n");
            kill(&child, signal);
            let status = child.wait().expect("it ends");
            assert_eq!(status.signal(), Some(number));
            assert_eq!(files.names(), ["seen"]);
            assert_eq!(printed(new(&filter).write_stdin("a\nb\npart\n")), b"part\n");
        }
    }

    /// A run that is killed leaves what it saved last.
    #[test]
    fn an_interval_saves_while_the_input_goes_on() {
        let files = Files::new();
        let filter = files.path("seen");
        let (mut child, mut input) = start(&filter, &["--save-every", "10ms"]);
        input.write_all(b"a\nb\n").expect("written");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let mut lines = String::new();
        output.read_line(&mut lines).expect("read");
        output.read_line(&mut lines).expect("read");
        until(|| filter.exists());
        // `b` was in the same chunk or in the next, and is saved then.
        until(|| {
            let mut query = tamis();
            let query = query.args(["query", "-q"]).arg(&filter).write_stdin("b\n");
            query.output().expect("it runs").stdout == b"b\n"
        });
        child.kill().expect("killed");
        child.wait().expect("it ends");
        let left = printed(new(&filter).write_stdin("a\nb\nc\n"));
        assert_eq!(left, b"c\n");
        // The lock of the killed run was left, and used and removed by the next.
        assert_eq!(files.names(), ["seen"]);
    }

    /// Many runs at once, with the same lines.
    #[test]
    fn many_runs_print_every_line_once() {
        let files = Files::new();
        let filter = files.path("seen");
        let lines: String = (0..2000).map(|line| format!("{line}\n")).collect();
        let runs: Vec<Vec<u8>> = thread::scope(|scope| {
            let run = || printed(new(&filter).write_stdin(lines.clone()));
            let runs: Vec<_> = (0..6).map(|_| scope.spawn(run)).collect();
            runs.into_iter().map(|run| run.join().expect("it runs")).collect()
        });
        let mut printed: Vec<usize> = runs.iter().map(Vec::len).collect();
        printed.sort_unstable();
        assert_eq!(printed, [0, 0, 0, 0, 0, lines.len()]);
        assert_eq!(files.names(), ["seen"]);
    }
}
