//! `_library_batch`, in a wheel with the feature `bench` only: the library's batches, to compare
//! the arrays with.

use std::time::Instant;

use pyo3::prelude::*;
use tamis::OnceBloomFilter;
use tamis::hash::Rapid;

use crate::errors::of_build;

/// Inserts the numbers into a new filter and queries them, as a program in Rust does. Returns the
/// seconds of both, and the number of hits.
#[pyfunction]
pub(crate) fn _library_batch(
    py: Python<'_>,
    numbers: Vec<i64>,
    capacity: usize,
    rate: f64,
) -> PyResult<(f64, f64, usize)> {
    let builder = OnceBloomFilter::<i64>::builder().hasher(Rapid::with_seed(0));
    let filter = builder.capacity(capacity).false_positive_rate(rate).build().map_err(of_build)?;
    Ok(py.detach(|| {
        let began = Instant::now();
        let mut new = 0;
        filter.insert_many_with(&numbers, |_, is_new| new += usize::from(is_new));
        let inserts = began.elapsed().as_secs_f64();
        let mut hits = vec![false; numbers.len()];
        let began = Instant::now();
        filter.contains_many_with(&numbers, |number, hit| hits[number] = hit);
        let queries = began.elapsed().as_secs_f64();
        (inserts, queries, new + hits.into_iter().filter(|&hit| hit).count())
    }))
}
