//! Headers: the first record of each input, which names the fields, is printed once and is never
//! remembered.

use crate::common::{Files, dedup, json, said};

/// A name with a comma cannot be given as one of several; its number can. Onto the input, too, the
/// header stays.
#[test]
fn a_column_whose_name_has_a_comma_is_given_by_its_number() {
    let files = Files::new();
    files.write("in.csv", "id,\"full, name\"\n1,\"a\nb\"\n2,c\n3,\"a\nb\"\n");
    let csv = ["dedup", "-q", "--csv", "--header", "in.csv", "-o", "in.csv", "--key-field"];
    let said = files.refused(2, &[&csv[..], &["full, name"]].concat());
    assert!(said.contains("has no column"), "{said}");
    files.run(&[&csv[..], &["2"]].concat());
    assert_eq!(files.read("in.csv"), b"id,\"full, name\"\n1,\"a\nb\"\n2,c\n");
}

#[test]
fn the_header_is_printed_once_and_is_no_record() {
    let files = Files::new();
    files.write("a", "id\tname\n1\tx\n2\ty\n1\tz\n");
    files.write("b", "\u{feff}\"id\"\tname\r\n3\tx\n1\tid\n");
    files.write("empty", "");
    files.write("alone", "id\tname");
    let run = |args: &[&str]| {
        files.run(&[&["dedup", "-q", "--header", "--key-field", "id"], args].concat()).0
    };
    assert_eq!(run(&["a", "b"]), "id\tname\n1\tx\n2\ty\n3\tx\n");
    assert_eq!(run(&["empty", "b", "a"]), "\u{feff}\"id\"\tname\r\n3\tx\n1\tid\n2\ty\n");
    assert_eq!(run(&["alone"]), "id\tname\n");
    assert_eq!(run(&["alone", "a"]), "id\tname\n1\tx\n2\ty\n");
    assert_eq!(run(&["empty"]), "");
    assert_eq!(run(&["-d", "a"]), "id\tname\n1\tz\n");
    assert_eq!(run(&["-d", "b"]), "\u{feff}\"id\"\tname\r\n");
    // Without fields the record is the key, and a record like the header is a record.
    files.write("twice", "h\na\nh\na\n");
    assert_eq!(files.run(&["dedup", "-q", "--header", "twice"]).0, "h\na\nh\n");
    // It is not counted, and lines have the numbers that they have in the file.
    let args = ["dedup", "--header", "--key-field", "2", "--stats", "json", "a", "empty"];
    let json = json(&files.run(&args).1);
    assert_eq!((&json["lines"], &json["printed"]), (&3.into(), &3.into()));
    files.write("short", "id\tname\n1\tx\n2\n");
    let (code, out, error) =
        files.ended(&["dedup", "--strict", "--header", "--key-field", "name", "short"]);
    assert_eq!((code, &out[..]), (2, "id\tname\n1\tx\n"));
    assert!(error.contains("short, line 3: too few fields"), "{error}");
}

#[test]
fn names_numbers_and_ranges_select_fields() {
    let input = "a,b,c,d\n1,2,3,4\n1,0,3,4\n1,2,3,5\n1,2,9,4\n";
    let kept = |fields: &str| {
        let args = ["--csv", "--header", "--key-field", fields];
        let assert = dedup(&args).write_stdin(input).assert().success().stderr("");
        let text = String::from_utf8(assert.get_output().stdout.clone()).expect("text");
        text.lines().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(kept("a"), "1,2,3,4");
    assert_eq!(kept("b"), "1,2,3,4 1,0,3,4");
    assert_eq!(kept("c,2"), "1,2,3,4 1,0,3,4 1,2,9,4");
    assert_eq!(kept("1-3"), "1,2,3,4 1,0,3,4 1,2,9,4");
    assert_eq!(kept("a,2-3"), kept("1-3"));
    assert_eq!(kept("2-3,d"), "1,2,3,4 1,0,3,4 1,2,3,5 1,2,9,4");
    // Ranges need no header.
    let rows = &input[8..];
    let assert = dedup(&["--csv", "--key-field", "1,3-4"]).write_stdin(rows).assert().success();
    assert.stdout("1,2,3,4\n1,2,3,5\n1,2,9,4\n");
    for (fields, part) in [
        ("4-2", "expected 2-4"),
        ("0-2", "at least 1"),
        ("1-1000000000000", "at most 65536"),
        ("name", "needs --header"),
    ] {
        let assert = dedup(&["--key-field", fields]).write_stdin(rows).assert().code(2).stdout("");
        let error = said(&assert);
        assert!(error.contains("--key-field") && error.contains(part), "{error}");
    }
}

#[test]
fn a_header_that_does_not_fit_is_an_error_before_any_output() {
    let files = Files::new();
    files.write("a", "id,name\n1,x\n");
    files.write("b", "name,id\n2,y\n");
    files.write("twice", "id,id,name\n2,y,z\n");
    let run = |args: &[&str]| {
        files.ended(&[&["dedup", "--csv", "--header", "--key-field"], args].concat())
    };
    let (code, out, error) = run(&["id", "a", "b"]);
    assert_eq!((code, &out[..]), (2, ""));
    assert!(
        error.starts_with("tamis: b: its header is not that of a: they differ in column 1"),
        "{error}"
    );
    let (code, out, error) = run(&["idd", "a"]);
    assert_eq!((code, &out[..]), (2, ""));
    assert!(error.starts_with("tamis: a: has no column 'idd', but 'id', 'name'"), "{error}");
    let (code, _, error) = run(&["id", "twice"]);
    assert_eq!(code, 2);
    assert!(error.contains("the columns 1 and 2 are both called 'id'"), "{error}");
    // A name that is there once is no error.
    assert_eq!(
        files.run(&["dedup", "-q", "--csv", "--header", "--key-field", "name", "twice"]).0,
        "id,id,name\n2,y,z\n"
    );
    // The wrong delimiter is named.
    let (code, _, error) = files.ended(&["dedup", "--header", "--key-field", "id", "a"]);
    assert_eq!(code, 2);
    assert!(
        error.contains("TAB") && error.contains("--delimiter") && error.contains("'id,name'"),
        "{error}"
    );
    // In a pipe the header is read when its turn comes: before its records.
    let args = ["dedup", "--csv", "--header", "--key-field", "id", "a", "-"];
    let assert = files.tamis(&args).write_stdin("name,id\n3,z\n").assert().code(2);
    assert.stdout("id,name\n1,x\n");
    // A header is no reason to take all memory.
    let long = format!("\"{}", "x\n".repeat(100_000));
    let args = ["--csv", "--header", "--key-field", "id", "--max-line", "100"];
    let assert = dedup(&args).write_stdin(long).assert().code(2).stdout("");
    let error = said(&assert);
    assert!(
        error.contains("line 1: longer") && error.contains("a quoted field is open"),
        "{error}"
    );
}

#[test]
fn all_commands_take_a_header() {
    let files = Files::new();
    files.write("a.csv", "id,name\n1,\"x\ny\"\n2,z\n");
    files.write("b.csv", "id,name\n3,w\n1,q\n");
    let key = ["--csv", "--header", "--key-field", "id", "-q"];
    let run = |args: &[&str]| files.run(&[args, &key].concat()).0;
    assert_eq!(run(&["new", "F", "a.csv"]), "id,name\n1,\"x\ny\"\n2,z\n");
    assert_eq!(run(&["new", "F", "a.csv"]), "id,name\n");
    assert_eq!(run(&["new", "F", "a.csv", "b.csv"]), "id,name\n3,w\n");
    // The header is not in the filter.
    files.write("id", "id\n");
    assert_eq!(files.run(&["query", "-q", "F", "id"]).0, "");
    assert_eq!(run(&["query", "F", "a.csv"]), "id,name\n1,\"x\ny\"\n2,z\n");
    assert_eq!(run(&["query", "-v", "F", "a.csv"]), "id,name\n");
    run(&["build", "--kind", "cuckoo", "-o", "C", "a.csv", "b.csv"]);
    run(&["remove", "C", "b.csv"]);
    assert_eq!(run(&["query", "C", "b.csv"]), "id,name\n1,q\n");
    run(&["index", "-o", "I", "a.csv", "b.csv"]);
    let (code, printed, _) = files.ended(&["which", "-q", "I", "id"]);
    assert_eq!((code, printed.as_str()), (1, ""));
    assert_eq!(files.run(&["which", "-q", "I", "3"]).0, "b.csv\n");
    files.write("keys.csv", "name,id\n\"a\nb\",2\nx,3\n");
    assert_eq!(run(&["which", "I", "--keys", "keys.csv"]), "\"a\nb\",2\ta.csv\nx,3\tb.csv\n");
    // A header that another file does not have, and names without a header, are errors.
    files.write("c.csv", "name,id\n3,w\n");
    let (code, _, error) =
        files.ended(&[&["index", "-o", "J", "a.csv", "c.csv"], &key[..]].concat());
    assert_eq!(
        (code, error.contains("c.csv: its header is not that of a.csv")),
        (2, true),
        "{error}"
    );
    assert!(!files.path("J").exists());
    let (code, _, error) = files.ended(&[&["which", "I", "1"], &key[..]].concat());
    assert_eq!((code, error.contains("--keys")), (2, true), "{error}");
}

/// The next run finds the keys by the names, wherever their columns are.
#[test]
fn columns_may_be_in_another_order_in_the_next_run() {
    let files = Files::new();
    files.write("a.csv", "id,name,x\n1,2,0\n3,4,0\n");
    files.write("b.csv", "name,x,id\n2,0,1\n3,0,4\n4,0,3\n1,0,2\n");
    let key = ["--csv", "--header", "--key-field", "id,name", "-q"];
    let run = |args: &[&str]| files.run(&[args, &key].concat()).0;
    run(&["new", "F", "a.csv"]);
    assert_eq!(run(&["query", "F", "b.csv"]), "name,x,id\n2,0,1\n4,0,3\n");
    assert_eq!(run(&["new", "F", "b.csv"]), "name,x,id\n3,0,4\n1,0,2\n");
    // The order of the options makes no difference, and that of numbers neither.
    let asked = |key: &str| {
        files.run(&["query", "F", "b.csv", "--csv", "--header", "-q", "--key-field", key]).0
    };
    assert_eq!(asked("name,id"), asked("id,name"));
    assert_eq!(asked("1,3"), asked("3,1"));
}

/// A filter of another system would hold the joined values of Tamis, which that system never finds.
#[test]
fn several_names_are_no_key_of_another_system() {
    let files = Files::new();
    files.write("a.csv", "id,name\n1,x\n");
    let build = ["build", "-q", "--to", "guava", "--capacity", "9", "-o", "F", "a.csv"];
    let build = |fields| [&build[..], &["--csv", "--header", "--key-field", fields]].concat();
    for fields in ["id,name", "1,name", "1,id", "1,2"] {
        let said = files.refused(2, &build(fields));
        assert!(said.contains("the key of another system is one field"), "{fields}: {said}");
        assert!(!files.path("F").exists(), "{fields}");
    }
    files.run(&build("name"));
    files.write("key", "x\n");
    assert_eq!(files.run(&["query", "-q", "--from", "guava", "F", "key"]).0, "x\n");
}

/// A command that prints records prints the header, even if it prints no record: the output stays a
/// CSV file.
#[test]
fn an_output_without_records_has_the_header() {
    let files = Files::new();
    files.write("a.csv", "id,n\n1,a\n");
    let csv = ["-q", "--csv", "--header", "--key-field", "id"];
    for output in ["first.csv", "second.csv"] {
        files.run(&[&["new", "seen", "a.csv", "-o", output], &csv[..]].concat());
    }
    let [first, second] = ["first.csv", "second.csv"].map(|name| std::fs::read(files.path(name)));
    assert_eq!(first.expect("written"), b"id,n\n1,a\n");
    assert_eq!(second.expect("written"), b"id,n\n");
}
