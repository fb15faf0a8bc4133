//! `foreign.read`: filters that other systems wrote, with their own hash of a key.

use std::fs;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tamis::formats::LoadError;
use tamis::formats::foreign::{self, AnyFilter, Format, Key, KeyType};

use crate::bulk::{bools, require_many};
use crate::errors::{FormatError, of_foreign, of_system};
use crate::keys::Item;
use crate::unchecked::bytes_of;

/// A filter that another system wrote.
#[pyclass(frozen, module = "tamis")]
pub(crate) struct ForeignFilter {
    filter: AnyFilter,
    function: Option<Py<PyAny>>,
}

impl ForeignFilter {
    pub(crate) fn new(filter: AnyFilter, function: Option<Py<PyAny>>) -> Self {
        Self { filter, function }
    }

    /// Queries what the function of the user returned, or the item.
    fn contains_key(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let found = match Item::of(key)? {
            Item::Text(text) => self.filter.contains(Key::Text(text.to_str()?)),
            Item::Bytes(bytes) => self.filter.contains(Key::Bytes(bytes.as_bytes())),
            Item::Int(number) => {
                // The program that wrote it had a hash function of its own.
                if self.filter.format() == Format::Rbloom {
                    let hash = number.extract().map_err(out_of_range)?;
                    return Ok(self.filter.contains_hash(hash).unwrap_or(false));
                }
                let number: i64 = number.extract().map_err(out_of_range)?;
                // A column of a Parquet file knows the type of its keys.
                match i32::try_from(number) {
                    Ok(number) if !self.filter.takes(KeyType::I64) => {
                        self.filter.contains(Key::I32(number))
                    }
                    _ => self.filter.contains(Key::I64(number)),
                }
            }
        };
        found.map_err(of_foreign)
    }
}

fn out_of_range(_: PyErr) -> PyErr {
    PyValueError::new_err("the filter has no ints of this size")
}

#[pymethods]
impl ForeignFilter {
    fn __contains__(&self, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        match &self.function {
            None => self.contains_key(item),
            Some(function) => self.contains_key(&function.bind(item.py()).call1((item,))?),
        }
    }

    /// Query all items of an iterable. Return a buffer of bools, one per item.
    #[pyo3(signature = (items, /))]
    fn contains_many<'py>(&self, items: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        /// The items after which other threads get the interpreter lock: some milliseconds.
        const PER_TURN: usize = 1 << 10;

        require_many(items)?;
        let (py, mut results) = (items.py(), Vec::new());
        for item in items.try_iter()? {
            results.push(u8::from(self.__contains__(&item?)?));
            if results.len().is_multiple_of(PER_TURN) {
                py.check_signals()?;
                py.detach(|| ());
            }
        }
        bools(py, &results)
    }

    /// The name of the format.
    #[getter]
    fn format(&self) -> &'static str {
        self.filter.format().name()
    }

    /// The numbers that the system stores, each with its name.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let numbers = PyDict::new(py);
        for (name, number) in self.filter.parameters() {
            numbers.set_item(name, number)?;
        }
        Ok(numbers)
    }

    /// Scan the filter. Return its false-positive rate.
    fn rate(&self, py: Python<'_>) -> f64 {
        py.detach(|| self.filter.false_positive_rate())
    }

    /// Return the bytes that the other system reads.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, &py.detach(|| self.filter.to_bytes()))
    }

    fn __sizeof__(&self) -> u64 {
        size_of::<Self>() as u64 + self.filter.encoded_len()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.function)
    }

    fn __repr__(&self) -> String {
        format!("ForeignFilter(format={:?})", self.format())
    }
}

/// Read a filter that another system wrote, from a file or from bytes.
///
/// `format` is one of `tamis.foreign.formats`, or the part of it before the colon. `column` names a
/// column of a Parquet file. An item is what the system was given: a str, bytes or an int, or what
/// the function `key` returns for it. An int has 64 bits, in a column of a Parquet file those of
/// the column; for other filters of ints of 32 bits, give `key=lambda i: i.to_bytes(4, "little",
/// signed=True)`, for those of pybloom_live `key=str`. For rbloom an int is the hash, so `key` is
/// the hash function that was given to `Bloom`; a str or bytes is hashed by SHA-256, as rbloom's
/// page shows it, without pickling. Note that `add` of pybloom_live returns the opposite of `add`
/// here.
///
/// >>> from tamis import foreign
/// >>> foreign.read(b"something else", "guava")
/// Traceback (most recent call last):
/// tamis.FormatError: the strategy is 115, and must be from 0 to 1
#[pyfunction]
#[pyo3(signature = (source, format, /, *, column=None, key=None))]
pub(crate) fn read_foreign(
    source: &Bound<'_, PyAny>,
    format: &str,
    column: Option<String>,
    key: Option<Py<PyAny>>,
) -> PyResult<ForeignFilter> {
    let formats = Format::named(format).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        PyValueError::new_err(format!("unknown format {format:?}; known are {}", names.join(", ")))
    })?;
    let py = source.py();
    let read = |bytes: &[u8]| foreign::read(formats, bytes, column.as_deref()).map_err(of_foreign);
    let filter = match source.cast::<PyBytes>() {
        Ok(bytes) => {
            let bytes = bytes.as_bytes();
            py.detach(|| read(bytes))?
        }
        Err(_) => {
            let path: PathBuf = source.extract()?;
            let of_path = |error| of_system(error, Some(&path));
            // To open a pipe would wait for its other end.
            if !fs::metadata(&path).map_err(of_path)?.is_file() {
                return Err(FormatError::new_err(LoadError::NotAFile.to_string()));
            }
            py.detach(|| read(&fs::read(&path).map_err(of_path)?))?
        }
    };
    Ok(ForeignFilter::new(filter, key))
}

/// The names of the formats that `read_foreign` knows.
#[pyfunction]
pub(crate) fn foreign_formats() -> Vec<&'static str> {
    Format::ALL.iter().map(|format| format.name()).collect()
}
