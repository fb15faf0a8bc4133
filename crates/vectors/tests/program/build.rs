//! `tamis build --to` writes the bytes that the library writes for the same sizes and keys.

use std::fs;

use tamis_formats::foreign::{Format, Key, KeyType};

use crate::run::{Folder, run};

/// The numbers that are keys, as integers or as text.
const KEYS: [i32; 4] = [0, -1, 7, i32::MAX];

/// Inserts into a filter of the library the keys that the program gets.
fn with_key<R>(number: i32, key_type: KeyType, with: impl FnOnce(Key<'_>) -> R) -> R {
    let text = number.to_string();
    with(match key_type {
        KeyType::Bytes => Key::Bytes(text.as_bytes()),
        KeyType::Text => Key::Text(&text),
        KeyType::I32 => Key::I32(number),
        KeyType::I64 => Key::I64(number.into()),
    })
}

/// Each format that is built, with each type of keys that it has.
#[test]
fn a_filter_of_each_format_and_type_is_that_of_the_library() {
    let folder = Folder::new();
    let path = folder.path("built");
    let file = path.to_str().unwrap();
    let mut built = 0;
    for &format in Format::ALL {
        let rate = format.takes_rate().then_some(0.02);
        let seed = format.takes_seed().then_some(5);
        let Ok(empty) = format.build(300, rate, seed) else { continue };
        for key_type in [KeyType::Bytes, KeyType::Text, KeyType::I32, KeyType::I64] {
            if !empty.takes(key_type) {
                continue;
            }
            let mut filter = format.build(300, rate, seed).unwrap();
            for number in KEYS {
                with_key(number, key_type, |key| filter.insert(key)).unwrap();
            }
            let is_integer = matches!(key_type, KeyType::I32 | KeyType::I64);
            let record = |number: &i32| {
                let text = number.to_string();
                let hex = || text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
                format!("{}\n", if is_integer { text.clone() } else { hex() })
            };
            let records: String = KEYS.iter().map(record).collect();

            let hex = (!is_integer).then_some("--hex".to_owned());
            let type_name = key_type.to_string();
            let keys = ["--key-type".to_owned(), type_name, "-q".to_owned()].into_iter().chain(hex);
            let keys: Vec<String> = keys.collect();
            let rate = rate.map(|rate| ["--rate".to_owned(), rate.to_string()]);
            let seed = seed.map(|seed| ["--seed".to_owned(), seed.to_string()]);
            let sizes: Vec<String> = rate.into_iter().chain(seed).flatten().collect();
            let build = ["build", "-o", file, "--capacity", "300", "--to", format.name()];
            let args = build.into_iter().chain(keys.iter().chain(&sizes).map(String::as_str));
            run(&args.collect::<Vec<_>>(), records.as_bytes()).text();
            assert!(fs::read(&path).unwrap() == filter.to_bytes(), "{format} of {key_type}");

            let query = ["query", file, "--from", format.name()];
            let args = query.into_iter().chain(keys.iter().map(String::as_str));
            let found = run(&args.collect::<Vec<_>>(), records.as_bytes()).text();
            assert_eq!(found, records, "{format} of {key_type}");
            built += 1;
        }
    }
    // A filter block of LevelDB and a Parquet file are not built.
    assert_eq!(built, 8 * 4 + 10 * 2 + 2);
}

/// The records are counted: the filter is that of this capacity. Other systems need one.
#[test]
fn a_filter_of_parquet_is_sized_for_its_records() {
    let folder = Folder::new();
    let [path, other] = ["counted", "of_capacity"].map(|name| folder.path(name));
    let text: String = (0..6000).map(|line| format!("{}\n", line % 3000)).collect();
    let build = |path: &std::path::Path, format: &str, more: &[&str]| {
        let args = ["build", "-o", path.to_str().unwrap(), "--key-type", "i64", "--to", format];
        run(&[&args, more].concat(), text.as_bytes())
    };
    let counted = build(&path, "parquet", &["--rate", "1e-3"]);
    assert!(counted.stderr.contains("3,000 inserted, 3,000 repeated"), "{}", counted.stderr);
    counted.text();
    build(&other, "parquet", &["--rate", "1e-3", "--capacity", "3000"]).text();
    assert!(fs::read(&path).unwrap() == fs::read(&other).unwrap());
    assert!(build(&other, "guava", &[]).refused().contains("needs --capacity"));
}
