//! The exceptions, and which error of the library becomes which of them.

use std::io;
use std::path::Path;

use pyo3::exceptions::{PyException, PyMemoryError, PyOSError, PyValueError};
use pyo3::{PyErr, create_exception};
use tamis::formats::foreign::Error as ForeignError;
use tamis::formats::{LoadError, SaveError};
use tamis::{BuildError, UnionError};
use tamis_redis::Error as RemoteError;

create_exception!(
    tamis,
    Full,
    PyException,
    "There is no room for this item, and it was not added. Other items may still fit:\n\
     a filter holds a limited number of copies of one item."
);
create_exception!(
    tamis,
    FormatError,
    PyValueError,
    "The bytes are not a saved filter, or not one of the kind asked for."
);

create_exception!(tamis, RedisError, PyException, "The servers did not do what was asked for.");

pub(crate) fn of_build(error: BuildError) -> PyErr {
    match error {
        BuildError::Alloc { .. } => PyMemoryError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Returns the error of the system as Python's own functions raise it: with its number, from which
/// the class follows, and with the name of the file.
pub(crate) fn of_system(error: io::Error, path: Option<&Path>) -> PyErr {
    // The numbers of Windows are not those of `errno`.
    let number = error.raw_os_error().filter(|_| cfg!(unix));
    let Some(number) = number else { return error.into() };
    let text = error.to_string();
    let text = text.strip_suffix(&format!(" (os error {number})")).unwrap_or(&text).to_owned();
    match path {
        Some(path) => PyOSError::new_err((number, text, path.as_os_str().to_owned())),
        None => PyOSError::new_err((number, text)),
    }
}

/// Returns the error of a load, from this file if it is one.
pub(crate) fn of_load(error: LoadError, path: Option<&Path>) -> PyErr {
    match error {
        LoadError::Io(error) => of_system(error, path),
        LoadError::Alloc { .. } => PyMemoryError::new_err(error.to_string()),
        LoadError::Live => FormatError::new_err(
            "the file is live: processes may change it; `tamis.open` opens that of a \
             `SharedBloomFilter`",
        ),
        _ => FormatError::new_err(error.to_string()),
    }
}

/// Returns the error of a save, into this file if it is one.
pub(crate) fn of_save(error: SaveError, path: Option<&Path>) -> PyErr {
    match error {
        SaveError::Io(error) => of_system(error, path),
        SaveError::Existing(error) => of_load(error, path),
        SaveError::Alloc { .. } => PyMemoryError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

pub(crate) fn of_union(error: UnionError) -> PyErr {
    PyValueError::new_err(match error {
        UnionError::Hash => {
            "the filters have different seeds; build both with the same `seed=` (with \
             `seed=\"random\"`, only a copy has the same)"
        }
        _ => "the filters have different sizes; build both with the same capacity and rate",
    })
}

pub(crate) fn of_redis(error: RemoteError) -> PyErr {
    match error {
        RemoteError::Alloc { .. } => PyMemoryError::new_err(error.to_string()),
        RemoteError::Build(_)
        | RemoteError::Name
        | RemoteError::Address { .. }
        | RemoteError::Shards { .. }
        | RemoteError::Span { .. }
        | RemoteError::Parameters { .. } => PyValueError::new_err(error.to_string()),
        _ => RedisError::new_err(error.to_string()),
    }
}

pub(crate) fn of_foreign(error: ForeignError) -> PyErr {
    match error {
        ForeignError::Key { .. } | ForeignError::EmptyKey => {
            PyValueError::new_err(error.to_string())
        }
        ForeignError::Alloc { .. } => PyMemoryError::new_err(error.to_string()),
        _ => FormatError::new_err(error.to_string()),
    }
}
