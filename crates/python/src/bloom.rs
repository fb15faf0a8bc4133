//! `BloomFilter`: the once filter.

use pyo3::prelude::*;
use tamis::OnceBloomFilter;
use tamis::bloom::Builder;
use tamis::hash::AnyStable;

use crate::class::{Keyed, methods, saved};
use crate::errors::{of_build, of_union};
use crate::keys::{Count, hasher_of_seed};

type Once = OnceBloomFilter<[u8], AnyStable>;

/// A set of items that takes a few bits per item.
#[pyclass(frozen, module = "tamis")]
pub(crate) struct BloomFilter(Keyed<Once>);

methods!(BloomFilter);
saved!(BloomFilter);

#[pymethods]
impl BloomFilter {
    #[new]
    #[pyo3(
        signature = (capacity, rate=0.01, *, seed=None, key=None),
        text_signature = "(capacity, rate=0.01, *, seed=0, key=None)"
    )]
    fn new(
        capacity: Count,
        rate: f64,
        seed: Option<&Bound<'_, PyAny>>,
        key: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let builder = Builder::<Once>::new(hasher_of_seed(seed)?);
        let builder = builder.capacity(capacity.0).false_positive_rate(rate);
        Ok(Self(Keyed::new(builder.build().map_err(of_build)?, key)))
    }

    /// The number of items that the filter was built for.
    #[getter]
    fn capacity(&self) -> usize {
        self.0.filter.capacity()
    }

    /// The false-positive rate once `capacity` items are in the filter.
    #[getter]
    fn rate(&self) -> f64 {
        self.0.filter.geometry().false_positive_rate_at(self.0.filter.capacity())
    }

    /// Returns a copy.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let copy = Builder::from(&self.0.filter).build().map_err(of_build)?;
        crate::fork::detach(py, || copy.union_with(&self.0.filter)).map_err(of_union)?;
        Ok(Self(Keyed::new(copy, self.0.keys.function(py))))
    }

    fn __or__(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let union = self.copy(py)?;
        union.__ior__(py, other)?;
        Ok(union)
    }

    fn __ior__(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        crate::fork::detach(py, || self.0.filter.union_with(&other.0.filter)).map_err(of_union)
    }

    fn __repr__(&self) -> String {
        format!("BloomFilter(capacity={}, rate={:.3e})", self.capacity(), self.rate())
    }
}
