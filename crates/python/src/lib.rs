//! The extension module `tamis._tamis`: the filters of Tamis as Python classes.

mod bloom;
mod bulk;
mod class;
mod column;
mod errors;
mod figures;
mod fork;
mod keys;

/// The filters of Tamis, compiled. `tamis` exports all of it.
#[pyo3::pymodule(gil_used = false)]
mod _tamis {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::bloom::BloomFilter;
    #[pymodule_export]
    use crate::errors::{FormatError, Full};
    #[pymodule_export]
    use crate::figures::Figures;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::fork::register(module.py())
    }
}
