//! ORC.

use tamis_formats::foreign::{Error, OrcFilter};
use tamis_vectors::Vector;

use crate::{System, number, rate};

fn orc(vector: &Vector) -> Result<OrcFilter, Error> {
    OrcFilter::new(number(vector, "n"), rate(vector))
}

#[test]
fn orc_filters() {
    System { name: "orc", vectors: 3, read: OrcFilter::from_bytes, build: orc }.check();
}
