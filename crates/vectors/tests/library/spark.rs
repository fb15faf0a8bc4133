//! Spark.

use tamis_formats::foreign::{Error, SparkFilter, SparkVersion};
use tamis_vectors::{OwnedKey, Vector, sparse_vectors};

use crate::{System, check_sparse, key, number, rate};

fn spark(vector: &Vector) -> Result<SparkFilter, Error> {
    let version = match number(vector, "version") {
        1 => SparkVersion::V1,
        _ => SparkVersion::V2 { seed: vector.param("seed").as_i64().unwrap() as i32 },
    };
    let capacity = number(vector, "expected_items");
    match vector.param("num_bits_asked").as_u64() {
        Some(bits) => SparkFilter::with_bits(version, capacity, bits),
        None => SparkFilter::new(version, capacity, rate(vector)),
    }
}

#[test]
fn spark_filters() {
    System { name: "spark", vectors: 10, read: SparkFilter::from_bytes, build: spark }.check();
}

/// The places of filters of more than 2^31 bits, and their headers.
#[test]
fn spark_filters_of_many_bits() {
    let vectors = sparse_vectors("spark");
    assert_eq!(vectors.len(), 2);
    for vector in vectors {
        let filter = spark(&vector).unwrap();
        let places = |owned: OwnedKey| filter.places(key(&owned)).unwrap();
        check_sparse(&vector, &filter, vector.inserted().into_iter().flat_map(places).collect());
    }
}
