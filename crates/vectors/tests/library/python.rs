//! The Python package: it hashes an item as Rust does, so the same items give the same file.
//!
//! `crates/python/tests/test_program.py` builds the same filters in Python, and compares them with
//! the same files.

use std::fs;
use std::path::Path;

use tamis::OnceBloomFilter;
use tamis::bloom::Builder;
use tamis::formats::{read, write};
use tamis::hash::{HashItem, Rapid};

type Once = OnceBloomFilter<[u8], Rapid>;

/// Builds a filter as `tamis.BloomFilter(1000, 0.01)` of the items with these hashes, and compares
/// it with the file.
fn check(name: &str, hash: impl Fn(&Rapid, u32) -> u64) {
    let hasher = Rapid::with_seed(0);
    let builder = Builder::<Once>::new(hasher.clone()).capacity(1000);
    let filter = builder.false_positive_rate(0.01).build().unwrap();
    for number in 0..250 {
        filter.by_hash().insert(hash(&hasher, number));
    }
    let mut bytes = Vec::new();
    write(&filter, &mut bytes).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/python/{name}.tamis"));
    let of_python = fs::read(file).unwrap();
    assert!(bytes == of_python, "{name}");
    assert!(read::<Once>(&of_python[..]).unwrap().by_hash().contains(hash(&hasher, 249)));
}

#[test]
fn strings_bytes_and_integers_have_the_same_hash_in_python() {
    check("str", |hasher, number| hasher.hash_item(format!("é {number}").as_str()));
    check("bytes", |hasher, number| hasher.hash_item(&[number as u8, 255][..]));
    check("int", |hasher, number| {
        let value = if number % 2 == 1 { -1 } else { 1 } * (1_i128 << (number / 2));
        match i64::try_from(value) {
            Ok(value) => hasher.hash_item(&value),
            Err(_) => hasher.hash_item(&value),
        }
    });
}
