//! Guava.

use tamis_formats::foreign::{Error, GuavaFilter, GuavaStrategy};
use tamis_vectors::{OwnedKey, Vector, sparse_vectors};

use crate::{System, check_sparse, key, number, rate};

fn guava(vector: &Vector) -> Result<GuavaFilter, Error> {
    let strategy = match vector.param("strategy").as_str().unwrap() {
        "MURMUR128_MITZ_32" => GuavaStrategy::Mitz32,
        _ => GuavaStrategy::Mitz64,
    };
    let capacity = number(vector, "expected_insertions");
    let version = vector.field("written_by").as_str().unwrap();
    if version.starts_with("Guava 31") {
        GuavaFilter::new_as_version_31(strategy, capacity, rate(vector))
    } else {
        GuavaFilter::new(strategy, capacity, rate(vector))
    }
}

#[test]
fn guava_filters() {
    System { name: "guava", vectors: 13, read: GuavaFilter::from_bytes, build: guava }.check();
}

/// The places of filters of more than 2^31 bits, and their headers.
#[test]
fn guava_filters_of_many_bits() {
    let vectors = sparse_vectors("guava");
    assert_eq!(vectors.len(), 2);
    for vector in vectors {
        let filter = guava(&vector).unwrap();
        let places = |owned: OwnedKey| filter.places(key(&owned)).unwrap();
        check_sparse(&vector, &filter, vector.inserted().into_iter().flat_map(places).collect());
    }
}
