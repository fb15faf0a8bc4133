//! Errors are reported in one line, and the exit code says what kind of error it was.

use std::fs;
use std::process::Stdio;

use crate::common::{Files, dedup, homepages, line_said, program, said, tamis};

/// Runs `tamis dedup` with these arguments; returns the exit code, the output and the line on
/// standard error.
fn run(args: &[&str], input: &[u8]) -> (i32, Vec<u8>, String) {
    let output = dedup(args).write_stdin(input).output().expect("it runs");
    let text = String::from_utf8(output.stderr).expect("text");
    assert!(text.lines().count() <= 1, "{args:?}: {text}");
    assert!(text.is_empty() || text.starts_with("tamis: "), "{args:?}: {text}");
    (output.status.code().expect("no signal"), output.stdout, text)
}

#[test]
fn bad_usage_is_2_before_any_output() {
    for (args, part) in [
        (["--unknown"].as_slice(), "--unknown"),
        (&["--capacity", "0"], "at least 1"),
        (&["--capacity", "1.5"], "not a whole number"),
        (&["--capacity", "10MX"], "unknown suffix 'MX'"),
        (&["--capacity", "1,00"], "separators"),
        (&["--capacity", "18446744073709551616"], "below 2^64"),
        (&["--capacity", "18446744073709551615"], "--capacity"),
        (&["--capacity", "1T"], "out of memory"),
        (&["--capacity", "many"], "10M"),
        (&["--rate", "0"], "--rate"),
        (&["--rate", "1"], "--rate"),
        (&["--rate", "100%"], "--rate"),
        (&["--rate", "NaN"], "--rate"),
        (&["--rate=-1"], "--rate"),
        (&["--rate", "1e-320"], "--rate"),
        (&["--rate", "1e-300"], "rate"),
        (&["--max-line", "0"], "--max-line"),
        (&["--max-line", "99999999TiB"], "--max-line"),
        (&["--fixed"], "--capacity"),
        (&["--threads", "0"], "--threads"),
        (&["--threads", "1025"], "--threads"),
        (&["--seed=-1"], "--seed"),
        (&["--seed", "dice"], "--seed"),
        (&["--kind", "sieve"], "blocked"),
        (&["--kind", "cuckoo", "--rate", "1e-13"], "another --kind"),
        (&["--kind", "cuckoo", "--rate", "1e-13", "--capacity", "1M"], "at least "),
        (&["--kind", "cuckoo", "--capacity", "18446744073709551615"], "--kind"),
        (&["--null", "--hex"], "--null"),
        (&["--key-field", "0"], "--key-field"),
        (&["--key-field", "1", "--json-key", "/a"], "--json-key"),
        (&["--key-field", "1", "--hex"], "--hex"),
        (&["--key-field", "1", "--delimiter", "ab"], "--delimiter"),
        (&["--key-field", "1", "--delimiter", "\n"], "--delimiter"),
        (&["--key-field", "1", "--delimiter", "\\0", "-0"], "--delimiter"),
        (&["--delimiter", ","], "--key-field"),
        (&["--json-key", "a"], "--json-key"),
        (&["--json-key", "/a", "--hex"], "--hex"),
        (&["--url", "mine"], "whatwg-1"),
        (&["--url", "crawl-1", "--hex"], "--hex"),
        (&["--strict"], "--strict"),
        (&["--progress"], "--quiet"),
        (&["--stats", "json"], "--quiet"),
    ] {
        let (code, output, text) = run(args, b"a\n");
        assert_eq!(code, 2, "{args:?}: {text}");
        assert!(output.is_empty() && text.contains(part), "{args:?}: {text}");
    }
}

#[test]
fn bad_files_are_2_before_any_output() {
    let files = Files::new();
    let socket = files.path("socket");
    #[cfg(unix)]
    let _bound = std::os::unix::net::UnixListener::bind(&socket).expect("bound");
    for bad in [files.0.path(), &files.path("missing.txt"), &socket] {
        let text = line_said(&dedup(&[]).arg(homepages()).arg(bad).assert().code(2).stdout(""));
        assert!(text.contains(&bad.display().to_string()), "{text}");
    }
}

/// In every command.
#[cfg(unix)]
#[test]
fn a_name_that_no_file_can_have_is_2() {
    let name = "a".repeat(300);
    for args in [["dedup", "-q"], ["info", "--json"], ["remove", "-q"], ["new", "-q"]] {
        let assert = tamis().args(args).arg(&name).assert().code(2).stdout("");
        assert!(line_said(&assert).contains("name too long"), "{args:?}");
    }
}

#[test]
fn a_negative_duration_is_said() {
    for args in [["--save-every", "-1s"], ["--save-every", "--quiet"], ["--window", "-24h"]] {
        let text = line_said(&tamis().args(["new", "f"]).args(args).assert().code(2));
        assert!(text.contains(args[0]) && text.contains(args[1]), "{text}");
        assert!(text.contains("a number and a unit") || text.contains("such as 24h"), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_2_before_any_output() {
    use std::os::unix::fs::PermissionsExt;

    let files = Files::new();
    let file = files.write("secret.txt", "a\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).expect("it is ours");
    if fs::File::open(&file).is_ok() {
        eprintln!("SKIPPED: this user may read every file (root?)");
        return;
    }
    line_said(&dedup(&[]).arg(homepages()).arg(&file).assert().code(2).stdout(""));
}

#[test]
fn a_strict_run_stops_at_the_first_record_without_a_key() {
    type Case = (&'static [&'static str], &'static [u8], &'static [u8], &'static str);
    let cases: [Case; 5] = [
        (&["--key-field", "2"], b"a\tb\nc\td\ne\nf\tg\n", b"a\tb\nc\td\n", "line 3"),
        (&["--json-key", "/a"], b"{\"a\":1}\n{\"a\":1}\n{}\n", b"{\"a\":1}\n", "line 3"),
        (&["--json-key", "/a"], b"{\"a\":1}\n{\"a\":\n", b"{\"a\":1}\n", "line 2"),
        (&["--hex"], b"00\n0\n", b"00\n", "line 2"),
        (&["--url", "whatwg-1"], b"x", b"", "line 1"),
    ];
    for (args, input, expected, line) in cases {
        for threads in ["1", "4"] {
            let args = [args, &["--strict", "--threads", threads]].concat();
            let (code, output, text) = run(&args, input);
            assert_eq!((code, output.as_slice()), (2, expected), "{args:?}: {text}");
            assert!(text.contains("standard input") && text.contains(line), "{text}");
        }
    }
}

#[test]
fn a_line_is_counted_within_its_file() {
    let files = Files::new();
    let (first, second) = (files.write("first", "00\n11"), files.write("second", "22\nx\n"));
    let run = dedup(&["--hex", "--strict"]).args([&first, &second]).assert().code(2);
    let text = said(&run.stdout("00\n11\n22\n"));
    assert!(text.contains("second, line 2"), "{text}");
}

#[test]
fn a_full_fixed_filter_is_1_at_the_line_that_does_not_fit() {
    let lines: String = (0..5000).map(|line| format!("{}\n", line / 2)).collect();
    for threads in ["1", "2", "8"] {
        for capacity in [1_usize, 7, 2499] {
            let capacity = capacity.to_string();
            let args = ["--fixed", "--capacity", &capacity, "--threads", threads];
            let (code, output, text) = run(&args, lines.as_bytes());
            let capacity: usize = capacity.parse().expect("a number");
            let expected: String = (0..capacity).map(|line| format!("{line}\n")).collect();
            assert_eq!(code, 1, "{text}");
            assert!(output == expected.as_bytes());
            let line = format!("line {}", capacity * 2 + 1);
            assert!(text.replace(',', "").contains(&line), "{text}");
        }
        let (code, _, text) = run(&["--fixed", "--capacity", "2500"], lines.as_bytes());
        assert_eq!((code, text.as_str()), (0, ""));
    }
}

/// Returns the lowest rate that a cuckoo filter of this capacity can keep, as an error message
/// names it. It depends on the buckets that the processor supports.
fn lowest_rate(capacity: &str) -> f64 {
    let args = ["--kind", "cuckoo", "--rate", "1e-15", "--capacity", capacity];
    let (_, _, text) = run(&args, b"");
    let (_, rest) = text.split_once("at least ").expect("the message names a rate");
    let number = rest.split(|at: char| !(at.is_ascii_alphanumeric() || ".-".contains(at))).next();
    number.and_then(|number| number.trim_end_matches('.').parse().ok()).expect("a number")
}

/// A filter keeps the rate that the error message names as the lowest.
#[test]
fn the_lowest_rate_of_the_error_message_is_possible() {
    for factor in [1.0, 0.9] {
        let rate = format!("{:e}", factor * lowest_rate("1M"));
        let (code, output, text) =
            run(&["--kind", "cuckoo", "--rate", &rate, "--capacity", "1M"], b"a\nb\na\n");
        let expected: (_, &[u8]) = if factor < 1.0 { (2, b"") } else { (0, b"a\nb\n") };
        assert_eq!((code, &output[..]), expected, "{rate}: {text}");
    }
}

/// At a rate near the lowest a cuckoo filter has no second slice.
#[test]
fn a_filter_that_cannot_grow_is_1_at_the_line_that_does_not_fit() {
    let lines: String = (0..200_000).map(|line| format!("{line}\n")).collect();
    let rate = format!("{:e}", 2.5 * lowest_rate("64000"));
    let args = ["--kind", "cuckoo", "--rate", &rate, "--capacity", "64000", "--threads"];
    let attempt = |threads| run(&[&args[..], &[threads]].concat(), lines.as_bytes());
    let (code, output, text) = attempt("1");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("cannot grow") && text.contains("a sufficient --capacity"), "{text}");
    let printed = output.iter().filter(|&&byte| byte == b'\n').count();
    assert!(lines.as_bytes().starts_with(&output) && printed > 64_000, "{printed}");
    assert!(text.replace(',', "").contains(&format!("line {}: ", printed + 1)), "{text}");
    for threads in ["2", "8"] {
        assert!(attempt(threads) == (code, output.clone(), text.clone()));
    }
}

#[test]
fn a_full_fixed_filter_still_prints_records_without_a_key() {
    let args = ["--fixed", "--capacity", "1", "--key-field", "2"];
    let (code, output, text) = run(&args, b"a\nb\n1\tx\nc\n2\tx\nd\n3\ty\ne\n");
    assert_eq!((code, output.as_slice()), (1, &b"a\nb\n1\tx\nc\nd\n"[..]));
    assert!(text.contains("line 7"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_1() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = program()
        .args(["dedup", "--threads", "4"])
        .arg(homepages())
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[cfg(unix)]
#[test]
fn an_output_that_is_not_open_for_writing_is_1() {
    for args in
        [&["dedup", "-q", "Cargo.toml"][..], &["plan", "--capacity", "9"], &["man"], &["--help"]]
    {
        let closed = fs::File::open("/dev/null").expect("Unix has it");
        let mut command = program();
        command.args(args).stdin(Stdio::null()).stdout(closed).stderr(Stdio::piped());
        let output = command.output().expect("it runs");
        let text = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(1), "{args:?}: {text}");
        assert!(text.starts_with("tamis: cannot write the output"), "{args:?}: {text}");
    }
}

/// `head` ends after one line while the input stays open: the program must not wait for more input.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_0_and_silent_while_the_input_stays_open() {
    use std::io::{BufRead, BufReader, Write};

    for threads in ["1", "4"] {
        let mut child = program()
            .args(["dedup", "--threads", threads])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut input = child.stdin.take().expect("piped");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        input.write_all(b"one\n").expect("it reads");
        let mut line = String::new();
        // The line is printed at once, while the input stays open.
        output.read_line(&mut line).expect("it writes");
        assert_eq!(line, "one\n");
        drop(output);
        // One line may not be enough: a child that another test is starting may still hold the
        // pipe's end, and then the first line is written successfully. All lines fit into the pipe
        // of the input, so that no write waits.
        let has_ended = (0..10_000).any(|number| {
            // The write fails if the program has ended in the meantime.
            let _ = writeln!(input, "{number}");
            std::thread::sleep(core::time::Duration::from_millis(5));
            child.try_wait().expect("its state").is_some()
        });
        assert!(has_ended, "it reads on");
        let done = child.wait_with_output().expect("it ends");
        assert_eq!(done.status.code(), Some(0));
        assert!(done.stderr.is_empty(), "{:?}", done.stderr);
        drop(input);
    }
}

#[test]
fn nothing_to_print_is_0() {
    for input in [&b""[..], b"\n"] {
        let (code, output, text) = run(&[], input);
        assert_eq!((code, output.as_slice(), text.as_str()), (0, input, ""));
    }
}

#[test]
fn an_unknown_command_is_2() {
    for args in [["sieve"].as_slice(), &["--loud"]] {
        line_said(&tamis().args(args).assert().code(2).stdout(""));
    }
}
