//! The program `tamis` reads, answers, wraps and unwraps the filters of other systems, and builds
//! and changes them.
//!
//! For each vector: `query` prints the inserted keys, and of the absent range exactly the listed
//! ones; `convert` wraps and unwraps it byte for byte; a wrapped filter gives the same answers.

mod build;
mod change;
mod refused;
mod run;

use std::fs;
use std::path::Path;

use tamis_vectors::{OwnedKey, Vector, vectors};

use self::run::{Folder, run};

/// The systems, with the number of their vectors.
const SYSTEMS: [(&str, usize); 13] = [
    ("bits_and_blooms", 5),
    ("datasketches", 4),
    ("go_cuckoo", 9),
    ("guava", 13),
    ("hadoop", 4),
    ("leveldb", 15),
    ("orc", 3),
    ("parquet", 8),
    ("pybloom_live", 5),
    ("rbloom", 3),
    ("redisbloom", 17),
    ("rocksdb", 10),
    ("spark", 10),
];

/// The options with which records of a vector are read.
fn options(vector: &Vector) -> Vec<&str> {
    let hex = (!is_integer(vector)).then_some("--hex");
    ["--key-type", vector.key_type(), "-q"].into_iter().chain(hex).collect()
}

fn is_integer(vector: &Vector) -> bool {
    vector.key_type().starts_with('i')
}

/// Returns a record: a decimal integer, or hexadecimal digits.
fn record(key: &OwnedKey) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    match key {
        OwnedKey::Bytes(bytes) => hex(bytes),
        OwnedKey::Text(text) => hex(text.as_bytes()),
        OwnedKey::I32(number) => number.to_string(),
        OwnedKey::I64(number) => number.to_string(),
    }
}

/// Returns records as lines.
fn lines<'k, K: IntoIterator<Item = &'k OwnedKey>>(keys: K) -> String {
    keys.into_iter().map(|key| record(key) + "\n").collect()
}

/// The name of the format by which a vector is read. The bytes of a filter block can be those of a
/// filter.
fn format(vector: &Vector) -> &str {
    match vector.system.as_str() {
        "leveldb" if !vector.param("container").is_null() => "leveldb:block",
        system => system,
    }
}

/// Checks the answers for a filter in a file.
fn check_answers(vector: &Vector, from: &[&str], file: &Path) {
    let file = file.to_str().unwrap();
    let query = |records: &str| {
        let args = [&["query", file], from, &options(vector)].concat();
        run(&args, records.as_bytes()).text()
    };
    // A deleted key may have been inserted more than once.
    let deleted = vector.deleted();
    let inserted = vector.inserted();
    let inserted = lines(inserted.iter().filter(|key| !deleted.contains(key)));
    // DataSketches ignores empty strings.
    let ignored = vector.system == "datasketches" && vector.key_type() == "utf8";
    let expected = if ignored { inserted.replace("\n\n", "\n") } else { inserted.clone() };
    assert!(query(&inserted) == expected, "{}: a key is missed", vector.name());

    let still = vector.numbers("deleted_still_maybe");
    let found = deleted.iter().enumerate().filter(|(number, _)| still.contains(&(*number as i64)));
    let expected = lines(found.map(|(_, key)| key));
    assert!(query(&lines(&deleted)) == expected, "{}: other deleted keys", vector.name());

    // A container has no list of false positives.
    if vector.reproduce() == "read" {
        return;
    }

    let absent = vector.absent();
    let found = vector.numbers("false_positives");
    let expected = absent.iter().filter(|(number, _)| found.contains(number)).map(|(_, key)| key);
    let all = lines(absent.iter().map(|(_, key)| key));
    assert!(query(&all) == lines(expected), "{}: other false positives", vector.name());
}

#[test]
fn every_vector_is_queried_wrapped_and_unwrapped() {
    let folder = Folder::new();
    let mut count = 0;
    for (system, expected) in SYSTEMS {
        let vectors = vectors(system);
        let known = vectors.iter().filter(|vector| !vector.name().starts_with("ribbon"));
        let mut of_system = 0;
        for vector in known {
            let path = vector.path();
            let file = path.to_str().unwrap();
            let format = format(vector);
            check_answers(vector, &["--from", format], &path);

            let wrapped = folder.path("wrapped.tamis");
            let args = ["convert", "-q", "--from", format, file, "-o", wrapped.to_str().unwrap()];
            run(&args, b"").text();
            check_answers(vector, &[], &wrapped);
            let unwrapped = folder.path("unwrapped.bin");
            let [from, to] = [&wrapped, &unwrapped].map(|path| path.to_str().unwrap());
            run(&["convert", "-q", from, "--to", format, "-o", to], b"").text();
            assert!(fs::read(&unwrapped).unwrap() == vector.bytes(), "{}", vector.name());

            let info = run(&["info", "--json", "--from", format, file], b"").text();
            let info: serde_json::Value = serde_json::from_str(&info).unwrap();
            assert_eq!(info["format"].as_str().unwrap().split(':').next(), Some(system));
            assert_eq!(info["filter_bytes"].as_u64(), Some(vector.bytes().len() as u64));
            of_system += 1;
        }
        assert_eq!(of_system, expected, "{system}");
        count += of_system;
    }
    assert_eq!(count, 106);
}

/// The filters of a Parquet file, and the same file wrapped, answer as the bitset alone; `convert`
/// takes it out.
#[test]
fn parquet_files_are_queried_by_their_column() {
    let folder = Folder::new();
    let mut files = 0;
    for vector in vectors("parquet") {
        let Some(name) = vector.field("extra")["parquet_file"].as_str() else { continue };
        let path = vector.path().with_file_name(name);
        let file = path.to_str().unwrap();
        check_answers(&vector, &["--from", "parquet"], &path);
        let message = run(&["info", "--from", "parquet", "--column", "no", file], b"").refused();
        // The message lists the columns that have filters.
        let column = message.trim_end().rsplit(' ').next().unwrap();
        check_answers(&vector, &["--from", "parquet", "--column", column], &path);

        let wrapped = folder.path("wrapped.tamis");
        let bitset = folder.path("bitset");
        let [wrapped_file, bitset_file] = [&wrapped, &bitset].map(|path| path.to_str().unwrap());
        run(&["convert", "-q", "--from", "parquet", file, "-o", wrapped_file], b"").text();
        check_answers(&vector, &["--column", column], &wrapped);
        let to = ["--to", "parquet:bitset", "-o", bitset_file];
        run(&[&["convert", "-q", wrapped_file][..], &to].concat(), b"").text();
        assert!(fs::read(&bitset).unwrap() == vector.bytes(), "{}", vector.name());
        files += 1;
    }
    assert_eq!(files, 6);
}
