//! The extension module `tamis._tamis`: the filters of Tamis as Python classes.

#![deny(unsafe_code)]

mod arrow;
mod block;
mod bloom;
mod bulk;
mod class;
mod column;
mod cuckoo;
mod errors;
mod figures;
mod foreign;
mod fork;
mod keys;
mod plan;
mod redis;
mod rotating;
mod saved;
mod scalable;
mod shared;
mod single;
mod target;
mod unchecked;

/// The filters of Tamis, compiled. `tamis` exports all of it.
#[pyo3::pymodule(gil_used = false)]
mod _tamis {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::bloom::BloomFilter;
    #[pymodule_export]
    use crate::cuckoo::CuckooFilter;
    #[pymodule_export]
    use crate::errors::{FormatError, Full, RedisError};
    #[pymodule_export]
    use crate::figures::Figures;
    #[pymodule_export]
    use crate::foreign::{ForeignFilter, foreign_formats, read_foreign};
    #[pymodule_export]
    use crate::plan::{Plan, plan};
    #[pymodule_export]
    use crate::redis::RedisBloomFilter;
    #[pymodule_export]
    use crate::rotating::RotatingBloomFilter;
    #[pymodule_export]
    use crate::saved::{SavedFilter, open};
    #[pymodule_export]
    use crate::scalable::ScalableBloomFilter;
    #[pymodule_export]
    use crate::shared::SharedBloomFilter;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::fork::register(module.py())
    }
}
