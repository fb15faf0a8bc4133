//! bits-and-blooms.

use tamis_formats::foreign::{BitsAndBloomsFilter, Error};
use tamis_vectors::Vector;

use crate::{System, number, rate};

fn bits_and_blooms(vector: &Vector) -> Result<BitsAndBloomsFilter, Error> {
    match vector.param("n").as_u64() {
        Some(capacity) => BitsAndBloomsFilter::new(capacity, rate(vector)),
        None => BitsAndBloomsFilter::with_size(number(vector, "m"), number(vector, "k")),
    }
}

#[test]
fn bits_and_blooms_filters() {
    let read = BitsAndBloomsFilter::from_bytes;
    System { name: "bits_and_blooms", vectors: 5, read, build: bits_and_blooms }.check();
}
