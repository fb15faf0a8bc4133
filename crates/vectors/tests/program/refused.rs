//! What the program refuses of filters of other systems: each time with exit code 2, one line, and
//! the reason.

use std::fs;

use tamis_vectors::vectors;

use crate::run::{Folder, run};

/// The file of the first vector of a system.
fn vector(system: &str) -> String {
    vectors(system)[0].path().to_str().unwrap().to_owned()
}

#[test]
fn other_systems_and_tamis_hash_differently() {
    let folder = Folder::new();
    let out = folder.path("out");
    let output = out.to_str().unwrap();
    let guava = vector("guava");
    for to in ["spark:v1", "spark", "orc", "guava:mitz32"] {
        let args = ["convert", "--from", "guava", &guava, "--to", to, "-o", output];
        let message = run(&args, b"").refused();
        assert!(message.contains("guava:mitz64"), "{message}");
    }
    let own = folder.path("own.tamis");
    let own = own.to_str().unwrap();
    run(&["build", "-o", own, "--capacity", "10", "-q"], b"a\n").text();
    let message = run(&["convert", own, "--to", "guava", "-o", output], b"").refused();
    assert!(message.contains("tamis build --to guava"), "{message}");
    assert!(!out.exists());
}

#[test]
fn keys_are_those_of_the_system() {
    let guava = vector("guava");
    // A record of another type has no key.
    let query = ["query", "--from", "guava", &guava, "--key-type", "i64"];
    let ran = run(&query, b"1\ntwo\n3\n");
    assert!(ran.stderr.contains("1 record without a key") && ran.stderr.contains("--key-type i64"));
    let message = run(&[&query[..], &["--strict", "-q"]].concat(), b"1\ntwo\n");
    assert!(message.code == Some(2) && message.stderr.contains("line 2"), "{}", message.stderr);

    let folder = Folder::new();
    let path = folder.path("filter");
    let file = path.to_str().unwrap();
    for (system, key_type) in [("leveldb", "i64"), ("hadoop", "i32"), ("go_cuckoo", "i64")] {
        let args = ["query", "--from", system, &vector(system), "--key-type", key_type];
        let message = run(&args, b"1\n").refused();
        assert!(message.contains(&format!("keys of type {key_type}")), "{message}");
    }
    // Hadoop has no empty keys: an empty record has no key.
    let build = ["build", "--to", "hadoop", "--capacity", "10", "-o", file];
    let message = run(&[&build[..], &["--strict"]].concat(), b"a\n\n").refused();
    assert!(message.contains("line 2") && message.contains("empty"), "{message}");
    assert!(!path.exists());
    let ran = run(&build, b"a\n\nb\n");
    assert!(ran.code == Some(0) && ran.stderr.contains("1 record without a key"), "{}", ran.stderr);
    assert_eq!(run(&["query", "--from", "hadoop", file, "-q"], b"\na\n").text(), "a\n");
}

#[test]
fn options_that_contradict_each_other() {
    let folder = Folder::new();
    let path = folder.path("own.tamis");
    let own = path.to_str().unwrap();
    run(&["build", "-o", own, "--capacity", "10", "-q"], b"a\n").text();
    let guava = vector("guava");
    let out = folder.path("out");
    let out_file = out.to_str().unwrap();
    for (args, expected) in [
        (&["query", own, "--key-type", "i64"][..], "--key-type"),
        (&["build", "-o", out_file, "--key-type", "i64"], "--key-type"),
        (&["build", "-o", out_file, "--to", "guava"], "--capacity"),
        (
            &["build", "-o", out_file, "--to", "guava", "--capacity", "9", "--kind", "bloom"],
            "--kind",
        ),
        (&["build", "-o", out_file, "--to", "guava", "--capacity", "9", "--seed", "4"], "--seed"),
        (
            &["build", "-o", out_file, "--to", "go_cuckoo", "--capacity", "9", "--rate", "0.1"],
            "--rate",
        ),
        (&["build", "-o", out_file, "--to", "guva", "--capacity", "9"], "guava:mitz32"),
        (&["query", "--from", "guva", own], "guava:mitz32"),
        (&["new", "--from", "guava", &guava, "--capacity", "9"], "--capacity"),
        (&["remove", "--from", "guava", &guava], "cannot remove"),
        (&["query", "--from", "guava", own], "omit --from"),
        (&["query", "--from", "guava:mitz32", &guava], "guava:mitz32"),
        (&["query", &guava], "not a"),
        (&["query", own, "--column", "a"], "omit --column"),
        (&["query", "--from", "guava", &guava, "--column", "a"], "column"),
        (&["merge", own, &guava, "-o", out_file], ""),
    ] {
        let message = run(args, b"1\n").refused();
        assert!(message.contains(expected), "{args:?}: {message}");
    }
    assert!(!out.exists());
}

#[test]
fn damaged_files_are_refused() {
    let folder = Folder::new();
    for system in tamis_vectors::SYSTEMS {
        // A filter of these systems is any bytes of a fitting length.
        if matches!(system, "go_cuckoo" | "parquet" | "leveldb" | "rocksdb" | "rbloom") {
            continue;
        }
        let bytes = fs::read(vector(system)).unwrap();
        let file = folder.file("damaged", &bytes[..bytes.len() - 1]);
        let message = run(&["query", "--from", system, &file], b"a\n").refused();
        assert!(message.contains(system), "{message}");
        let file = folder.file("damaged", b"");
        run(&["info", "--from", system, &file], b"").refused();
    }
    let missing = folder.path("missing");
    let message = run(&["query", "--from", "guava", missing.to_str().unwrap()], b"").refused();
    assert!(message.contains("missing"), "{message}");
}
