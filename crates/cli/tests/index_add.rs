//! `tamis index --add`: the index of all files, of which only some are read; and what `index` says
//! of one that it replaces.

use std::fs;

use crate::common::{Files, json, program};
use serde_json::Value;

/// The lines of a file with this number.
fn lines(number: usize) -> String {
    (0..200 + 50 * number).map(|line| format!("{}\n", line * (number + 1))).collect()
}

/// A directory with four files of lines.
fn four() -> Files {
    let files = Files::new();
    (0..4).for_each(|number| _ = files.write(&format!("f{number}"), lines(number)));
    files
}

#[test]
fn an_index_that_is_extended_is_the_same_file() {
    let files = four();
    // Several threads place the items of a cuckoo filter differently each time.
    for more in [
        &[][..],
        &["--kind", "cuckoo", "--rate", "1e-6", "-j", "1"],
        &["--seed", "7"],
        &["--json-key", ""],
    ] {
        let index = |args: &[&str]| files.run(&[&["index", "-o"], args, more].concat()).1;
        index(&["ALL", "f0", "f1", "f2", "f3"]);
        // One run for each file, the first of which finds no index.
        for file in ["f0", "f1", "f2", "f3"] {
            index(&["ADDED", "--add", file]);
        }
        let read = |name: &str| fs::read(files.path(name)).expect("saved");
        assert!(read("ADDED") == read("ALL"), "{more:?}");
        // The files need not be there any more.
        fs::rename(files.path("f0"), files.path("away")).expect("renamed");
        index(&["ADDED", "--add", "f3"]);
        assert!(read("ADDED") == read("ALL"), "{more:?}");
        fs::rename(files.path("away"), files.path("f0")).expect("renamed");
        fs::remove_file(files.path("ADDED")).expect("there");
    }
    assert_eq!(files.names().len(), 5, "{:?}", files.names());
}

#[test]
fn a_file_that_is_named_already_is_indexed_again() {
    let files = four();
    files.run(&["index", "-q", "-o", "I", "f0", "f1", "f2", "--rate", "1e-9"]);
    files.write("f1", "new\n");
    let (_, said) = files.run(&["index", "-o", "I", "--add", "f1", "f3", "--rate", "1e-9"]);
    assert!(said.starts_with("351 lines of 2 files, 351 keys; I has filters of "), "{said}");
    assert!(said.ends_with(" files are expected; 2 other files kept, 1 indexed again\n"), "{said}");
    assert_eq!(files.run(&["which", "-q", "I", "new"]).0, "f1\n");
    // 2 was in each, and is no longer in f1, which comes after the files that were kept.
    assert_eq!(files.run(&["which", "-q", "I", "0"]).0, "f0\nf2\nf3\n");
    files.write("f1", "0\n");
    files.run(&["index", "-q", "-o", "I", "--add", "f1", "--rate", "1e-9"]);
    assert_eq!(files.run(&["which", "-q", "I", "0"]).0, "f0\nf2\nf3\nf1\n");
    // Names are compared as they are given.
    files.run(&["index", "-q", "-o", "I", "--add", "./f1", "--rate", "1e-9"]);
    assert_eq!(files.run(&["which", "-q", "I", "0"]).0, "f0\nf2\nf3\nf1\n./f1\n");
}

/// The sizes of all filters are counted, also of those that are not read again.
#[test]
fn the_summary_is_of_all_files() {
    let files = four();
    let stats = |args: &[&str]| json(&files.run(&[args, &["--stats", "json"]].concat()).1);
    let all = stats(&["index", "-o", "ALL", "f0", "f1", "f2", "f3"]);
    stats(&["index", "-o", "I", "f0", "f1"]);
    let added = stats(&["index", "-o", "I", "--add", "f2", "f3"]);
    assert_eq!(added["filter_bytes"], all["filter_bytes"]);
    let rate = |stats: &Value| stats["expected_false_files"].as_f64().expect("a number");
    assert!((rate(&added) - rate(&all)).abs() < 1e-12 && rate(&all) > 0.0);
    let counts =
        |stats: &Value| ["files", "kept", "replaced", "dropped"].map(|name| stats[name].clone());
    assert_eq!(counts(&all), [4, 0, 0, 0].map(Value::from));
    assert_eq!(counts(&added), [2, 2, 0, 0].map(Value::from));
    let again = stats(&["index", "-o", "I", "--add", "f0", "f3"]);
    assert_eq!(counts(&again), [2, 2, 2, 0].map(Value::from));
}

/// The kind and the rate may be others; a key is found in all files.
#[test]
fn filters_of_several_kinds_and_rates_are_in_one_index() {
    let files = four();
    for (file, kind, rate) in [
        ("f0", "blocked", "1e-3"),
        ("f1", "cuckoo", "1e-6"),
        ("f2", "bloom", "1e-9"),
        ("f3", "once", "1e-4"),
    ] {
        files.run(&["index", "-q", "-o", "I", "--add", file, "--kind", kind, "--rate", rate]);
    }
    assert_eq!(files.run(&["which", "-q", "I", "0"]).0, "f0\nf1\nf2\nf3\n");
}

/// The seed and the URL policy are those of the index.
#[test]
fn options_that_contradict_the_index_are_2() {
    let files = Files::new();
    files.write("a", "http://a.example/\n");
    files.write("b", "http://b.example/\n");
    files.run(&["index", "-q", "-o", "I", "a", "--seed", "7", "--url", "crawl-1"]);
    files.run(&["index", "-q", "-o", "R", "a", "--seed", "random"]);
    let before = (files.names(), files.read("I"));
    for (args, expected) in [
        (
            &["index", "-o", "I", "--add", "b", "--url", "crawl-1", "--seed", "8"][..],
            "I: has another seed than --seed; run: tamis index -o I --add b --url crawl-1\n",
        ),
        (
            &["index", "-o", "I", "--add", "b", "--url", "crawl-1", "--seed", "random"],
            "another seed",
        ),
        (&["index", "-o", "R", "--add", "b", "--seed", "0"], "another seed"),
        (&["index", "-o", "I", "--add", "b"], "run: tamis index --url crawl-1 -o I --add b\n"),
        (&["index", "-o", "I", "--add", "b", "--url", "whatwg-1"], "--url crawl-1"),
        (&["index", "-o", "I", "--add", "b", "I", "--url", "crawl-1"], "is also the index"),
        (&["index", "-o", "I", "--add", "b", "none", "--url", "crawl-1"], "none: No such file"),
        (&["index", "-o", "b", "--add", "a"], "b: "),
        (&["index", "-o", ".", "--add", "a"], "is a directory"),
    ] {
        let said = files.refused(2, args);
        assert!(said.contains(expected), "{args:?}: {said}");
        assert!((files.names(), files.read("I")) == before, "{args:?}");
    }
    // The same seed may be given, and need not be: also a random one.
    files.run(&["index", "-q", "-o", "I", "--add", "b", "--url", "crawl-1", "--seed", "7"]);
    files.run(&["index", "-q", "-o", "I", "--add", "b", "--url", "crawl-1"]);
    assert_eq!(files.run(&["which", "-q", "I", "--url", "crawl-1", "http://b.example"]).0, "b\n");
    files.run(&["index", "-q", "-o", "R", "--add", "b", "--seed", "random"]);
    let (found, _) = files.run(&["which", "-q", "R", "http://a.example/", "http://b.example/"]);
    assert_eq!(found.lines().count(), 2);
}

/// A damaged index is not copied: the old file stays, and so does nothing else.
#[test]
fn a_damaged_index_is_2_and_stays() {
    let files = four();
    files.run(&["index", "-q", "-o", "I", "f0", "f1"]);
    let whole = files.read("I");
    // In the headers, the tables, the bodies, between them, in the index and in the trailer.
    let places = [9, 300, 4096, 4100, whole.len() / 2, whole.len() - 100, whole.len() - 10];
    for at in places {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        files.write("I", &damaged);
        let before = files.names();
        let said = files.refused(2, &["index", "-o", "I", "--add", "f2"]);
        assert!(said.starts_with("tamis: I: "), "{at}: {said}");
        assert!(files.read("I") == damaged, "{at}");
        assert_eq!(files.names(), before, "{at}");
    }
    // The damaged filter is that of a file that is indexed again: nothing of it is needed.
    let mut damaged = whole.clone();
    damaged[4096] ^= 1;
    files.write("I", &damaged);
    files.run(&["index", "-q", "-o", "I", "--add", "f0"]);
    assert_eq!(files.run(&["which", "-q", "I", "0"]).0, "f1\nf0\n");
    // A run that fails later.
    fs::write(files.path("I"), &whole).expect("written");
    files.write("bad", "{}\nx\n");
    let before = files.names();
    files.refused(2, &["index", "-o", "I", "--add", "bad", "--json-key", "/a", "--strict"]);
    assert!(files.read("I") == whole);
    assert_eq!(files.names(), before);
}

/// Runs at the same time take turns, so that no file is lost.
#[test]
fn runs_at_the_same_time_take_turns() {
    let files = Files::new();
    (0..8).for_each(|number| _ = files.write(&format!("f{number}"), format!("0\n{number}\n")));
    let run = |number: usize| {
        let mut command = program();
        command.args(["index", "-q", "-o", "I", "--add", &format!("f{number}"), "--rate", "1e-9"]);
        command.current_dir(&files.0).spawn().expect("it runs")
    };
    let runs: Vec<_> = (0..8).map(run).collect();
    for mut run in runs {
        assert!(run.wait().expect("it ends").success());
    }
    assert_eq!(files.run(&["which", "-q", "I", "0"]).0.lines().count(), 8);
    assert_eq!(files.names().len(), 9, "{:?}", files.names());
}

#[test]
fn an_index_that_is_replaced_is_counted() {
    let files = four();
    let index = |args: &[&str]| files.run(&[&["index", "-o", "I"], args].concat()).1;
    assert!(!index(&["f0", "f1", "f2"]).contains("before"));
    // The same files again are no loss.
    assert!(!index(&["f2", "f1", "f0"]).contains("before"));
    let said = index(&["f1", "f3"]);
    assert!(
        said.ends_with("; the index before named 2 other files, which --add would have kept\n"),
        "{said}"
    );
    let stats = json(&index(&["f1", "--stats", "json"]));
    assert_eq!((&stats["dropped"], &stats["replaced"]), (&1.into(), &1.into()));
    // What is no index has no files.
    files.write("I", "x\n");
    assert!(!index(&["f0"]).contains("before"));
    assert_eq!(files.run(&["index", "-q", "-o", "I", "f1"]).1, "");
}
