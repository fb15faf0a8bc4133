//! Which records have equal keys.

use crate::common::{Files, dedup, said};

/// Checks that `records` all have different keys: all are printed.
fn all_differ(args: &[&str], records: &[&str]) {
    let input = records.join("\n") + "\n";
    let assert = dedup(args).arg("--strict").write_stdin(input.clone()).assert().success();
    assert_eq!(String::from_utf8_lossy(&assert.get_output().stdout), input);
}

/// Checks that `records` all have the same key: only the first is printed.
fn all_same(args: &[&str], records: &[&str]) {
    let input = records.join("\n");
    let first = format!("{}\n", records[0]);
    dedup(args).arg("--strict").write_stdin(input).assert().success().stdout(first);
}

#[test]
fn the_error_says_why_there_is_no_key() {
    let deep = format!("{{\"a\":{}{}}}\n", "[".repeat(128), "]".repeat(128));
    let cases = [
        (&deep[..], "nested deeper than 127"),
        ("{\"b\":1}\n", "nothing at the --json-key pointer"),
        ("{\"a\":1\n", "not JSON"),
    ];
    for (record, why) in cases {
        let assert = dedup(&["--json-key", "/a", "--strict"]).write_stdin(record).assert().code(2);
        let error = said(&assert);
        assert!(error.contains(why), "{error}");
        // Without --strict the record is printed, every time.
        let twice = record.repeat(2);
        dedup(&["--json-key", "/a"]).write_stdin(twice.clone()).assert().success().stdout(twice);
    }
    // What stands next to the key may be nested to any depth.
    let surrounded = deep.replace('}', ",\"b\":1}");
    let twice = surrounded.repeat(2);
    dedup(&["--json-key", "/b", "--strict"])
        .write_stdin(twice)
        .assert()
        .success()
        .stdout(surrounded);
}

/// In quadratic time, 10^12 steps for each array or object, this would not end within minutes.
#[test]
fn giant_values_take_linear_time() {
    let array = "0,".repeat(1_000_000);
    let members = "\"a\":0,".repeat(1_000_000);
    let line = |id| format!("{{\"v\":[{array}0],\"o\":{{{members}\"a\":1}},\"id\":{id}}}\n");
    let input = [line(1), line(2), line(1)].concat();
    for (pointer, printed) in [("/id", 2), ("/v", 1), ("/o", 1)] {
        let assert =
            dedup(&["--json-key", pointer, "--strict"]).write_stdin(&*input).assert().success();
        let expected: String = [line(1), line(2)][..printed].concat();
        assert!(assert.get_output().stdout == expected.as_bytes(), "{pointer}");
    }
}

/// Runs `tamis dedup -q`; returns the exit code, the output and the messages.
fn ran(args: &[&str], input: &str) -> (i32, String, String) {
    let output = dedup(args).write_stdin(input).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("it ends"), text(output.stdout), text(output.stderr))
}

/// A comma-separated file without --delimiter: each record is one field.
#[test]
fn a_delimiter_that_is_nowhere_is_reported() {
    let input = "1,a\n1,b\n";
    let (code, out, error) = ran(&["--key-field", "1"], input);
    assert_eq!((code, &out[..]), (0, input));
    assert!(
        error.starts_with("tamis: warning: no record has the delimiter of --key-field, TAB")
            && error.contains("--delimiter")
            && error.lines().count() == 1,
        "{error}"
    );
    let (code, _, error) = ran(&["--key-field", "1", "--strict"], input);
    assert_eq!(
        (code, error.contains("--delimiter"), error.lines().count()),
        (2, true, 1),
        "{error}"
    );
    let args = ["--key-field", "1", "--delimiter", ";", "-j", "3"];
    assert!(ran(&args, input).2.contains("';'"));
    // One record with it is enough, in any chunk, and so is an input without records.
    let late = format!("{}1\tb\n", "1\n".repeat(400_000));
    assert_eq!(ran(&["--key-field", "1", "--strict"], &late), (0, "1\n".into(), String::new()));
    assert_eq!(ran(&["--key-field", "1", "--strict"], ""), (0, String::new(), String::new()));
    // In a file it is found before any output; nothing is saved and nothing replaced.
    let files = Files::new();
    files.write("in", input);
    let args = ["dedup", "--strict", "--key-field", "1", "in"];
    files.tamis(&args).assert().code(2).stdout("");
    let args = ["dedup", "--strict", "--key-field", "1", "in", "-o", "in"];
    files.tamis(&args).assert().code(2);
    assert_eq!(std::fs::read_to_string(files.path("in")).expect("read"), input);
    let args = ["new", "F", "--strict", "--key-field", "1", "in"];
    files.tamis(&args).assert().code(2);
    assert!(!files.path("F").exists());
}

#[test]
fn several_json_values_are_compared_as_a_list() {
    let both = &["--json-key", "/a", "--json-key", "/b/0"];
    all_differ(
        both,
        &[
            r#"{"a":1,"b":[2]}"#,
            r#"{"a":2,"b":[1]}"#,
            r#"{"a":"1","b":[2]}"#,
            r#"{"a":12,"b":[""]}"#,
            r#"{"a":1,"b":["2"]}"#,
        ],
    );
    all_same(both, &[r#"{"a":1,"b":[2]}"#, r#"{"b":[2, 3], "a":1, "c":7}"#]);
    let other = &["--json-key", "/b/0", "--json-key", "/a", "--json-key", "/a"];
    all_same(other, &[r#"{"a":1,"b":[2]}"#, r#"{"b":[2, 3], "a":1, "c":7}"#]);
    let (_, out, error) = ran(both, "{\"a\":1}\n{\"a\":1}\n");
    assert_eq!(out, "{\"a\":1}\n{\"a\":1}\n");
    assert!(error.contains("nothing at the --json-key pointer"), "{error}");
    // The order of the options makes no difference to a saved filter.
    let files = Files::new();
    files.write("in", "{\"a\":1,\"b\":[2]}\n");
    let new = |keys: &[&str]| files.run(&[&["new", "-q", "F", "in"], keys].concat()).0;
    assert_eq!((new(both).lines().count(), new(other).lines().count()), (1, 0));
}

#[test]
fn another_notation_of_a_path_is_answered_with_the_pointer() {
    for (given, meant) in [("user.id", "/user/id"), ("id", "/id"), ("$.a[0].b", "/a/0/b")] {
        let (code, _, error) = ran(&["--json-key", given], "{}\n");
        assert_eq!(code, 2);
        assert!(error.contains(&format!("did you mean {meant}; see")), "{error}");
    }
}

/// A document over several lines has no record with the key.
#[test]
fn a_pretty_printed_document_is_recognised() {
    for (input, remedy) in [
        ("{\n  \"id\": 1\n}\n", "jq -c . FILE | tamis"),
        ("[\n  {\"id\": 1},\n  {\"id\": 1}\n]\n", "jq -c '.[]' FILE | tamis"),
        ("[{\n  \"id\": 1\n}]\n", "jq -c '.[]' FILE | tamis"),
    ] {
        let (code, _, error) = ran(&["--json-key", "/id"], input);
        assert_eq!((code, error.contains(remedy)), (0, true), "{error}");
        let (code, out, error) = ran(&["--json-key", "/id", "--strict"], input);
        assert_eq!((code, &out[..], error.contains(remedy)), (2, "", true), "{error}");
    }
}

#[test]
fn a_cr_at_the_end_of_a_line_may_be_ignored() {
    let input = "a\r\nb\na\nb\r\nc\t1\r\nd\t1\n\r\n\n";
    assert_eq!(ran(&["--crlf"], input), (0, "a\r\nb\nc\t1\r\nd\t1\n\r\n".into(), String::new()));
    let fields = ["--crlf", "--key-field", "2", "--strict"];
    assert_eq!(ran(&fields, "c\t1\r\nd\t1\n").1, "c\t1\r\n");
    assert_eq!(ran(&["--crlf", "--hex", "--strict"], "aa\r\nAA\n").1, "aa\r\n");
    // Only the CR before the line end.
    assert_eq!(ran(&["--crlf"], "a\r\r\na\r\na\n").1, "a\r\r\na\r\n");
    // Without the option, a mixture is reported.
    for args in [&["-j", "1"][..], &["--key-field", "1", "-j", "2"]] {
        let (code, out, error) = ran(args, "a\t\r\nb\t\nc\t\r\n");
        assert_eq!((code, &out[..]), (0, "a\t\r\nb\t\nc\t\r\n"));
        let warning = "tamis: warning: 2 records with CR LF at the end, 1 with LF alone: these differ in the CR; --crlf \
                       ignores it\n";
        assert_eq!(error, warning);
    }
    // The end of the input is no line end.
    for input in ["a\r\nb\r\n", "a\r\nb", "a\nb\n", "a\rb\n", ""] {
        assert_eq!(ran(&[], input).2, "", "{input:?}");
    }
    assert_eq!(ran(&["-0"], "a\r\0b\0").2, "");
    assert_eq!(ran(&["-0", "--crlf"], "a\0").0, 2);
}

#[test]
fn letters_of_any_case_may_be_equal() {
    let case = |args: &[&str], input: &str| {
        let (code, out, error) = ran(&[args, &["--ignore-case", "--strict"]].concat(), input);
        assert_eq!((code, &error[..]), (0, ""));
        out
    };
    let lines = |input: &str| {
        let (code, out, _) = ran(&["--ignore-case"], input);
        assert_eq!(code, 0);
        out
    };
    assert_eq!(lines("Ab\nAB\nab\n\u{c4}\n\u{e4}\n[\n{\n"), "Ab\n\u{c4}\n\u{e4}\n[\n{\n");
    assert_eq!(case(&["--key-field", "2"], "1\tAb\n2\taB\n3\tc\n"), "1\tAb\n3\tc\n");
    assert_eq!(case(&["--json-key", "/a"], "{\"a\":\"X\"}\n{\"a\":\"x\"}\n"), "{\"a\":\"X\"}\n");
    // The names in an object too, whose order makes no difference.
    let objects = "{\"B\":1,\"a\":2}\n{\"A\":2,\"b\":1}\n{\"a\":1,\"b\":2}\n";
    let printed = "{\"B\":1,\"a\":2}\n{\"a\":1,\"b\":2}\n";
    assert_eq!(case(&["--json-key", ""], objects), printed);
    // Names that differ in case alone are two members.
    let twins = "{\"A\":1,\"a\":2}\n{\"a\":2,\"A\":1}\n{\"A\":3,\"a\":2}\n";
    let printed = "{\"A\":1,\"a\":2}\n{\"A\":3,\"a\":2}\n";
    assert_eq!(case(&["--json-key", ""], twins), printed);
    let (one, other) = ("http://a.example/B#x\n", "HTTP://A.example/b\n");
    assert_eq!(case(&["--url", "crawl-1"], &format!("{one}{other}")), one);
    // The lengths of fields are not letters: 65 is that of A and 97 that of a.
    let long =
        |first: usize, second: usize| format!("{}\t{}\n", "a".repeat(first), "a".repeat(second));
    let input = [long(65, 97), long(97, 65), long(65, 97).to_uppercase()].concat();
    assert_eq!(case(&["--key-field", "1,2"], &input), [long(65, 97), long(97, 65)].concat());
    assert_eq!(ran(&["--hex", "--ignore-case"], "aa\n").0, 2);
}

/// The file says whether case was ignored, as it does for the normal form of URLs.
#[test]
fn a_filter_keeps_that_case_is_ignored() {
    let files = Files::new();
    files.write("in", "Ab\nAB\n");
    files.write("url", "http://a.example/\n");
    let refused = |args: &[&str]| files.refused(2, args);
    assert_eq!(files.run(&["new", "-q", "F", "in", "--ignore-case"]).0, "Ab\n");
    let error = refused(&["query", "F", "in"]);
    assert_eq!(
        error,
        "tamis: F: its items were normalised with --ignore-case, but this command has --url none; run: tamis query \
         --ignore-case F in\n"
    );
    assert_eq!(files.run(&["query", "-q", "F", "in", "--ignore-case"]).0, "Ab\nAB\n");
    let url = ["--url", "crawl-1", "--ignore-case"];
    files.run(&[&["build", "-q", "-o", "U", "url"], &url[..]].concat());
    let error = refused(&["new", "U", "url", "--url", "crawl-1"]);
    assert!(error.contains("run: tamis new --url crawl-1 --ignore-case U url\n"), "{error}");
    files.run(&["build", "-q", "-o", "P", "url", "--url", "crawl-1"]);
    let error = refused(&[&["new", "P", "url"], &url[..]].concat());
    assert!(error.contains("run: tamis new --url crawl-1 P url\n"), "{error}");
    let info = |file: &str| {
        let json = files.info(file);
        (json["url"].as_str().expect("a text").to_owned(), json["ignore_case"] == true)
    };
    assert_eq!(info("F"), ("none".into(), true));
    assert_eq!(info("U"), ("crawl-1".into(), true));
    assert_eq!(info("P"), ("crawl-1".into(), false));
    assert!(files.run(&["info", "U"]).0.contains("ignore case      yes"));
    // An index keeps it too.
    files.run(&["index", "-q", "-o", "I", "in", "--ignore-case"]);
    assert_eq!(files.run(&["which", "-q", "I", "aB", "--ignore-case"]).0, "in\n");
    assert!(refused(&["which", "I", "aB"]).contains("--ignore-case I aB"));
}
