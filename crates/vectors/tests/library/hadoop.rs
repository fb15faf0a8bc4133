//! Hadoop.

use tamis_formats::foreign::{HadoopCountingFilter, HadoopFilter, HadoopHash};
use tamis_vectors::Vector;

use crate::{System, number, vectors_of_class};

fn params(vector: &Vector) -> (u64, u64, HadoopHash) {
    let hash = match number(vector, "hash_type") {
        0 => HadoopHash::Jenkins,
        _ => HadoopHash::Murmur,
    };
    (number(vector, "vector_size"), number(vector, "nb_hash"), hash)
}

#[test]
fn hadoop_filters() {
    let build = |vector: &Vector| {
        let (m, k, hash) = params(vector);
        HadoopFilter::new(m, k, hash)
    };
    System { name: "hadoop", vectors: 3, read: HadoopFilter::from_bytes, build }
        .check_vectors(&vectors_of_class("hadoop", "BloomFilter"));
}

#[test]
fn hadoop_counting_filters() {
    let build = |vector: &Vector| {
        let (m, k, hash) = params(vector);
        HadoopCountingFilter::new(m, k, hash)
    };
    System { name: "hadoop", vectors: 1, read: HadoopCountingFilter::from_bytes, build }
        .check_vectors(&vectors_of_class("hadoop", "CountingBloomFilter"));
}
