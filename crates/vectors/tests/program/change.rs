//! `tamis new` and `tamis remove` on filters of other systems.

use std::fs;

use crate::run::{Folder, run};

#[test]
fn new_prints_a_record_once_and_keeps_the_format() {
    let folder = Folder::new();
    let numbers: String = (0..2000).map(|i| format!("{}\n", i % 1000)).collect();
    for (format, key_type) in [
        ("guava", "i64"),
        ("spark:v2", "utf8"),
        ("redisbloom:cf", "bytes"),
        ("go_cuckoo", "bytes"),
        ("parquet", "i32"),
        ("rocksdb", "bytes"),
    ] {
        let path = folder.path("filter");
        let file = path.to_str().unwrap();
        let system = format.split(':').next().unwrap();
        let keys = ["--key-type", key_type, "-q"];
        let build = ["build", "--to", format, "--capacity", "5000", "-o", file];
        run(&[&build[..], &keys].concat(), b"").text();
        let empty = fs::read(&path).unwrap();

        let new = [&["new", file, "--from", system], &keys[..]].concat();
        let printed = run(&new, numbers.as_bytes()).text();
        let count = printed.lines().count();
        // A false positive is not printed.
        assert!((900..=1000).contains(&count), "{format}: {count}");
        assert!(fs::read(&path).unwrap() != empty);
        assert_eq!(run(&new, numbers.as_bytes()).text(), "", "{format}");
        // The filter is the one that these records alone make.
        let changed = fs::read(&path).unwrap();
        run(&[&build[..], &keys].concat(), printed.as_bytes()).text();
        assert!(fs::read(&path).unwrap() == changed, "{format}");
    }
}

/// What was printed before the filter was full is in it.
#[test]
fn a_full_filter_keeps_what_was_printed() {
    let folder = Folder::new();
    let path = folder.path("filter");
    let file = path.to_str().unwrap();
    let lines: String = (0..1000).map(|i| format!("{i}\n")).collect();
    run(&["build", "--to", "go_cuckoo", "--capacity", "100", "-o", file, "-q"], b"").text();
    let new = run(&["new", "--from", "go_cuckoo", file, "-q"], lines.as_bytes());
    assert!(new.code == Some(1) && new.stderr.contains("the filter is full"), "{}", new.stderr);
    let printed = String::from_utf8(new.stdout).unwrap();
    assert!(printed.lines().count() > 50);
    let query = ["query", "--from", "go_cuckoo", file, "-q"];
    assert_eq!(run(&query, printed.as_bytes()).text(), printed);
}

/// A wrapped filter stays wrapped.
#[test]
fn a_wrapped_filter_is_changed_in_its_file() {
    let folder = Folder::new();
    let [plain, wrapped] = ["plain", "wrapped.tamis"].map(|name| folder.path(name));
    let [plain, wrapped] = [&plain, &wrapped].map(|path| path.to_str().unwrap());
    run(&["build", "--to", "go_cuckoo", "--capacity", "100", "-o", plain, "-q"], b"a\nb\n").text();
    run(&["convert", "--from", "go_cuckoo", plain, "-o", wrapped, "-q"], b"").text();
    assert_eq!(run(&["new", wrapped, "-q"], b"b\nc\n").text(), "c\n");
    run(&["remove", wrapped, "-q"], b"a\n").text();
    assert_eq!(run(&["query", wrapped, "-q"], b"a\nb\nc\n").text(), "b\nc\n");
    run(&["convert", wrapped, "--to", "go_cuckoo", "-o", plain, "-q"], b"").text();
    assert_eq!(run(&["query", "--from", "go_cuckoo", plain, "-q"], b"a\nb\nc\n").text(), "b\nc\n");
    let info = run(&["info", wrapped], b"").text();
    assert!(info.contains("go_cuckoo, in a file of tamis"), "{info}");
}

#[test]
fn removing_takes_one_copy() {
    let folder = Folder::new();
    let path = folder.path("filter");
    let file = path.to_str().unwrap();
    for format in ["go_cuckoo", "redisbloom:cf", "hadoop:counting"] {
        run(&["build", "--to", format, "--capacity", "100", "-o", file, "-q"], b"a\na\nb\n").text();
        let from = ["--from", format, file, "-q"];
        let query = || run(&[&["query"], &from[..]].concat(), b"a\nb\nc\n").text();
        for expected in ["a\nb\n", "b\n"] {
            run(&[&["remove"], &from[..]].concat(), b"a\n").text();
            assert_eq!(query(), expected, "{format}");
        }
    }
}

/// The real system knows no quotes and no canonical form.
#[test]
fn a_string_of_json_is_its_text() {
    let folder = Folder::new();
    let (of_lines, of_json) = (folder.path("lines"), folder.path("json"));
    let [lines, json] = [&of_lines, &of_json].map(|path| path.to_str().unwrap());
    let build = ["build", "-q", "--to", "go_cuckoo", "--capacity", "100", "-o"];
    run(&[&build[..], &[lines]].concat(), "user1\na\"ä\n7\n".as_bytes()).text();
    let records = "{\"id\":\"user1\"}\n{\"id\":\"a\\\"\\u00e4\"}\n{\"id\":7}\n";
    let key = ["--json-key", "/id"];
    run(&[&build[..], &[json], &key].concat(), records.as_bytes()).text();
    assert!(fs::read(&of_json).unwrap() == fs::read(&of_lines).unwrap());

    let from = ["-q", "--from", "go_cuckoo", lines];
    let with = |command: &'static str| [&[command][..], &key, &from].concat();
    assert_eq!(run(&with("query"), records.as_bytes()).text(), records);
    assert_eq!(run(&with("new"), records.as_bytes()).text(), "");
    run(&with("remove"), records.as_bytes()).text();
    assert_eq!(run(&with("query"), records.as_bytes()).text(), "");

    // A lone surrogate stands for no character.
    let strict = run(&[&with("query")[..], &["--strict"]].concat(), b"{\"id\":\"\\ud800\"}\n");
    assert_eq!(strict.code, Some(2), "{}", strict.stderr);
}

/// The system counts its keys, and refuses more than it was built for.
#[test]
fn a_merge_beyond_the_capacity_is_a_warning() {
    let folder = Folder::new();
    let paths = ["a", "b", "both"].map(|name| folder.path(name));
    let [one, other, both] = [0, 1, 2].map(|at| paths[at].to_str().unwrap());
    for (file, numbers) in [(one, 0..100), (other, 100..200)] {
        let lines: String = numbers.map(|number| format!("{number}\n")).collect();
        let build = ["build", "-q", "--to", "pybloom_live", "--capacity", "100", "-o", file];
        let build = [&build[..], &["--key-type", "utf8"]].concat();
        run(&build, lines.as_bytes()).text();
    }
    let merged = run(&["merge", "--from", "pybloom_live", "-o", both, one, other], b"");
    assert!(merged.stderr.contains(", more than its capacity of 100: "), "{}", merged.stderr);
    let new = ["new", "-q", "--from", "pybloom_live", "--key-type", "utf8", both];
    let new = run(&new, b"one more\n");
    assert!(new.code == Some(1) && new.stderr.contains("the filter is full"), "{}", new.stderr);
    let merged = run(&["merge", "--from", "pybloom_live", "-o", both, one], b"");
    assert!(!merged.stderr.contains("capacity"), "{}", merged.stderr);
}

/// Each system joins several values in its own way.
#[test]
fn several_parts_are_no_key_of_another_system() {
    let folder = Folder::new();
    let path = folder.path("filter");
    let file = path.to_str().unwrap();
    let build = ["build", "-q", "--to", "go_cuckoo", "--capacity", "100", "-o", file];
    run(&build, b"").text();
    let before = fs::read(&path).unwrap();
    for parts in [&["--key-field", "1,2"][..], &["--json-key", "/a", "--json-key", "/b"]] {
        let from = ["-q", "--from", "go_cuckoo", file];
        let others = ["query", "new", "remove"].map(|command| [&[command][..], &from].concat());
        for args in others.iter().map(|args| &args[..]).chain([&build[..]]) {
            let refused = run(&[args, parts].concat(), b"{\"a\":1,\"b\":2}\n");
            assert_eq!(refused.code, Some(2), "{}", refused.stderr);
            assert!(refused.stderr.contains("the key of another system is one"));
        }
        assert!(fs::read(&path).unwrap() == before);
    }
}
