//! Summary, warnings and help, and the forms in which options can be given.

use std::fs;

use crate::common::{self, Files, dedup, json, line_said, tamis};

/// Runs `tamis dedup` with these arguments; returns what it prints on standard error.
fn said(args: &[&str], input: &str) -> String {
    common::said(&tamis().arg("dedup").args(args).write_stdin(input).assert().success())
}

const KEYLESS: &str = "a\tx\nb\nc\tx\nd\n";

#[test]
fn the_summary_is_one_line_and_longer_on_request() {
    let one = said(&[], "a\nb\na\n");
    assert_eq!(one.lines().count(), 1, "{one}");
    assert!(one.starts_with("3 lines, 2 printed, 1 duplicate; "), "{one}");
    assert!(one.ends_with("; none expected to be lost to false positives\n"), "{one}");
    let more = said(&["--verbose"], "a\nb\na\n");
    assert_eq!(more.lines().count(), 3, "{more}");
    assert!(more.starts_with(&one), "{more}");
    assert!(
        more.contains("\ntable of fingerprints, 365.2 KiB") && more.contains(" thread"),
        "{more}"
    );
    assert_eq!(said(&["-q"], "a\nb\na\n"), "");
    // The singular has no "s".
    assert!(said(&[], "a\n").starts_with("1 line, 1 printed, 0 duplicates; "));
    assert!(said(&["--verbose", "-j", "1"], "a\n").ends_with(", 1 thread\n"));
    let two = said(&["-d", "--verbose"], "a\nb\na\n");
    assert!(
        two.starts_with("3 lines, 2 distinct, 1 repeated; ")
            && two.contains("\ntwo tables of fingerprints, 730.4 KiB"),
        "{two}"
    );
    let chain = said(&["--verbose", "--kind", "blocked"], "a\nb\na\n");
    assert!(chain.contains("\nblocked filter of rate 1e-6, 1 slice, 5.9 MiB"), "{chain}");
}

/// `--rate` alone selects the kind that takes the least memory at this rate.
#[test]
fn the_options_select_what_the_lines_are_kept_in() {
    for (args, kind, rate) in [
        (&[][..], "table", None),
        (&["--capacity", "100"], "table", None),
        (&["--rate", "1%"], "blocked", Some(0.01)),
        (&["--rate", "1e-6"], "cuckoo", Some(1e-6)),
        (&["--rate", "1e-9"], "blocked", Some(1e-9)),
        (&["--rate", "1e-6", "--kind", "bloom"], "bloom", Some(1e-6)),
        (&["--kind", "once"], "once", Some(1e-6)),
        (&["--window", "100"], "rotating", Some(1e-9)),
        (&["--window", "1k", "--rate", "1%"], "rotating", Some(0.01)),
    ] {
        let json = json(&said(&[args, &["--stats", "json"]].concat(), "a\n"));
        assert_eq!((json["kind"].as_str(), json["rate"].as_f64()), (Some(kind), rate));
    }
}

#[test]
fn records_without_a_key_are_always_reported() {
    let warning = "tamis: warning: 2 records without a key were printed; the first: standard input, line 2: too \
                   few fields for --key-field\n";
    assert_eq!(said(&["-q", "--key-field", "2"], KEYLESS), warning);
    assert!(said(&["--key-field", "2"], KEYLESS).ends_with(warning));
    assert_eq!(said(&["--key-field", "2"], KEYLESS).lines().count(), 2);
    // In the summary for programs the warning is a part of the JSON.
    let json = json(&said(&["--key-field", "2", "--stats", "json"], KEYLESS));
    assert_eq!(json["keyless"], 2);
    assert_eq!(json["first_keyless"], "standard input, line 2: too few fields for --key-field");
    assert_eq!(json["warnings"].as_array().map(Vec::len), Some(1));
}

/// The warning names the file and the line of the first such record, for any number of threads.
#[test]
fn the_first_record_without_a_key_is_named() {
    let files = Files::new();
    let good: String = (0..100_000).map(|line| format!("{line}\t{line}\n")).collect();
    let first = files.write("first", &good);
    let second = files.write("second", format!("{good}bad\n{good}bad\n"));
    for threads in ["1", "2", "8"] {
        let mut run = dedup(&["--key-field", "2", "-j", threads]);
        let text = line_said(&run.args([&first, &second]).assert().success());
        assert!(text.contains("2 records") && text.contains("second, line 100,001: "), "{text}");
    }
}

#[test]
fn expected_losses_above_the_threshold_are_always_reported() {
    let input: String = (0..2000).map(|line| format!("{line}\n")).collect();
    let text = said(&["-q", "--rate", "1%", "--capacity", "2_000"], &input);
    assert!(text.starts_with("tamis: warning: ") && text.contains("lower --rate"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    // With -d each of the two filters has its warning.
    let text = said(&["-q", "-d", "--rate", "1%", "--capacity", "2_000"], &input.repeat(2));
    assert_eq!(text.lines().count(), 2, "{text}");
    assert_eq!(said(&["-q", "--rate", "1e-9", "--capacity", "2_000"], &input), "");
}

#[test]
fn options_that_contradict_each_other_are_errors() {
    for (args, part) in [
        (["--verbose", "-q"].as_slice(), "--quiet"),
        (&["--verbose", "--stats", "json"], "--stats"),
        (&["--csv"], "--key-field"),
        (&["--no-csv"], "--key-field"),
        (&["--csv", "--no-csv", "--key-field", "1"], "--no-csv"),
        (&["--csv", "--json-key", "/a"], "--key-field"),
        (&["--delimiter", ",", "--json-key", "/a"], "--key-field"),
        (&["--csv", "--key-field", "1", "--delimiter", "\""], "--delimiter"),
        (&["--key-field", "1,2", "--url", "crawl-1"], "--url"),
        (&["--key-field", "1,0"], "--key-field"),
        (&["--key-field", "1,,2"], "--key-field"),
        (&["--key-field", ""], "--key-field"),
        (&["-o", "a", "-o", "b"], "--output"),
        (&["--window", "9", "-d"], "--window"),
        (&["--window", "9", "--kind", "bloom"], "--window"),
        (&["--window", "9", "--capacity", "9"], "--window"),
        (&["--window", "0"], "--window"),
        (&["--kind", "rotating"], "--kind"),
    ] {
        let run = tamis().arg("dedup").args(args).write_stdin("a\n").assert().code(2);
        let text = line_said(&run.stdout(""));
        assert!(text.contains(part), "{args:?}: {text}");
    }
}

/// `-h` has the common options on one screen and names `--help`, which has all of them under
/// headings.
#[test]
fn the_short_help_is_one_screen() {
    let text = |args: &[&str]| {
        let output = tamis().args(args).assert().success().get_output().clone();
        String::from_utf8(output.stdout).expect("text")
    };
    let program = text(&["-h"]);
    assert!(program.lines().count() <= 30, "{program}");
    for command in [
        "dedup", "new", "build", "query", "remove", "merge", "convert", "delete", "index", "which",
        "info", "plan",
    ] {
        let (short, long) = (text(&[command, "-h"]), text(&[command, "--help"]));
        assert!(short.lines().count() <= 30, "{short}");
        assert!(short.contains(&format!("'tamis {command} --help'")), "{short}");
        // Every option of the short help is in the long one, and the options on records have
        // headings.
        let options = short
            .lines()
            .filter(|line| line.trim_start().starts_with('-'))
            .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
        assert!(
            options.clone().count() > 0 && options.clone().all(|option| long.contains(option)),
            "{long}"
        );
        if long.contains("--key-field") {
            assert!(
                long.contains("\nRecords and keys:\n") && long.contains("\nRunning:\n"),
                "{long}"
            );
            assert!(long.contains("--strict") && !short.contains("--strict"), "{short}");
        }
    }
}

/// Runs the commands in the help as they are printed there.
#[cfg(unix)]
#[test]
fn the_examples_of_the_help_work() {
    let text = |args: &[&str]| {
        let output = tamis().args(args).assert().success().get_output().clone();
        String::from_utf8(output.stdout).expect("text")
    };
    let help = text(&["--help"]);
    let examples: Vec<&str> = help
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.contains("tamis "))
        .collect();
    assert_eq!(examples.len(), 5, "{help}");
    // The first three are about dedup, the others about filters.
    let (dedup, filters) = examples.split_at(3);
    for (args, examples) in [
        (&["--help"][..], dedup),
        (&["--help"], filters),
        (&["dedup", "--help"], dedup),
        (&["new", "--help"], filters),
        (&["build", "--help"], filters),
        (&["query", "--help"], filters),
    ] {
        let help = text(args);
        assert!(examples.iter().all(|example| help.contains(example)), "{help}");
    }
    assert!(
        text(&["man", "dedup"]).contains("tamis dedup \\-\\-csv"),
        "{}",
        text(&["man", "dedup"])
    );

    let files = Files::new();
    let gzip = |data: &[u8]| {
        let mut encoder = flate2::read::GzEncoder::new(data, flate2::Compression::fast());
        let mut packed = Vec::new();
        std::io::Read::read_to_end(&mut encoder, &mut packed).expect("memory");
        packed
    };
    files.write("monday.txt", b"a\nb\n");
    files.write("tuesday.txt.gz", gzip(b"b\nc\n"));
    files.write("orders.csv", b"1,\"x, y\",2,mon\n2,\"x, y\",3,mon\n3,x,1,mon\n");
    files.write("events.json.gz", gzip(b"{\"id\":1}\n{\"id\":2}\n{\"id\":1,\"n\":2}\n"));
    files.write("urls.txt", b"a\nb\na\n");
    files.write("old.log", b"x\ny\n");
    files.write("new.log", b"y\nz\n");
    let program = assert_cmd::cargo::cargo_bin!("tamis").parent().expect("a folder").to_owned();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("set"));
    let mut printed = Vec::new();
    for example in examples {
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-e", "-c", example]).current_dir(&files.0).env("PATH", &path);
        let output = shell.output().expect("it runs");
        assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
        printed.extend(output.stdout);
    }
    let read = |name: &str| fs::read_to_string(files.path(name)).expect("written");
    assert_eq!(read("both.txt"), "a\nb\nc\n");
    assert_eq!(read("first.csv"), "1,\"x, y\",2,mon\n3,x,1,mon\n");
    assert_eq!(read("new.txt"), "a\nb\n");
    assert_eq!(printed, b"{\"id\":1,\"n\":2}\nz\n");
}
