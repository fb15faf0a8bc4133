//! `tamis-formats` reads, answers, writes and builds the filters of other systems as those systems
//! do.
//!
//! For each vector: inserted keys are found; of the absent range exactly the listed keys are; what
//! was read is written with the same bytes; and where the manifest says so, parameters and keys
//! alone give the same bytes.

mod bits_and_blooms;
mod building;
mod damage;
mod datasketches;
mod go_cuckoo;
mod guava;
mod hadoop;
mod leveldb;
mod orc;
mod parquet;
mod parquet_crate;
mod parquet_file;
mod pybloom_live;
mod python;
mod rbloom;
mod redisbloom;
mod registry;
mod rocksdb;
mod spark;
mod union;
mod wrapped;

use tamis_formats::foreign::{Error, Filter, Key};
use tamis_vectors::{OwnedKey, Vector, bytes_of_hex, vectors};

/// How a system is read and built.
struct System<F> {
    name: &'static str,
    /// The vectors in the manifest: the test fails if one is lost.
    vectors: usize,
    read: fn(&[u8]) -> Result<F, Error>,
    /// Makes an empty filter from the parameters of a vector.
    build: fn(&Vector) -> Result<F, Error>,
}

fn key(key: &OwnedKey) -> Key<'_> {
    match key {
        OwnedKey::Bytes(bytes) => Key::Bytes(bytes),
        OwnedKey::Text(text) => Key::Text(text),
        OwnedKey::I32(number) => Key::I32(*number),
        OwnedKey::I64(number) => Key::I64(*number),
    }
}

impl<F: Filter> System<F> {
    fn check(&self) {
        self.check_vectors(&vectors(self.name));
    }

    /// Checks some of the vectors of a system that has several kinds of filters.
    fn check_vectors(&self, vectors: &[Vector]) {
        assert_eq!(vectors.len(), self.vectors);
        for vector in vectors {
            let bytes = vector.bytes();
            let filter = (self.read)(&bytes).unwrap_or_else(|error| panic!("{vector:?}: {error}"));
            self.check_answers(vector, &filter);
            assert_eq!(filter.encoded_len(), bytes.len() as u64, "{}", vector.name());
            assert!(filter.to_bytes() == bytes, "{}: written with other bytes", vector.name());
            if vector.reproduce() == "bytes" {
                let built = self.built(vector);
                assert!(built.to_bytes() == bytes, "{}: built with other bytes", vector.name());
            }
            self.check_damaged(&bytes);
        }
        self.check_noise();
    }

    fn check_answers(&self, vector: &Vector, filter: &F) {
        let contains = |owned: &OwnedKey| filter.contains(key(owned)).unwrap();
        let deleted = vector.deleted();
        for inserted in vector.inserted() {
            let found = deleted.contains(&inserted) || contains(&inserted);
            assert!(found, "{}: {inserted:?} is missed", vector.name());
        }
        let still = vector.numbers("deleted_still_maybe");
        for (number, deleted) in (0..).zip(&deleted) {
            assert_eq!(contains(deleted), still.contains(&number), "{}", vector.name());
        }
        let found = vector.absent().into_iter().filter(|(_, absent)| contains(absent));
        let found: Vec<i64> = found.map(|(number, _)| number).collect();
        assert_eq!(found, vector.numbers("false_positives"), "{}", vector.name());
    }

    /// Builds the filter from its parameters, inserts and deletions.
    fn built(&self, vector: &Vector) -> F {
        let mut filter = (self.build)(vector).unwrap();
        for inserted in vector.inserted() {
            filter.insert(key(&inserted)).unwrap();
        }
        for deleted in vector.deleted() {
            assert!(filter.remove(key(&deleted)).unwrap());
        }
        filter
    }
}

fn number(vector: &Vector, param: &str) -> u64 {
    vector.param(param).as_u64().unwrap_or_else(|| panic!("{}: {param}", vector.name()))
}

/// Returns the vectors of a system that are filters of one of its classes.
fn vectors_of_class(system: &str, class: &str) -> Vec<Vector> {
    let all = vectors(system).into_iter();
    all.filter(|vector| vector.param("class").as_str() == Some(class)).collect()
}

fn rate(vector: &Vector) -> f64 {
    vector.param("fpp").as_f64().unwrap()
}

/// Compares the places of all inserted keys, and the header, with those of the system.
fn check_sparse(vector: &Vector, filter: &impl Filter, mut places: Vec<u64>) {
    places.sort_unstable();
    places.dedup();
    let expected: Vec<u64> = vector.numbers("set_bits").iter().map(|&bit| bit as u64).collect();
    assert_eq!(places, expected, "{}", vector.name());
    assert_eq!(Some(filter.encoded_len()), vector.field("size").as_u64());
    let header = bytes_of_hex(vector.field("header_hex").as_str().unwrap());
    let mut start = vec![0; header.len()];
    // The buffer takes the first bytes, and then the writer fails.
    let written = filter.write(&mut &mut start[..]);
    assert!(written.is_err() && start == header, "{}", vector.name());
}
