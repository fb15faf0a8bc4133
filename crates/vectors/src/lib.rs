//! Filters that other systems wrote, with what those systems answered: the manifests of `data`.
//!
//! `data/README.md` specifies the formats and the manifests. This crate is not published;
//! `tamis-formats` and the program are tested against it.

#![allow(
    clippy::missing_panics_doc,
    reason = "a manifest that is not as its README says must fail a test"
)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The systems, by the names of their directories. In `tamis-formats` the name of a system stands
/// for its formats.
pub const SYSTEMS: [&str; 13] = [
    "bits_and_blooms",
    "datasketches",
    "go_cuckoo",
    "guava",
    "hadoop",
    "leveldb",
    "orc",
    "parquet",
    "pybloom_live",
    "rbloom",
    "redisbloom",
    "rocksdb",
    "spark",
];

/// A filter that another system wrote.
#[derive(Debug)]
pub struct Vector {
    /// The name of the directory.
    pub system: String,
    folder: PathBuf,
    value: Value,
}

/// A key, as the manifest says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnedKey {
    /// Bytes.
    Bytes(Vec<u8>),
    /// A string.
    Text(String),
    /// An integer of 32 bits.
    I32(i32),
    /// An integer of 64 bits.
    I64(i64),
}

/// What makes an empty filter from a capacity and a rate: the arguments of `tamis build`.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    /// The number of keys.
    pub capacity: u64,
    /// The false-positive rate, if the format takes one.
    pub rate: Option<f64>,
    /// The seed, if the format takes one.
    pub seed: Option<u64>,
}

/// Returns the vectors of a system that have files.
#[must_use]
pub fn vectors(system: &str) -> Vec<Vector> {
    of_file(system, "manifest.json")
}

/// Returns the vectors of a system that have no files, since they have more than 2^31 bits.
#[must_use]
pub fn sparse_vectors(system: &str) -> Vec<Vector> {
    of_file(system, "sparse.json")
}

fn of_file(system: &str, file: &str) -> Vec<Vector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(system);
    let text = fs::read(folder.join(file)).expect("a manifest");
    let manifest: Value = serde_json::from_slice(&text).expect("JSON");
    let values = manifest["vectors"].as_array().expect("a list of vectors");
    values
        .iter()
        .map(|value| Vector {
            system: system.to_owned(),
            folder: folder.clone(),
            value: value.clone(),
        })
        .collect()
}

impl Vector {
    /// Returns the name of the vector.
    #[must_use]
    pub fn name(&self) -> &str {
        self.value["name"].as_str().expect("a name")
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.join(self.value["file"].as_str().expect("a file"))
    }

    /// Returns the bytes of the file, whose length is that of the manifest.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let bytes = fs::read(self.path()).expect("the file of a vector");
        assert_eq!(Some(bytes.len() as u64), self.value["size"].as_u64());
        bytes
    }

    /// Returns a field of the manifest; `Null` if the vector does not have it.
    #[must_use]
    pub fn field(&self, name: &str) -> &Value {
        &self.value[name]
    }

    /// Returns a parameter; `Null` if the vector does not have it.
    #[must_use]
    pub fn param(&self, name: &str) -> &Value {
        &self.value["params"][name]
    }

    /// Returns the name of the format, as `--from` takes it.
    #[must_use]
    pub fn format(&self) -> &str {
        let is = |param: &str, value: &str| self.param(param).as_str() == Some(value);
        let is_version = |param: &str, value| self.param(param).as_u64() == Some(value);
        let first = |of: bool, one, other| if of { one } else { other };
        match self.system.as_str() {
            "guava" => first(is("strategy", "MURMUR128_MITZ_64"), "guava:mitz64", "guava:mitz32"),
            "hadoop" => first(is("class", "BloomFilter"), "hadoop:bloom", "hadoop:counting"),
            "leveldb" => {
                first(self.param("container").is_null(), "leveldb:filter", "leveldb:block")
            }
            "parquet" => "parquet:bitset",
            "pybloom_live" => {
                first(is("class", "BloomFilter"), "pybloom_live:bloom", "pybloom_live:scalable")
            }
            "redisbloom" => {
                let is_bloom =
                    self.param("reserve").as_str().is_some_and(|of| of.starts_with("BF"));
                first(is_bloom, "redisbloom:bf", "redisbloom:cf")
            }
            "rocksdb" => {
                first(is_version("format_version", 5), "rocksdb:format5", "rocksdb:legacy")
            }
            "spark" => first(is_version("version", 1), "spark:v1", "spark:v2"),
            system => system,
        }
    }

    /// Returns the arguments of a filter that was made from a capacity and a rate.
    #[must_use]
    pub fn arguments(&self) -> Option<Arguments> {
        let number = |name: &str| self.param(name).as_u64();
        let rate = self.param("fpp").as_f64();
        let (capacity, rate) = match self.format() {
            "bits_and_blooms" | "datasketches" | "orc" => (number("n")?, Some(rate?)),
            "go_cuckoo" => (number("capacity")?, None),
            // Guava 31.1 computes another number of hash functions for 7 keys; the filter is built
            // as by 33.6.
            "guava:mitz64" if self.name() == "long_m64_n7_p00219" => return None,
            "guava:mitz64" | "guava:mitz32" => (number("expected_insertions")?, Some(rate?)),
            // The writers count the different keys.
            "parquet:bitset" => (self.inserted().len() as u64, Some(rate?)),
            // Without the third argument the filter grows as by default.
            "pybloom_live:bloom" | "pybloom_live:scalable" => {
                let args = self.param("args");
                if !args[2].is_null() {
                    return None;
                }
                (args[0].as_u64()?, Some(args[1].as_f64()?))
            }
            "rbloom" => (number("expected_items")?, Some(rate?)),
            "redisbloom:bf" | "redisbloom:cf" => {
                let words = self.param("reserve").as_str()?.split(' ').skip(2);
                match words.collect::<Vec<_>>()[..] {
                    [rate, capacity] => (capacity.parse().ok()?, Some(rate.parse().ok()?)),
                    // Not `CF.ADDNX`, which looks before it adds.
                    [capacity] if self.param("add").as_str() == Some("CF.ADD") => {
                        (capacity.parse().ok()?, None)
                    }
                    _ => return None,
                }
            }
            "spark:v1" | "spark:v2" => (number("expected_items")?, Some(rate?)),
            _ => return None,
        };
        let seed = number("seed").filter(|_| ["datasketches", "spark:v2"].contains(&self.format()));
        // Some systems take a capacity of 0 as 1.
        Some(Arguments { capacity: capacity.max(1), rate, seed })
    }

    /// Returns how far the parameters and the keys fix the file: `bytes`, `queries` or `read`.
    #[must_use]
    pub fn reproduce(&self) -> &str {
        self.value["reproduce"].as_str().expect("how to reproduce")
    }

    /// Returns the keys that were inserted, in order.
    #[must_use]
    pub fn inserted(&self) -> Vec<OwnedKey> {
        self.keys("inserted")
    }

    /// Returns the keys that were deleted afterwards, in order.
    #[must_use]
    pub fn deleted(&self) -> Vec<OwnedKey> {
        self.keys("deleted")
    }

    fn keys(&self, field: &str) -> Vec<OwnedKey> {
        let specs = self.value[field].as_array().map_or(&[][..], Vec::as_slice);
        specs.iter().flat_map(|spec| self.of_spec(spec)).map(|(_, key)| key).collect()
    }

    /// Returns the keys that were not inserted, each with its number.
    #[must_use]
    pub fn absent(&self) -> Vec<(i64, OwnedKey)> {
        self.of_spec(&self.value["absent"])
    }

    /// Returns the numbers in a list, such as `false_positives`.
    #[must_use]
    pub fn numbers(&self, field: &str) -> Vec<i64> {
        let list = self.value[field].as_array().map_or(&[][..], Vec::as_slice);
        list.iter().map(|number| number.as_i64().expect("a number")).collect()
    }

    /// Returns the keys of a specification, each with its number.
    fn of_spec(&self, spec: &Value) -> Vec<(i64, OwnedKey)> {
        let (start, end) = (spec["start"].as_i64(), spec["end"].as_i64());
        let range = || start.expect("start")..end.expect("end");
        let hex = || bytes_of_hex(spec["hex"].as_str().expect("hex"));
        let bytes = |keys: Vec<(i64, Vec<u8>)>| {
            keys.into_iter().map(|(number, key)| (number, self.of_bytes(key))).collect()
        };
        let integers = |keys: Vec<(i64, i64)>| {
            keys.into_iter().map(|(number, key)| (number, self.of_integer(key))).collect()
        };
        match spec["kind"].as_str().expect("a kind") {
            "template" => {
                let template = spec["template"].as_str().expect("a template");
                let key = |i: i64| template.replace("{i}", &i.to_string()).into_bytes();
                bytes(range().map(|i| (i, key(i))).collect())
            }
            "i64le" => bytes(range().map(|i| (i, i.to_le_bytes().to_vec())).collect()),
            "hex" => bytes(vec![(0, hex())]),
            "repeat" => {
                let times = spec["times"].as_u64().expect("times") as usize;
                bytes(vec![(0, hex().repeat(times))])
            }
            "pattern" => {
                let byte = |i: i64, j: i64| ((131 * j + 17 * i + 7) % 256) as u8;
                bytes(range().map(|i| (i, (0..i).map(|j| byte(i, j)).collect())).collect())
            }
            "range" => integers(range().map(|i| (i, i)).collect()),
            "scramble" => {
                let key = |i: i64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64);
                integers(range().map(|i| (i, key(i))).collect())
            }
            "list" => {
                let values = spec["values"].as_array().expect("values").iter();
                let values = values.map(|value| value.as_i64().expect("an integer"));
                integers((0..).zip(values).collect())
            }
            other => panic!("unknown keys: {other}"),
        }
    }

    fn of_bytes(&self, bytes: Vec<u8>) -> OwnedKey {
        match self.key_type() {
            "bytes" => OwnedKey::Bytes(bytes),
            "utf8" => OwnedKey::Text(String::from_utf8(bytes).expect("UTF-8")),
            other => panic!("bytes as a key of type {other}"),
        }
    }

    fn of_integer(&self, key: i64) -> OwnedKey {
        match self.key_type() {
            "i64" => OwnedKey::I64(key),
            "i32" => OwnedKey::I32(i32::try_from(key).expect("an i32")),
            other => panic!("an integer as a key of type {other}"),
        }
    }

    /// Returns the type of the keys, as `--key-type` names it.
    #[must_use]
    pub fn key_type(&self) -> &str {
        self.value["key_type"].as_str().expect("a type of keys")
    }
}

/// Returns the bytes of hexadecimal digits.
#[must_use]
pub fn bytes_of_hex(hex: &str) -> Vec<u8> {
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    assert!(rest.is_empty(), "an odd number of digits");
    let digit = |digit: u8| char::from(digit).to_digit(16).expect("a hexadecimal digit") as u8;
    pairs.iter().map(|&[high, low]| 16 * digit(high) + digit(low)).collect()
}
