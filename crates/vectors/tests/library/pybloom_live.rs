//! pybloom_live.

use tamis_formats::foreign::{Error, PybloomFilter, PybloomScalableFilter};
use tamis_vectors::Vector;

use crate::{System, vectors_of_class};

/// Returns the arguments of the constructor: the capacity and the rate.
fn args(vector: &Vector) -> (u64, f64) {
    let args = vector.param("args");
    (args[0].as_u64().unwrap(), args[1].as_f64().unwrap())
}

fn filter(vector: &Vector) -> Result<PybloomFilter, Error> {
    let (capacity, rate) = args(vector);
    PybloomFilter::new(capacity, rate)
}

fn scalable(vector: &Vector) -> Result<PybloomScalableFilter, Error> {
    let (capacity, rate) = args(vector);
    // 4 is the default of the package.
    let mode = vector.param("args")[2].as_i64().unwrap_or(4) as i32;
    PybloomScalableFilter::new(capacity, rate, mode)
}

#[test]
fn pybloom_filters() {
    System { name: "pybloom_live", vectors: 3, read: PybloomFilter::from_bytes, build: filter }
        .check_vectors(&vectors_of_class("pybloom_live", "BloomFilter"));
}

#[test]
fn pybloom_scalable_filters() {
    let read = PybloomScalableFilter::from_bytes;
    System { name: "pybloom_live", vectors: 2, read, build: scalable }
        .check_vectors(&vectors_of_class("pybloom_live", "ScalableBloomFilter"));
}
