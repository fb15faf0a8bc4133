//! `BloomFilter`: the once filter.

use pyo3::prelude::*;
use tamis::OnceBloomFilter;
use tamis::bloom::Builder;
use tamis::hash::AnyStable;
use tamis_bloom::raw;

use crate::class::{Keyed, claims, queries, saves};
use crate::errors::{of_build, of_union};
use crate::fork;
use crate::keys::{Count, hasher_of_seed};
use crate::single::{ADD, one_by_one};

/// The lines that are cleared at a time.
const CLEARED: u64 = 1 << 14;

pub(crate) type Once = OnceBloomFilter<[u8], AnyStable>;

/// A set of items that takes a few bits per item: 12 at a rate of 1 %, 41 at 1e-6.
///
/// `in` returns True for every item that was added, and with the probability `rate` for one that
/// was not, as long as at most `capacity` distinct items are in the filter. More raise the rate.
/// Any number of threads may use a filter at once.
///
/// An item is a str, as its UTF-8; bytes; or an int from -2**127 to 2**127 - 1. With `key`, an item
/// is any object, and the function returns one of these for it. A bool is the int of its value, and
/// so is an object with `__index__`, as numpy's integers. A str and the bytes of its UTF-8 are the
/// same item, and so are an int and the bytes of its encoding: little-endian, in 8 bytes from
/// -2**63 to 2**63 - 1, in 16 beyond. Python's `hash()` is not used.
///
/// `seed` selects the hash function: filters with different seeds have different false positives.
/// If somebody may choose items to harm you, use `seed="random"`: the filter then has a secret key.
///
/// There is no `len()`, since the number of items is not known: see `approx_len`.
///
/// >>> import tamis
/// >>> seen = tamis.BloomFilter(1_000_000, rate=1e-6)
/// >>> seen.add("https://example.org/")
/// True
/// >>> seen.add("https://example.org/")
/// False
/// >>> "https://example.org/" in seen
/// True
/// >>> pages = tamis.BloomFilter(1000, key=lambda page: page["url"])
/// >>> pages.add({"url": "https://example.org/", "size": 7})
/// True
#[pyclass(frozen, module = "tamis")]
pub(crate) struct BloomFilter(pub(crate) Keyed<Once>);

one_by_one!(BloomFilter, Once, ADD);
queries!(BloomFilter);
claims!(BloomFilter);
saves!(BloomFilter);

#[pymethods]
impl BloomFilter {
    #[new]
    #[pyo3(
        signature = (capacity, rate=0.01, *, seed=None, key=None),
        text_signature = "(capacity, rate=0.01, *, seed=0, key=None)"
    )]
    fn new(
        py: Python<'_>,
        capacity: Count,
        rate: f64,
        seed: Option<&Bound<'_, PyAny>>,
        key: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let builder = Builder::<Once>::new(hasher_of_seed(seed)?);
        let builder = builder.capacity(capacity.0).false_positive_rate(rate);
        let filter = py.detach(|| builder.build()).map_err(of_build)?;
        Ok(Self(Keyed::new(filter, key)))
    }

    /// The number of distinct items that the filter was built for.
    #[getter]
    fn capacity(&self) -> usize {
        self.0.filter.capacity()
    }

    /// The false-positive rate once `capacity` items are in the filter.
    #[getter]
    fn rate(&self) -> f64 {
        self.0.filter.geometry().false_positive_rate_at(self.0.filter.capacity())
    }

    /// Return a copy.
    ///
    /// >>> import tamis
    /// >>> seen = tamis.BloomFilter(1000)
    /// >>> copy = seen.copy()
    /// >>> copy.add("a"), "a" in seen
    /// (True, False)
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let copy = py.detach(|| Builder::from(&self.0.filter).build()).map_err(of_build)?;
        fork::detach(py, || copy.union_with(&self.0.filter)).map_err(of_union)?;
        Ok(Self(Keyed::new(copy, self.0.keys.function(py))))
    }

    /// Remove all items. An item that another thread adds meanwhile is removed or not.
    ///
    /// >>> import tamis
    /// >>> seen = tamis.BloomFilter(1000)
    /// >>> seen.add("a"), seen.clear(), seen.add("a")
    /// (True, None, True)
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        let filter = &self.0.filter;
        let lines = raw::lines(filter.geometry());
        for start in (0..lines).step_by(CLEARED as usize) {
            let end = lines.min(start + CLEARED);
            fork::detach(py, || (start..end).for_each(|line| raw::clear_line(filter, line)));
        }
        Ok(())
    }

    fn __or__(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let union = self.copy(py)?;
        union.__ior__(py, other)?;
        Ok(union)
    }

    fn __ior__(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        fork::detach(py, || self.0.filter.union_with(&other.0.filter)).map_err(of_union)
    }

    fn __repr__(&self) -> String {
        format!("BloomFilter(capacity={}, rate={:.3e})", self.capacity(), self.rate())
    }
}
