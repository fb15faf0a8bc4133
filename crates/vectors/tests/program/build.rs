//! `tamis build --to` writes the bytes that the system writes for the same capacity, rate and keys.

use std::fs;

use tamis_vectors::{Vector, vectors};

use crate::run::{Folder, run};
use crate::{lines, options};

/// The options for the sizes of a vector that a capacity and a rate determine, with the format.
fn sizes(vector: &Vector) -> Option<Vec<String>> {
    let number = |name: &str| vector.param(name).as_u64().map(|number| number.to_string());
    let rate = || vector.param("fpp").as_f64().map(|rate| rate.to_string());
    let reserve = |command: &str| -> Option<Vec<String>> {
        let text = vector.param("reserve").as_str()?.strip_prefix(command)?;
        Some(text.split(' ').map(str::to_owned).collect())
    };
    let (format, capacity, rate) = match vector.system.as_str() {
        "bits_and_blooms" => ("bits_and_blooms", number("n")?, Some(rate()?)),
        "datasketches" => ("datasketches", number("n")?, Some(rate()?)),
        "go_cuckoo" => ("go_cuckoo", number("capacity")?, None),
        "guava" => {
            let strategy = vector.param("strategy").as_str()?;
            let format = if strategy.ends_with("_32") { "guava:mitz32" } else { "guava" };
            (format, number("expected_insertions")?, Some(rate()?))
        }
        "orc" => ("orc", number("n")?, Some(rate()?)),
        "pybloom_live" => {
            let args = vector.param("args").as_array()?;
            if vector.param("class").as_str() != Some("BloomFilter") {
                return None;
            }
            let [capacity, rate] = &args[..] else { return None };
            ("pybloom_live", capacity.to_string(), Some(rate.to_string()))
        }
        "rbloom" => ("rbloom", number("expected_items")?, Some(rate()?)),
        "redisbloom" => match (reserve("BF.RESERVE key "), reserve("CF.RESERVE key ")) {
            (Some(words), _) if words.len() == 2 => {
                ("redisbloom", words[1].clone(), Some(words[0].clone()))
            }
            // Not `CF.ADDNX`, which looks before it adds.
            (_, Some(words)) if words.len() == 1 && vector.param("add") == "CF.ADD" => {
                ("redisbloom:cf", words[0].clone(), None)
            }
            _ => return None,
        },
        "spark" => {
            let format = if number("version")? == "1" { "spark:v1" } else { "spark:v2" };
            (format, number("expected_items")?, Some(rate()?))
        }
        _ => return None,
    };
    // Some systems take a capacity of 0 as 1.
    let capacity = if capacity == "0" { "1".to_owned() } else { capacity };
    let mut args = vec!["--to".to_owned(), format.to_owned(), "--capacity".to_owned(), capacity];
    args.extend(rate.into_iter().flat_map(|rate| ["--rate".to_owned(), rate]));
    if let Some(seed) = number("seed") {
        args.extend(["--seed".to_owned(), seed]);
    }
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
            // Guava 31.1 computes another number of hash functions for 7 keys; the filter is built
            // as by 33.6.
            if vector.name() == "long_m64_n7_p00219" {
                continue;
            }
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
        ("parquet", 0),
        ("pybloom_live", 3),
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
