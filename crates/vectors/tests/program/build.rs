//! `tamis build --to` writes the bytes that the system writes for the same capacity, rate and keys.

use std::fs;

use tamis_vectors::{Arguments, Vector, vectors};

use crate::run::{Folder, run};
use crate::{lines, options};

/// The options for the sizes of a vector that a capacity and a rate determine, with the format.
fn sizes(vector: &Vector) -> Option<Vec<String>> {
    let Arguments { capacity, rate, seed } = vector.arguments()?;
    let mut args =
        ["--to", vector.format(), "--capacity", &capacity.to_string()].map(str::to_owned).to_vec();
    args.extend(rate.into_iter().flat_map(|rate| ["--rate".to_owned(), rate.to_string()]));
    args.extend(seed.into_iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]));
    Some(args)
}

#[test]
fn filters_are_built_with_the_bytes_of_the_system() {
    let folder = Folder::new();
    let path = folder.path("built");
    let mut built = Vec::new();
    for (system, _) in crate::SYSTEMS {
        let mut of_system = 0;
        for vector in vectors(system).iter().filter(|vector| vector.reproduce() == "bytes") {
            let Some(sizes) = sizes(vector) else { continue };
            let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
            // Some filters have more keys than they were made for.
            let output = ["build", "--overfull", "-o", path.to_str().unwrap()];
            let options = options(vector);
            let args = [&output[..], &sizes, &options].concat();
            run(&args, lines(&vector.inserted()).as_bytes()).text();
            let deleted = vector.deleted();
            if !deleted.is_empty() {
                let remove = ["remove", path.to_str().unwrap(), "--from", system];
                run(&[&remove[..], &options].concat(), lines(&deleted).as_bytes()).text();
            }
            assert!(fs::read(&path).unwrap() == vector.bytes(), "{}", vector.name());
            of_system += 1;
        }
        built.push((system, of_system));
    }
    // The parameters of the others are not a capacity and a rate.
    let expected = [
        ("bits_and_blooms", 2),
        ("datasketches", 1),
        ("go_cuckoo", 6),
        ("guava", 12),
        ("hadoop", 0),
        ("leveldb", 0),
        ("orc", 3),
        ("parquet", 6),
        ("pybloom_live", 4),
        ("rbloom", 3),
        ("redisbloom", 9),
        ("rocksdb", 0),
        ("spark", 6),
    ];
    assert_eq!(built, expected);
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
