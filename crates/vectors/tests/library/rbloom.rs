//! rbloom.

use tamis_formats::foreign::{Error, RbloomFilter};
use tamis_vectors::Vector;

use crate::{System, number, rate};

fn rbloom(vector: &Vector) -> Result<RbloomFilter, Error> {
    RbloomFilter::new(number(vector, "expected_items"), rate(vector))
}

#[test]
fn rbloom_filters() {
    System { name: "rbloom", vectors: 3, read: RbloomFilter::from_bytes, build: rbloom }.check();
}
