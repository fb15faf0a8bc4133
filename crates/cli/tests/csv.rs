//! Fields as keys: several fields, and quoted fields, which agree with the `csv` crate.

use crate::common::{dedup, first_of_each, records};
use csv::{ReaderBuilder, Terminator, WriterBuilder};
use proptest::collection::vec;
use proptest::prelude::*;
use tamis_cli::Error;
use tamis_cli::dedup::{Options, run};
use tamis_cli::input::Input;
use tamis_cli::key::{Fields, Key, NoKey, Part, Quotes};
use tamis_cli::policy::Policy;

const MARK: &[u8] = b"\xef\xbb\xbf";

/// Runs the program; returns the output, and the error, if any.
fn printed(input: &[u8], fields: Fields, threads: usize, chunk: usize) -> (Vec<u8>, Option<Error>) {
    let key = Key { part: Part::Fields(fields), policy: Policy::None };
    let options = Options { key, threads, chunk, ..Options::default() };
    let mut output = Vec::new();
    let end = run([Input::new("test", input)], &mut output, &options, &mut ());
    (output, end.err())
}

/// Returns the fields of one row, or `None` if it does not end on its line: the row then includes what follows.
fn row(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    // A byte order mark is no part of a field, even in the middle of files that were joined.
    let line = line.strip_prefix(MARK).unwrap_or(line);
    if matches!(line, b"" | b"\r") {
        // The csv crate skips such rows. Here they have one empty field, as without quotes.
        return Some(vec![Vec::new()]);
    }
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // Not at the start of the file, where the csv crate would drop one more mark.
    let text = [b"head\n", line, b"\nmark\n"].concat();
    let rows = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .terminator(Terminator::Any(b'\n'))
        .from_reader(&text[..])
        .into_byte_records()
        .collect::<Result<Vec<_>, _>>()
        .expect("any bytes are valid");
    (rows.len() == 3).then(|| rows[1].iter().map(<[u8]>::to_vec).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// In any bytes, each row has the fields that the csv crate finds in it, up to a row that does not end.
    #[test]
    fn rows_of_any_bytes_have_the_fields_of_the_csv_crate(
        lines in vec(
            (
                prop_oneof![9 => Just(&b""[..]), 1 => Just(MARK)],
                vec(prop_oneof![Just(b'"'), Just(b'"'), Just(b','), Just(b'a'), Just(b'\r'), any::<u8>()], 0..12),
            )
                .prop_map(|(mark, line)| [mark, &line].concat()),
            0..12,
        ),
        number in 0_usize..3,
        threads in 1_usize..4,
        chunk in 1_usize..60,
    ) {
        let input = lines.join(&b'\n');
        let lines = records(&[&input], b'\n');
        let whole = lines.iter().position(|line| row(line).is_none()).unwrap_or(lines.len());
        let keys: Vec<Option<Vec<u8>>> =
            lines[..whole].iter().map(|line| row(line).and_then(|row| row.get(number).cloned())).collect();
        let mut seen = std::collections::HashSet::new();
        let mut expected = Vec::new();
        for (line, key) in lines[..whole].iter().zip(keys) {
            if key.is_none_or(|key| seen.insert(key)) {
                expected.extend_from_slice(line);
                expected.push(b'\n');
            }
        }
        let fields = Fields::new(vec![number], b',', Quotes::Csv { separator: b'\n' });
        let (output, end) = printed(&input, fields, threads, chunk);
        prop_assert_eq!(output, expected);
        match end {
            None => prop_assert_eq!(whole, lines.len()),
            Some(Error::NoKey { line, found: NoKey::Open, .. }) => prop_assert_eq!(line, whole as u64 + 1),
            Some(other) => prop_assert!(false, "{}", other),
        }
    }

    /// In rows written by the csv crate, the keys are the values that were written, which contain no line ends.
    #[test]
    fn rows_written_by_the_csv_crate_have_the_values_as_keys(
        values in vec(vec("[a\",;\t ]{0,3}", 3), 0..40),
        threads in 1_usize..4,
        columns in prop_oneof![Just(vec![0]), Just(vec![2, 0]), Just(vec![0, 1, 2])],
    ) {
        let mut writer = WriterBuilder::new().from_writer(Vec::new());
        for row in &values {
            writer.write_record(row).expect("memory");
        }
        let input = writer.into_inner().expect("memory");
        let lines = records(&[&input], b'\n');
        let mut seen = std::collections::HashSet::new();
        let mut expected = Vec::new();
        for (line, row) in lines.iter().zip(&values) {
            if seen.insert(columns.iter().map(|&column| &row[column]).collect::<Vec<_>>()) {
                expected.extend_from_slice(line);
                expected.push(b'\n');
            }
        }
        let fields = Fields::new(columns, b',', Quotes::Csv { separator: b'\n' });
        let (output, end) = printed(&input, fields, threads, 50);
        prop_assert_eq!(output, expected);
        prop_assert!(end.is_none());
    }

    /// Several fields without quotes make the same key as the tuple of them.
    #[test]
    fn several_plain_fields_are_compared_as_a_tuple(
        lines in vec("[ab,]{0,8}", 0..60),
        indices in vec(0_usize..4, 1..4),
        threads in 1_usize..4,
    ) {
        let input = lines.join("\n");
        let records = records(&[input.as_bytes()], b'\n');
        let mut seen = std::collections::HashSet::new();
        let mut expected = Vec::new();
        for record in records {
            let fields: Vec<&[u8]> = record.split(|&byte| byte == b',').collect();
            let key: Option<Vec<&[u8]>> = indices.iter().map(|&index| fields.get(index).copied()).collect();
            if key.is_none_or(|key| seen.insert(key)) {
                expected.extend_from_slice(record);
                expected.push(b'\n');
            }
        }
        let fields = Fields::new(indices, b',', Quotes::Plain);
        let (output, end) = printed(input.as_bytes(), fields, threads, 30);
        prop_assert_eq!(output, expected);
        prop_assert!(end.is_none());
    }
}

#[test]
fn several_fields_can_be_given_on_the_command_line() {
    let input = "a\tx\tbc\na\ty\tbc\nab\tx\tc\nbc\tx\ta\na\tz\n";
    for args in [
        ["--key-field", "1,3"].as_slice(),
        &["--key-field", "3,1"],
        &["--key-field", "1", "--key-field", "3"],
        &["--key-field=3,1,3"],
    ] {
        let output = dedup(args).write_stdin(input).assert().success();
        let output = output.stdout("a\tx\tbc\nab\tx\tc\nbc\tx\ta\na\tz\n").get_output().clone();
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(
            text.contains("1 record without a key was printed") && text.contains("line 5"),
            "{text}"
        );
    }
}

/// Lines are printed unchanged, and all ways to parse their fields print the same lines.
#[test]
fn one_field_without_quotes_gives_the_same_output_with_all_options() {
    let lines: String = (0..50_000).map(|n| format!("{},{}\n", n, n * 7 % 13_001)).collect();
    let field = |record: &'static [u8]| record.split(|&byte| byte == b',').nth(1);
    let lines: &'static str = lines.leak();
    let expected = first_of_each(&records(&[lines.as_bytes()], b'\n'), b'\n', field);
    for args in [["--delimiter", ","].as_slice(), &["--csv"], &["--delimiter", ",", "--no-csv"]] {
        let output = dedup(&["--key-field", "2"]).args(args).write_stdin(lines).assert().success();
        assert!(output.get_output().stdout == expected, "{args:?}");
    }
}

#[test]
fn quotes_are_parsed_rejected_or_kept_as_the_options_say() {
    let input = "1,a\n2,\"a\"\n3,\"a, b\"\n4,\"a, c\"\n5,\"a, b\"\n";
    let run = |args: &[&str]| {
        let args = [&["--key-field", "2"], args].concat();
        let output = dedup(&args).write_stdin(input).output().expect("it runs");
        let text = String::from_utf8(output.stderr).expect("text");
        let kept = output.stdout.iter().filter(|byte| byte.is_ascii_digit()).copied().collect();
        (output.status.code(), String::from_utf8(kept).expect("digits"), text)
    };
    assert_eq!(run(&["--csv"]), (Some(0), "134".into(), String::new()));
    assert_eq!(run(&["--delimiter", ",", "--no-csv"]), (Some(0), "123".into(), String::new()));
    let (code, kept, text) = run(&["--delimiter", ","]);
    assert_eq!((code, kept.as_str()), (Some(2), "1"), "{text}");
    assert!(
        text.contains("standard input, line 2")
            && text.contains("--csv")
            && text.contains("--no-csv")
    );
    assert_eq!(text.lines().count(), 1);
    // A quoted field after the key is an error too: the lines below it may not be records.
    let later = "1,a,\"x\nThanks, me\"\n2,b,\"y\nThanks, me\"\n";
    dedup(&["--key-field", "1", "--delimiter", ","]).write_stdin(later).assert().code(2).stdout("");
    // In fields separated by tabs, quotes are no sign of CSV.
    let tabs = input.replace(',', "\t");
    dedup(&["--key-field", "2"]).write_stdin(tabs.clone()).assert().success().stderr("");
}

#[test]
fn a_row_of_two_lines_is_an_error_that_names_the_line() {
    let input = "1,\"a\"\n2,b,\"c\nd\",e\n3,f\n";
    for threads in ["1", "4"] {
        let mut command = dedup(&["--csv", "--key-field", "2", "-j", threads]);
        let output = command.write_stdin(input).output().expect("it runs");
        let text = String::from_utf8(output.stderr).expect("text");
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b"1,\"a\"\n"[..]));
        assert!(
            text.contains("line 2") && text.contains("does not end") && text.contains("-0"),
            "{text}"
        );
    }
    // Rows that end in NUL may contain newlines.
    let rows = "1,\"a\nb\"\x002,\"a\"\x003,\"a\nb\"\0";
    dedup(&["--csv", "--key-field", "2", "-0"])
        .write_stdin(rows)
        .assert()
        .success()
        .stdout("1,\"a\nb\"\x002,\"a\"\0");
}

/// Spreadsheets write such a mark. It is printed, and is no part of the key.
#[test]
fn a_byte_order_mark_is_no_part_of_a_field() {
    let input = "\u{feff}\"a, b\",1\n\"a, b\",2\nc,1\n";
    let run = |field| dedup(&["--csv", "--key-field", field]).write_stdin(input).assert().success();
    run("1").stdout("\u{feff}\"a, b\",1\nc,1\n");
    run("2").stdout("\u{feff}\"a, b\",1\n\"a, b\",2\n");
}
