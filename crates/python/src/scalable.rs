//! `ScalableBloomFilter`: the once filter that grows.

use pyo3::prelude::*;
use tamis::OnceScalableBloomFilter;
use tamis::bloom::ScalableBuilder;
use tamis::hash::AnyStable;

use crate::class::{Keyed, claims, queries, saves};
use crate::errors::of_build;
use crate::keys::{Count, hasher_of_seed};
use crate::single::{ADD, one_by_one};

type OnceScalable = OnceScalableBloomFilter<[u8], AnyStable>;

/// A set of items that takes a few bits per item, and grows while threads use it.
///
/// `capacity` is a hint. The false-positive rate stays below `rate` for up to `max_capacity` items,
/// or about `rate * 2**63` items. More are accepted without an error, and raise the rate up to 1.
/// It takes 3 times the bits of a `BloomFilter` on average, from 1.3 just before it grows to 7 just
/// after.
///
/// >>> import tamis
/// >>> seen = tamis.ScalableBloomFilter(1000, 1e-6)
/// >>> seen.update(range(100_000))
/// 100000
#[pyclass(frozen, module = "tamis")]
pub(crate) struct ScalableBloomFilter(pub(crate) Keyed<Box<OnceScalable>>);

one_by_one!(ScalableBloomFilter, Box<OnceScalable>, ADD);
queries!(ScalableBloomFilter);
claims!(ScalableBloomFilter);
saves!(ScalableBloomFilter);

#[pymethods]
impl ScalableBloomFilter {
    #[new]
    #[pyo3(
        signature = (capacity=Count(65536), rate=0.01, *, max_capacity=None, seed=None, key=None),
        text_signature = "(capacity=65536, rate=0.01, *, max_capacity=None, seed=0, key=None)"
    )]
    fn new(
        py: Python<'_>,
        capacity: Count,
        rate: f64,
        max_capacity: Option<Count>,
        seed: Option<&Bound<'_, PyAny>>,
        key: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let builder = ScalableBuilder::<OnceScalable>::new(hasher_of_seed(seed)?);
        let mut builder = builder.capacity(capacity.0).false_positive_rate(rate);
        if let Some(Count(items)) = max_capacity {
            builder = builder.max_capacity(items);
        }
        let filter = py.detach(|| builder.build()).map_err(of_build)?;
        Ok(Self(Keyed::new(Box::new(filter), key)))
    }

    /// The number of distinct items that the filter holds before it grows again.
    #[getter]
    fn capacity(&self) -> usize {
        self.0.filter.capacity()
    }

    fn __repr__(&self) -> String {
        format!("ScalableBloomFilter(capacity={})", self.capacity())
    }
}
