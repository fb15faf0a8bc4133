//! DataSketches.

use tamis_formats::foreign::{DataSketchesFilter, Error};
use tamis_vectors::Vector;

use crate::{System, key, number, rate};

fn datasketches(vector: &Vector) -> Result<DataSketchesFilter, Error> {
    let seed = vector.param("seed").as_i64().unwrap();
    let mut filter = match vector.param("n").as_u64() {
        Some(capacity) => DataSketchesFilter::new(capacity, rate(vector), seed)?,
        None => {
            let (bits, k) = (number(vector, "asked_bits"), number(vector, "asked_k"));
            DataSketchesFilter::with_size(bits, k, seed)?
        }
    };
    // After one `update` the number of set bits stays unset.
    if let ("unset", Some(first)) = (count(vector), vector.inserted().first()) {
        filter.update(key(first))?;
    }
    Ok(filter)
}

fn count(vector: &Vector) -> &str {
    vector.param("header_count").as_str().unwrap()
}

#[test]
fn datasketches_filters() {
    let read = DataSketchesFilter::from_bytes;
    System { name: "datasketches", vectors: 4, read, build: datasketches }.check();
}
