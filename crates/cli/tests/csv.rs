//! Fields as keys: several fields, and quoted fields, which agree with the `csv` crate.

use std::collections::HashSet;

use crate::common::{dedup, json, said, tamis};
use csv::{ReaderBuilder, Terminator, WriterBuilder};
use proptest::collection::vec;
use proptest::prelude::*;
use tamis_cli::Error;
use tamis_cli::dedup::{Options, Summary, run};
use tamis_cli::input::Input;
use tamis_cli::key::{Fields, Key, Part, Quotes};

const MARK: &[u8] = b"\xef\xbb\xbf";

const CSV: Quotes = Quotes::Csv { separator: b'\n' };

/// Runs the program; returns the output and the summary.
fn printed(
    input: &[u8],
    fields: Fields,
    threads: usize,
    chunk: usize,
) -> (Vec<u8>, Result<Summary, Error>) {
    // The number of records of a chunk is limited in some runs.
    let most = chunk.is_multiple_of(4).then_some(1 + chunk % 3);
    let key = Key::from_part(Part::Fields(fields));
    let options = Options { key, threads, chunk, most, ..Options::default() };
    let mut output = Vec::new();
    let end = run(vec![Input::new("test", input)], &mut output, &options, &mut ());
    (output, end)
}

/// A row of CSV, as a simple parser finds it byte by byte.
#[derive(Debug)]
struct Row<'a> {
    /// Its bytes, without the separator.
    bytes: &'a [u8],
    fields: Vec<Vec<u8>>,
    malformed: bool,
    /// The line where it begins, from 1.
    line: u64,
}

/// Returns the rows that Python's `csv` module finds (but a lone CR is a byte of its field).
fn rows(input: &[u8]) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut rest = input;
    let mut line = 1;
    while !rest.is_empty() {
        let head = if rest.starts_with(MARK) { MARK.len() } else { 0 };
        let (mut fields, mut field) = (Vec::new(), Vec::new());
        let (mut malformed, mut first, mut quoted) = (false, true, false);
        let mut at = head;
        let end = loop {
            let byte = rest.get(at).copied();
            match byte {
                None => break at,
                Some(b'"') if quoted && rest.get(at + 1) == Some(&b'"') => {
                    field.push(b'"');
                    at += 1;
                }
                Some(b'"') if quoted => {
                    quoted = false;
                    let next = &rest[at + 1..];
                    let whole = next.is_empty()
                        || [&b","[..], b"\n", b"\r\n"].iter().any(|end| next.starts_with(end))
                        || next == b"\r";
                    malformed |= !whole;
                }
                Some(b'"') if first => quoted = true,
                Some(b'\n') if !quoted => break at,
                Some(b',') if !quoted => {
                    fields.push(std::mem::take(&mut field));
                    at += 1;
                    first = true;
                    continue;
                }
                Some(b'\r') if !quoted && matches!(rest.get(at + 1), None | Some(b'\n')) => {}
                Some(byte) => {
                    malformed |= byte == b'"';
                    field.push(byte);
                }
            }
            first = false;
            at += 1;
        };
        fields.push(field);
        // A quoted field that is open has the last separator.
        let bytes = &rest[..end];
        rows.push(Row { bytes, fields, malformed: malformed || quoted, line });
        rest = rest.get(end + 1..).unwrap_or_default();
        line += 1 + bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
    }
    rows
}

/// Returns the first row of each key.
fn first_rows(rows: &[Row<'_>], columns: &[usize]) -> Vec<u8> {
    let mut seen = HashSet::new();
    let mut output = Vec::new();
    for row in rows {
        let key: Option<Vec<_>> = columns.iter().map(|&column| row.fields.get(column)).collect();
        if key.is_none_or(|key| seen.insert(key)) {
            output.extend_from_slice(row.bytes);
            // The separator of the last row may be part of an open field.
            if !(row.malformed && row.bytes.ends_with(b"\n")) {
                output.push(b'\n');
            }
        }
    }
    output
}

/// The rows that Python 3.11 finds: `csv.reader(open(file, newline=''))`. (It skips an empty line.)
#[test]
fn malformed_rows_are_those_of_python() {
    let golden: [(&str, &[&[&str]]); 22] = [
        ("a,5\" disk\n", &[&["a", "5\" disk"]]),
        ("\"a\"b,c\n", &[&["ab", "c"]]),
        ("\"a\" ,b\n", &[&["a ", "b"]]),
        ("\"a\"b\"c\",d\n", &[&["ab\"c\"", "d"]]),
        ("a\"b\"\n", &[&["a\"b\""]]),
        (" \"a\",b\n", &[&[" \"a\"", "b"]]),
        ("\"a\n", &[&["a\n"]]),
        ("\"a", &[&["a"]]),
        ("x,\"b\nc\n", &[&["x", "b\nc\n"]]),
        ("x,\"b\nc", &[&["x", "b\nc"]]),
        ("\"a\"\"\n", &[&["a\"\n"]]),
        ("\"a\"\"\"\n", &[&["a\""]]),
        ("\"\"\"a\"\n", &[&["\"a"]]),
        ("\"\",\"\"\n", &[&["", ""]]),
        ("\"a\nb\",c\nd,e\n", &[&["a\nb", "c"], &["d", "e"]]),
        ("\"a\r\nb\"\r\nc\r\n", &[&["a\r\nb"], &["c"]]),
        ("\"a\"\r\n\"b\"x\r\n", &[&["a"], &["bx"]]),
        ("\"a\"\"b\"c\"\"d,e\n", &[&["a\"bc\"\"d", "e"]]),
        ("\"a\"b\n\"c\n", &[&["ab"], &["c\n"]]),
        ("a,\"b\"c,\"d\ne\"f\n", &[&["a", "bc", "d\nef"]]),
        ("\"\n\"\n", &[&["\n"]]),
        ("1,\"a,b\"c,2\n", &[&["1", "a,bc", "2"]]),
    ];
    for (text, expected) in golden {
        let rows = rows(text.as_bytes());
        let found: Vec<Vec<&str>> = rows
            .iter()
            .map(|row| row.fields.iter().map(|field| str::from_utf8(field).unwrap()).collect())
            .collect();
        assert_eq!(found, expected, "{text:?}");
        // The program finds the same: each field is a key that equals the quoted one.
        for (number, row) in rows.iter().enumerate() {
            for (column, field) in row.fields.iter().enumerate() {
                let field = String::from_utf8_lossy(field).replace('"', "\"\"");
                let same = format!("{}\"{field}\"\n", "x,".repeat(column));
                let text = [same.as_bytes(), row.bytes].concat();
                let (output, end) = printed(&text, Fields::new(vec![column], b',', CSV), 1, 1);
                assert_eq!(String::from_utf8(output).unwrap(), same, "{number} of {text:?}");
                assert_eq!(end.unwrap().notes.malformed, u64::from(row.malformed), "{text:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// In any bytes, rows and fields are those of a simple parser, for any chunks and threads.
    #[test]
    fn rows_of_any_bytes_are_found(
        input in vec(
            prop_oneof![
                4 => Just(&b"\""[..]), 3 => Just(&b","[..]), 3 => Just(&b"\n"[..]), 2 => Just(&b"a"[..]),
                1 => Just(&b"\r"[..]), 1 => Just(&b"\r\n"[..]), 1 => Just(MARK), 1 => Just(&b"\xef"[..]),
            ],
            0..60,
        ),
        columns in prop_oneof![Just(vec![0]), Just(vec![1]), Just(vec![2, 0])],
        threads in 1_usize..4,
        chunk in prop_oneof![Just(1_usize), 1_usize..60],
    ) {
        let input = input.concat();
        let rows = rows(&input);
        let (output, end) = printed(&input, Fields::new(columns.clone(), b',', CSV), threads, chunk);
        let expected = first_rows(&rows, &columns);
        prop_assert_eq!(String::from_utf8_lossy(&output), String::from_utf8_lossy(&expected));
        let summary = end.expect("no input is an error");
        prop_assert_eq!(summary.tally.lines, rows.len() as u64);
        prop_assert_eq!(summary.tally.bytes_in, input.len() as u64);
        let malformed: Vec<_> = rows.iter().filter(|row| row.malformed).collect();
        prop_assert_eq!(summary.notes.malformed, malformed.len() as u64);
        let line = summary.notes.first_malformed.map(|first| first.line);
        prop_assert_eq!(line, malformed.first().map(|row| row.line));
    }
}

proptest! {
    /// Well-formed rows have the fields that the csv crate finds.
    #[test]
    fn well_formed_rows_have_the_fields_of_the_csv_crate(
        values in vec(vec("[a\",;\t\r\n ]{0,4}", 3), 0..40),
        crlf in any::<bool>(),
        threads in 1_usize..4,
        chunk in prop_oneof![Just(1_usize), 1_usize..60],
        columns in prop_oneof![Just(vec![0]), Just(vec![2, 0]), Just(vec![0, 1, 2])],
    ) {
        let end = if crlf { Terminator::CRLF } else { Terminator::Any(b'\n') };
        let mut writer = WriterBuilder::new().terminator(end).from_writer(Vec::new());
        values.iter().for_each(|row| writer.write_record(row).expect("memory"));
        let input = writer.into_inner().expect("memory");
        let read = ReaderBuilder::new().has_headers(false).from_reader(&input[..]).into_records();
        let read: Vec<Vec<String>> =
            read.map(|row| row.expect("valid").iter().map(str::to_owned).collect()).collect();
        prop_assert_eq!(&read, &values);
        let rows = rows(&input);
        let fields = rows.iter().map(|row| {
            row.fields.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect::<Vec<_>>()
        });
        prop_assert_eq!(&fields.collect::<Vec<_>>(), &values);
        let (output, end) = printed(&input, Fields::new(columns.clone(), b',', CSV), threads, chunk);
        prop_assert_eq!(output, first_rows(&rows, &columns));
        prop_assert_eq!(end.expect("nothing fails").notes.malformed, 0);
    }

    /// Nobody has said whether quotes have a meaning: rows with a quoted field have no key, and are
    /// printed whole.
    #[test]
    fn quoted_rows_without_an_option_are_kept(
        input in "[a\",\n]{0,60}",
        threads in 1_usize..4,
        chunk in prop_oneof![Just(1_usize), 1_usize..60],
    ) {
        let rows = rows(input.as_bytes());
        let fields = Fields::new(vec![1], b',', Quotes::Refused);
        let (output, end) = printed(input.as_bytes(), fields, threads, chunk);
        let mut seen = HashSet::new();
        let mut expected = Vec::new();
        for row in &rows {
            let plain: Vec<_> = row.bytes.split(|&byte| byte == b',').collect();
            let quoted = plain.iter().any(|field| field.starts_with(b"\""));
            let key = plain.get(1).filter(|_| !quoted);
            if key.is_none_or(|key| seen.insert(*key)) {
                expected.extend_from_slice(row.bytes);
                expected.extend((!(row.malformed && row.bytes.ends_with(b"\n"))).then_some(b'\n'));
            }
        }
        prop_assert_eq!(String::from_utf8_lossy(&output), String::from_utf8_lossy(&expected));
        prop_assert_eq!(end.expect("nothing fails").notes.malformed, 0);
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
        let run = dedup(args).write_stdin(input).assert().success();
        let text = said(&run.stdout("a\tx\tbc\nab\tx\tc\nbc\tx\ta\na\tz\n"));
        assert!(
            text.contains("1 record without a key was printed") && text.contains("line 5"),
            "{text}"
        );
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
    // Without an option, rows with quotes have no key: they are all printed, and the warning names
    // the options.
    let (code, kept, text) = run(&["--delimiter", ","]);
    assert_eq!((code, kept.as_str()), (Some(0), "12345"), "{text}");
    let warning = "tamis: warning: 4 records without a key were printed; the first: standard input, line 2: a field \
                   begins with a double quote; --csv parses such fields, --no-csv treats quotes as ordinary bytes\n";
    assert_eq!(text, warning);
    let (code, kept, text) = run(&["--delimiter", ",", "--strict"]);
    assert_eq!((code, kept.as_str()), (Some(2), "1"), "{text}");
    assert!(text.contains("standard input, line 2") && text.contains("--csv"), "{text}");
    // The lines of a quoted field are no records, also after the key.
    let later = "1,a,\"x\nThanks, me\"\n2,b,\"y\nThanks, me\"\n";
    let run =
        dedup(&["--key-field", "1", "--delimiter", ","]).write_stdin(later).assert().success();
    run.stdout(later);
    // In fields separated by tabs, quotes are no sign of CSV.
    let tabs = input.replace(',', "\t");
    dedup(&["--key-field", "2"]).write_stdin(tabs.clone()).assert().success().stderr("");
}

#[test]
fn a_row_may_take_several_lines() {
    let rows = "1,\"a\nb\"\n2,b,\"c\nd\",e\n3,\"a\nb\"\n4,b\n";
    for threads in ["1", "4"] {
        let mut command = dedup(&["--csv", "--key-field", "2", "--strict", "-j", threads]);
        let kept = "1,\"a\nb\"\n2,b,\"c\nd\",e\n";
        command.write_stdin(rows).assert().success().stdout(kept).stderr("");
    }
    // Messages name the line where a row begins; the summary counts rows.
    let args = ["dedup", "--csv", "--key-field", "2", "--stats", "json"];
    let assert = tamis().args(args).write_stdin(format!("{rows}5\n")).assert().success();
    let json = json(&said(&assert));
    assert_eq!(json["lines"], 5);
    let first = json["first_keyless"].as_str().expect("a text");
    assert!(first.starts_with("standard input, line 8: "), "{first}");
    // Rows that end in NUL may contain newlines.
    let rows = "1,\"a\nb\"\x002,\"a\"\x003,\"a\nb\"\x004,\"a\0b\"\x005,\"a\0b\"\0";
    dedup(&["--csv", "--key-field", "2", "-0"])
        .write_stdin(rows)
        .assert()
        .success()
        .stdout("1,\"a\nb\"\x002,\"a\"\x004,\"a\0b\"\0");
}

#[test]
fn malformed_rows_are_read_and_counted() {
    let input = "1,a\n2,\"x\ny\"\n3,5\" disk\n4,\"b\"c\n5,bc\n6,\"open\n7,d\n";
    for threads in ["1", "3"] {
        let args = ["--csv", "--key-field", "2", "-j", threads];
        let assert = dedup(&args).write_stdin(input).assert().success();
        let text = said(&assert);
        assert_eq!(
            text,
            "tamis: warning: 3 malformed rows were read as Python's csv module does; the first: standard input, line 4: a \
             quote in a field that does not begin with one\n"
        );
        assert.stdout(input.replace("5,bc\n", ""));
        let assert = dedup(&args).arg("--strict").write_stdin(input).assert().code(2);
        let text = said(&assert);
        assert!(text.contains("line 4: a quote in a field"), "{text}");
        assert.stdout("1,a\n2,\"x\ny\"\n");
    }
}

/// A quoted field that is never closed is bounded by --max-line, at the same place for any chunk.
#[test]
fn an_open_quote_does_not_take_all_memory() {
    let input = format!("1,a\n2,\"{}", "b,c\n".repeat(500_000));
    let args = ["--csv", "--key-field", "2", "--max-line", "1000"];
    let assert = dedup(&args).write_stdin(input.clone()).assert().code(2).stdout("1,a\n");
    let text = said(&assert);
    assert!(text.contains("line 2: longer") && text.contains("a quoted field is open"), "{text}");
    let attempt = |chunk, threads| {
        let key = Key::from_part(Part::Fields(Fields::new(vec![1], b',', CSV)));
        let options = Options { key, max_record: 1000, chunk, threads, ..Options::default() };
        let mut output = Vec::new();
        let inputs = vec![Input::new("test", input.as_bytes())];
        let error = run(inputs, &mut output, &options, &mut ()).expect_err("too long");
        (error.to_string(), output)
    };
    for (chunk, threads) in [(1, 1), (7, 2), (1000, 1), (1 << 20, 3)] {
        assert_eq!(attempt(chunk, threads), attempt(1 << 23, 1));
    }
}

/// Spreadsheets write such a mark. It is printed, and is no part of the key.
#[test]
fn a_byte_order_mark_is_no_part_of_a_field() {
    let input = "\u{feff}\"a, b\",1\n\"a, b\",2\nc,1\n";
    let run = |field| dedup(&["--csv", "--key-field", field]).write_stdin(input).assert().success();
    run("1").stdout("\u{feff}\"a, b\",1\nc,1\n");
    run("2").stdout("\u{feff}\"a, b\",1\n\"a, b\",2\n");
}
