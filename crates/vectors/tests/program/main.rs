//! The program `tamis` reads, answers, wraps and unwraps the filters of other systems, and builds
//! and changes them.

mod build;
mod change;
mod refused;
mod run;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tamis_formats::foreign::Format;
use tamis_vectors::{OwnedKey, SYSTEMS, Vector, vectors};

use self::run::{Folder, run};

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

/// Checks the answers for a filter in a file: the inserted keys, the deleted ones and the absent
/// ones, in one input.
fn check_answers(vector: &Vector, from: &[&str], file: &Path) {
    let deleted = vector.deleted();
    let inserted = vector.inserted();
    // A deleted key may have been inserted more than once.
    let inserted = inserted.iter().filter(|key| !deleted.contains(key)).map(|key| (key, true));
    let still = vector.numbers("deleted_still_maybe");
    let of_deleted =
        (0..).zip(&deleted).map(|(number, key): (i64, _)| (key, still.contains(&number)));
    let absent = vector.absent();
    let found = vector.numbers("false_positives");
    // A container has no list of false positives.
    let listed = absent.iter().filter(|_| vector.reproduce() != "read");
    let of_absent = listed.map(|(number, key)| (key, found.contains(number)));
    let all: Vec<_> = inserted.chain(of_deleted).chain(of_absent).collect();

    let records = lines(all.iter().map(|(key, _)| *key));
    // DataSketches ignores empty strings.
    let ignores = vector.system == "datasketches" && vector.key_type() == "utf8";
    let is_found = |(key, found): &&(&OwnedKey, bool)| *found && !(ignores && is_empty(key));
    let expected = lines(all.iter().filter(is_found).map(|(key, _)| *key));
    let args = [&["query", file.to_str().unwrap()], from, &options(vector)].concat();
    let output = run(&args, records.as_bytes()).text();
    assert!(output == expected, "{}: other keys are found", vector.name());
}

fn is_empty(key: &OwnedKey) -> bool {
    record(key).is_empty()
}

/// Of each format and type of keys, the first vector that has keys.
#[test]
fn a_vector_of_each_format_and_type_is_queried_wrapped_and_unwrapped() {
    let folder = Folder::new();
    let [wrapped, unwrapped] = ["wrapped.tamis", "unwrapped.bin"].map(|name| folder.path(name));
    let [to, back] = [&wrapped, &unwrapped].map(|path| path.to_str().unwrap());
    let (mut done, mut names) = (BTreeSet::new(), BTreeSet::new());
    for vector in SYSTEMS.into_iter().flat_map(vectors) {
        let (path, format, system) = (vector.path(), vector.format(), vector.system.as_str());
        let is_known = !vector.name().starts_with("ribbon") && !vector.inserted().is_empty();
        let of = (format.to_owned(), vector.key_type().to_owned());
        if !is_known || !done.insert(of) {
            continue;
        }
        let file = path.to_str().unwrap();
        // The bytes of a filter block can be those of a filter.
        let name = if format == "leveldb:block" { format } else { system };
        check_answers(&vector, &["--from", name], &path);
        run(&["convert", "-q", "--from", format, file, "-o", to], b"").text();
        check_answers(&vector, &[], &wrapped);
        run(&["convert", "-q", to, "--to", format, "-o", back], b"").text();
        assert!(fs::read(&unwrapped).unwrap() == vector.bytes(), "{}", vector.name());

        let info = run(&["info", "--json", "--from", format, file], b"").text();
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        assert_eq!(info["format"].as_str(), Some(format));
        assert_eq!(info["filter_bytes"].as_u64(), Some(vector.bytes().len() as u64));
        names.extend([name, format].map(str::to_owned));
    }
    assert_eq!(done.len(), 35);
    // Every name that the program knows, but those of Parquet's other forms.
    names.extend(["parquet:file", "parquet:header"].map(str::to_owned));
    let all = Format::ALL.iter().map(|format| format.name()).chain(SYSTEMS).map(str::to_owned);
    assert_eq!(names, all.collect());
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
        check_answers(&vector, &["--from", "parquet:file", "--column", column], &path);

        let wrapped = folder.path("wrapped.tamis");
        let bitset = folder.path("bitset");
        let [wrapped_file, bitset_file] = [&wrapped, &bitset].map(|path| path.to_str().unwrap());
        run(&["convert", "-q", "--from", "parquet", file, "-o", wrapped_file], b"").text();
        check_answers(&vector, &["--column", column], &wrapped);
        let header = folder.path("header");
        let header_file = header.to_str().unwrap();
        let to = ["--to", "parquet:header", "-o", header_file];
        run(&[&["convert", "-q", wrapped_file][..], &to].concat(), b"").text();
        check_answers(&vector, &["--from", "parquet:header"], &header);
        let to = ["--from", "parquet:header", "--to", "parquet:bitset", "-o", bitset_file];
        run(&[&["convert", "-q", header_file][..], &to].concat(), b"").text();
        assert!(fs::read(&bitset).unwrap() == vector.bytes(), "{}", vector.name());
        files += 1;
    }
    assert_eq!(files, 6);
}
