//! `plan`: what each class takes for a number of items and a rate.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tamis::bloom::{Builder, RotatingBuilder};
use tamis::hash::Rapid;
use tamis::{BuildError, CuckooFilter, OnceBloomFilter, cuckoo};

use crate::keys::Count;
use crate::shared::LOWEST_RATE;

/// What a filter takes.
#[pyclass(frozen, get_all, module = "tamis")]
pub(crate) struct Plan {
    /// The bits of the filter for each item of its capacity.
    bits_per_item: f64,
    /// The size of the filter in bytes.
    size_in_bytes: u64,
}

#[pymethods]
impl Plan {
    fn __repr__(&self) -> String {
        let Self { bits_per_item, size_in_bytes } = self;
        format!("Plan(bits_per_item={bits_per_item:.2}, size_in_bytes={size_in_bytes})")
    }
}

/// Return what each class of a fixed size takes, or None if it cannot have the rate.
///
/// >>> import tamis
/// >>> tamis.plan(1_000_000, 1e-6)["BloomFilter"]
/// Plan(bits_per_item=40.82, size_in_bytes=5102912)
#[pyfunction]
#[pyo3(signature = (capacity, rate=0.01))]
pub(crate) fn plan<'py>(
    py: Python<'py>,
    capacity: Count,
    rate: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let items = capacity.0.max(1);
    type Once = OnceBloomFilter<[u8], Rapid>;
    let hasher = Rapid::with_seed(0);
    let once = Builder::<Once>::new(hasher.clone()).capacity(items).false_positive_rate(rate);
    let cuckoo = cuckoo::Builder::<CuckooFilter<[u8], Rapid>>::new(hasher.clone());
    let rotating =
        RotatingBuilder::<[u8], _>::new(hasher).capacity(items).false_positive_rate(rate);
    let shared = match once.clone().words(1).geometry() {
        Ok(_) if rate < LOWEST_RATE => Err(BuildError::RateTooLow { rate, lowest: LOWEST_RATE }),
        sizes => sizes.map(|sizes| sizes.size_in_bytes()),
    };
    let sizes: [(&str, Result<u64, BuildError>); 4] = [
        ("BloomFilter", once.geometry().map(|sizes| sizes.size_in_bytes())),
        (
            "CuckooFilter",
            cuckoo
                .capacity(items)
                .false_positive_rate(rate)
                .geometry()
                .map(|sizes| sizes.size_in_bytes()),
        ),
        ("RotatingBloomFilter", rotating.size_in_bytes()),
        ("SharedBloomFilter", shared),
    ];
    let plans = PyDict::new(py);
    for (class, size) in sizes {
        let plan = match size {
            Ok(size_in_bytes) => {
                let bits_per_item = size_in_bytes as f64 * 8.0 / items as f64;
                Some(Bound::new(py, Plan { bits_per_item, size_in_bytes })?)
            }
            Err(error @ BuildError::Rate { .. }) => return Err(crate::errors::of_build(error)),
            Err(_) => None,
        };
        plans.set_item(class, plan)?;
    }
    Ok(plans)
}
