//! From a Python object to the 64-bit hash of its key.

use pyo3::exceptions::{PyOSError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString};
use tamis::hash::{AnyStable, Rapid, SipHash13, StableHasher};

use crate::unchecked;

/// How a filter hashes its items: the function that the user gave, then the hasher.
pub(crate) struct Keys {
    pub(crate) hasher: AnyStable,
    pub(crate) function: Option<Py<PyAny>>,
    /// Whether the filter is in a server.
    pub(crate) waits: bool,
}

impl Keys {
    /// Hashes an item: a `str` as its UTF-8, `bytes` as they are, an `int` as its little-endian
    /// bytes; what the function returns for it, if there is one.
    #[inline]
    pub(crate) fn hash(&self, item: &Bound<'_, PyAny>) -> PyResult<u64> {
        match &self.function {
            None => hash_key(&self.hasher, item),
            Some(function) => hash_key(&self.hasher, &function.bind(item.py()).call1((item,))?),
        }
    }

    pub(crate) fn function(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.function.as_ref().map(|function| function.clone_ref(py))
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.function)
    }
}

#[inline]
fn hash_key(hasher: &AnyStable, key: &Bound<'_, PyAny>) -> PyResult<u64> {
    quick_hash(hasher, key).map_or_else(|| hash_other(hasher, key), Ok)
}

/// Hashes a key that is exactly a `str`, an `int` of 64 bits or `bytes`. Returns `None` for any
/// other, and on errors. Runs no code of Python, and makes no object.
#[inline]
pub(crate) fn quick_hash(hasher: &impl StableHasher, key: &Bound<'_, PyAny>) -> Option<u64> {
    // The exact types: one comparison of pointers each.
    if let Ok(text) = key.cast_exact::<PyString>() {
        Some(hasher.hash_bytes(unchecked::utf8_of(text)?))
    } else if let Ok(number) = key.cast_exact::<PyInt>() {
        Some(hash_i64(hasher, unchecked::i64_of(number)?))
    } else if let Ok(bytes) = key.cast_exact::<PyBytes>() {
        Some(hasher.hash_bytes(bytes.as_bytes()))
    } else {
        None
    }
}

/// Hashes any key: also a large number, one of a subclass, or one that has `__index__`.
#[cold]
fn hash_other(hasher: &AnyStable, key: &Bound<'_, PyAny>) -> PyResult<u64> {
    match Item::of(key)? {
        Item::Text(text) => Ok(hasher.hash_bytes(text.to_str()?.as_bytes())),
        Item::Bytes(bytes) => Ok(hasher.hash_bytes(bytes.as_bytes())),
        Item::Int(number) => hash_number(hasher, &number),
    }
}

/// A key, by what it is to a filter.
pub(crate) enum Item<'a, 'py> {
    Text(&'a Bound<'py, PyString>),
    Bytes(&'a Bound<'py, PyBytes>),
    Int(Bound<'py, PyInt>),
}

impl<'a, 'py> Item<'a, 'py> {
    pub(crate) fn of(key: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = key.cast() {
            return Ok(Self::Text(text));
        }
        if let Ok(bytes) = key.cast() {
            return Ok(Self::Bytes(bytes));
        }
        if let Some(number) = unchecked::index_of(key)? {
            return Ok(Self::Int(number));
        }
        let name = key.get_type().fully_qualified_name()?;
        match name.to_str()? {
            // It is no int to Python. In an array it is one here.
            "numpy.bool" | "numpy.bool_" => {
                Ok(Self::Int(PyInt::new(key.py(), i64::from(key.is_truthy()?))))
            }
            name => Err(PyTypeError::new_err(format!(
                "an item must be str, bytes or int, not {name}; give the filter a function, as \
                 `key=lambda item: ...`, that returns one of them"
            ))),
        }
    }
}

fn hash_number(hasher: &AnyStable, number: &Bound<'_, PyInt>) -> PyResult<u64> {
    match number.extract::<i64>() {
        Ok(number) => Ok(hash_i64(hasher, number)),
        Err(_) => hash_large(hasher, number),
    }
}

#[cold]
fn hash_large(hasher: &AnyStable, number: &Bound<'_, PyInt>) -> PyResult<u64> {
    match number.extract::<i128>() {
        Ok(number) => Ok(hash_i128(hasher, number)),
        Err(error) if error.is_instance_of::<PyOverflowError>(number.py()) => {
            Err(PyValueError::new_err(
                "an int must be at least -2**127 and less than 2**127; larger ones can be str",
            ))
        }
        Err(error) => Err(error),
    }
}

/// The hash of a number that fits in 64 bits: Rust's `i64` has the same.
#[inline]
pub(crate) fn hash_i64(hasher: &impl StableHasher, number: i64) -> u64 {
    hasher.hash_bytes(&number.to_le_bytes())
}

/// The hash of a byte that is `False` if it is 0, and else `True`.
#[inline]
pub(crate) fn hash_bool(hasher: &impl StableHasher, byte: i64) -> u64 {
    hash_i64(hasher, (byte != 0).into())
}

/// The hash of any number: that of an `i64` if it is one, else Rust's `i128` has the same.
#[inline]
pub(crate) fn hash_i128(hasher: &impl StableHasher, number: i128) -> u64 {
    match i64::try_from(number) {
        Ok(number) => hash_i64(hasher, number),
        Err(_) => hasher.hash_bytes(&number.to_le_bytes()),
    }
}

/// Returns the hasher of the argument `seed`: a number, or "random".
pub(crate) fn hasher_of_seed(seed: Option<&Bound<'_, PyAny>>) -> PyResult<AnyStable> {
    let Some(seed) = seed else { return Ok(Rapid::with_seed(0).into()) };
    if let Ok(text) = seed.cast::<PyString>() {
        if text.to_str()? != "random" {
            return Err(bad_seed());
        }
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(|error| PyOSError::new_err(error.to_string()))?;
        return Ok(SipHash13::with_key(key).into());
    }
    let seed = seed.extract::<u64>().map_err(|_| bad_seed())?;
    Ok(Rapid::with_seed(seed).into())
}

fn bad_seed() -> PyErr {
    PyValueError::new_err("seed must be an int from 0 to 2**64 - 1, or \"random\"")
}

/// A number of items, as an argument.
pub(crate) struct Count(pub(crate) usize);

impl<'py> FromPyObject<'_, 'py> for Count {
    type Error = PyErr;

    fn extract(number: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match number.extract::<usize>() {
            Ok(number) => Ok(Self(number)),
            Err(error) if error.is_instance_of::<PyOverflowError>(number.py()) => Err(
                PyValueError::new_err("a number of items must be at least 0 and less than 2**64"),
            ),
            Err(error) => Err(error),
        }
    }
}
