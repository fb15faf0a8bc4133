//! `RotatingBloomFilter`: the items of a window.

use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tamis::RotatingBloomFilter as Rotating;
use tamis::bloom::RotatingBuilder;
use tamis::hash::AnyStable;

use crate::class::{Keyed, claims, queries, saves};
use crate::errors::of_build;
use crate::keys::{Count, hasher_of_seed};
use crate::single::{ADD, one_by_one};

/// The items of a window: the last `capacity` distinct items, or those of the last `span` seconds.
///
/// An item for which `add` returned True is found for the whole window, and is forgotten at most a
/// sixth of the window later. A repeat does not make it stay longer: see `add_or_refresh`. With a
/// span, `capacity` is the number of distinct items of a span, and they must come evenly: if all of
/// them come in a burst, more absent items are found than `rate` says. For bursts, give six times
/// the largest number of items of a sixth of the span.
///
/// >>> import tamis
/// >>> recent = tamis.RotatingBloomFilter(1000, span=3600.0)
/// >>> recent.add("event 1"), recent.add("event 1")
/// (True, False)
#[pyclass(frozen, module = "tamis")]
pub(crate) struct RotatingBloomFilter(pub(crate) Keyed<Box<Rotating<[u8], AnyStable>>>);

one_by_one!(RotatingBloomFilter, Box<Rotating<[u8], AnyStable>>, ADD);
queries!(RotatingBloomFilter);
claims!(RotatingBloomFilter);
saves!(RotatingBloomFilter);

#[pymethods]
impl RotatingBloomFilter {
    #[new]
    #[pyo3(
        signature = (capacity, span=None, rate=0.01, *, seed=None, key=None),
        text_signature = "(capacity, span=None, rate=0.01, *, seed=0, key=None)"
    )]
    fn new(
        capacity: Count,
        span: Option<f64>,
        rate: f64,
        seed: Option<&Bound<'_, PyAny>>,
        key: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let builder = RotatingBuilder::<[u8], _>::new(hasher_of_seed(seed)?);
        let mut builder = builder.capacity(capacity.0).false_positive_rate(rate);
        if let Some(seconds) = span {
            builder = builder.span(span_of(seconds)?);
        }
        Ok(Self(Keyed::new(Box::new(builder.build().map_err(of_build)?), key)))
    }

    /// The number of distinct items of a window.
    #[getter]
    fn capacity(&self) -> usize {
        self.0.filter.capacity()
    }

    /// Add an item, or make it stay for the whole window from now on. Return True if it is new.
    #[pyo3(signature = (item, /))]
    fn add_or_refresh(&self, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.0.filter.by_hash().insert_or_refresh(self.0.keys.hash(item)?))
    }

    /// Remove all items.
    fn clear(&self, py: Python<'_>) {
        crate::fork::detach(py, || self.0.filter.clear());
    }

    fn __repr__(&self) -> String {
        format!("RotatingBloomFilter(capacity={})", self.capacity())
    }
}

/// Returns a span in seconds.
pub(crate) fn span_of(seconds: f64) -> PyResult<Duration> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(span) if !span.is_zero() => Ok(span),
        _ => Err(PyValueError::new_err("span must be a number of seconds above 0")),
    }
}
