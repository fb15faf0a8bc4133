//! `CuckooFilter`: copies of items, which can be removed.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use tamis::CuckooFilter as Multiset;
use tamis::cuckoo::Builder;
use tamis::hash::AnyStable;

use crate::class::{Keyed, queries, saves};
use crate::errors::of_build;
use crate::keys::{Count, hasher_of_seed};
use crate::single::one_by_one;

/// A multiset of items, from which items can be removed.
///
/// Each `add` adds a copy, and `update` returns the number of copies that it added. If there is no
/// room for one, both raise `tamis.Full`: the copies before it stay, and `update` adds none after
/// it. With `max_capacity` the filter grows up to that number of copies.
///
/// Remove only what you have added, once per copy: the removal of another item may remove one that
/// the filter cannot distinguish from it, which is then not found.
///
/// >>> import tamis
/// >>> open_jobs = tamis.CuckooFilter(1000, 1e-6)
/// >>> open_jobs.add("job 1")
/// >>> open_jobs.add("job 1")
/// >>> open_jobs.count("job 1")
/// 2
/// >>> open_jobs.remove("job 1")
/// >>> open_jobs.discard("job 1"), open_jobs.discard("job 1")
/// (True, False)
/// >>> open_jobs.remove("job 1")
/// Traceback (most recent call last):
/// KeyError: 'job 1'
#[pyclass(frozen, module = "tamis")]
pub(crate) struct CuckooFilter(pub(crate) Keyed<Box<Multiset<[u8], AnyStable>>>);

one_by_one!(CuckooFilter, Box<Multiset<[u8], AnyStable>>);
queries!(CuckooFilter);
saves!(CuckooFilter);

#[pymethods]
impl CuckooFilter {
    #[new]
    #[pyo3(
        signature = (capacity, rate=0.01, *, max_capacity=None, seed=None, key=None),
        text_signature = "(capacity, rate=0.01, *, max_capacity=None, seed=0, key=None)"
    )]
    fn new(
        py: Python<'_>,
        capacity: Count,
        rate: f64,
        max_capacity: Option<Count>,
        seed: Option<&Bound<'_, PyAny>>,
        key: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let builder = Builder::<Multiset<[u8], AnyStable>>::new(hasher_of_seed(seed)?);
        let mut builder = builder.capacity(capacity.0).false_positive_rate(rate);
        if let Some(Count(items)) = max_capacity {
            builder = builder.max_capacity(items);
        }
        let filter = py.detach(|| builder.build()).map_err(of_build)?;
        Ok(Self(Keyed::new(Box::new(filter), key)))
    }

    /// The number of copies that the filter was built for, growth included.
    #[getter]
    fn capacity(&self) -> usize {
        self.0.filter.capacity()
    }

    /// Add a copy of an item. Raise `tamis.Full` if there is no room.
    #[pyo3(signature = (item, /))]
    fn add(&self, item: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.add(item).map(|_| ())
    }

    /// Remove a copy of an item. Return whether there was one. Remove only what was added.
    #[pyo3(signature = (item, /))]
    fn discard(&self, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.0.filter.by_hash().remove(self.0.keys.hash(item)?))
    }

    /// Remove a copy of an item. Raise KeyError if there is none. Remove only what was added.
    #[pyo3(signature = (item, /))]
    fn remove(&self, item: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.discard(item)? { Ok(()) } else { Err(PyKeyError::new_err(item.clone().unbind())) }
    }

    /// Return the number of copies of an item and of the items that look the same to the filter.
    #[pyo3(signature = (item, /))]
    fn count(&self, item: &Bound<'_, PyAny>) -> PyResult<u32> {
        Ok(self.0.filter.by_hash().count(self.0.keys.hash(item)?))
    }

    fn __repr__(&self) -> String {
        format!("CuckooFilter(capacity={})", self.capacity())
    }
}
