//! The figures of a filter.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use tamis::Figures as Computed;

/// How full a filter is, from a scan of all its bits.
#[pyclass(frozen, get_all, module = "tamis")]
pub(crate) struct Figures {
    /// The number of distinct items, estimated from the bits. A cuckoo filter counts its copies.
    items: f64,
    /// The share of the bits or slots that are in use.
    fill: f64,
    /// The items divided by the capacity: above 1, the rate may exceed the one asked for.
    saturation: f64,
    /// The probability that `in` returns True for an item that was not added.
    rate: f64,
}

#[pymethods]
impl Figures {
    fn __repr__(&self) -> String {
        let Self { items, fill, saturation, rate } = self;
        format!(
            "Figures(items={items:.0}, fill={fill:.4}, saturation={saturation:.4}, rate={rate:.3e})"
        )
    }
}

impl Figures {
    pub(crate) fn items(&self) -> PyResult<u64> {
        if self.items.is_finite() {
            return Ok(self.items.round() as u64);
        }
        Err(PyOverflowError::new_err("the filter is too full for an estimate of its items"))
    }
}

impl From<Computed> for Figures {
    fn from(figures: Computed) -> Self {
        Self {
            items: figures.items.value,
            fill: figures.fill.value,
            saturation: figures.saturation.value,
            rate: figures.false_positive_rate.value,
        }
    }
}
