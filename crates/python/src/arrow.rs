//! Columns of Arrow (pyarrow, polars, DuckDB, pandas): hashed where they lie, without the
//! interpreter lock.

use core::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::ArrayStreamReader;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayReader as _, ArrayRef, StructArray};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use tamis::hash::StableHasher;

use crate::block::{Block, Run, with_hasher};
use crate::keys::{Keys, hash_i64, hash_i128};
use crate::{fork, unchecked};

/// The items that are hashed before the thread checks for signals.
const ROWS: usize = 1 << 17;

/// A column, in one array or in a stream of arrays.
pub(crate) enum Column {
    Array(ArrayRef),
    Stream(ArrayStreamReader),
}

impl Column {
    /// Returns the column of an object, or `None` if it has no interface of Arrow.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if has_only_elements(object)? {
            return Ok(None);
        }
        if let Some(method) = object.getattr_opt("__arrow_c_array__")? {
            let capsules = method.call0()?.cast_into::<PyTuple>()?;
            let (schema, array) =
                capsules.extract::<(Bound<'_, PyCapsule>, Bound<'_, PyCapsule>)>()?;
            let (field, array) = unchecked::array_of(&schema, &array)?.map_err(of_arrow)?;
            require_items(&field, object)?;
            return Ok(Some(Self::Array(array)));
        }
        if let Some(method) = object.getattr_opt("__arrow_c_stream__")? {
            let capsule = method.call0()?.cast_into::<PyCapsule>()?;
            let stream = unchecked::stream_of(&capsule)?.map_err(of_arrow)?;
            require_items(stream.field(), object)?;
            return Ok(Some(Self::Stream(stream)));
        }
        Ok(None)
    }

    /// Hashes all items, and runs `run` for each block of hashes.
    pub(crate) fn hash(self, py: Python<'_>, keys: &Keys, run: &mut Run<'_>) -> PyResult<()> {
        match self {
            Self::Array(array) => hash_rows(py, &array, keys, run),
            Self::Stream(mut stream) => {
                // The producer may run Python code, in any thread.
                while let Some(array) = py.detach(|| stream.next()) {
                    hash_rows(py, &array.map_err(of_arrow)?, keys, run)?;
                    // A stream may have any number of arrays without rows.
                    py.check_signals()?;
                }
                Ok(())
            }
        }
    }
}

/// Returns an error for a column of Arrow whose elements are no Python objects. Those of a Series
/// of pandas or polars are.
pub(crate) fn require_elements(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let has = |name| object.hasattr(name);
    if !is_of_frames(object)? && (has("__arrow_c_array__")? || has("__arrow_c_stream__")?) {
        return Err(PyTypeError::new_err(
            "`key` takes Python objects: pass a column of Arrow as a list (to_pylist)",
        ));
    }
    Ok(())
}

/// Returns the only column of a DataFrame of pandas or polars. In Arrow, one of pandas has its
/// index as a further column.
pub(crate) fn column_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !is_of_frames(object)? {
        return Ok(None);
    }
    let Some(names) = object.getattr_opt("columns")? else { return Ok(None) };
    match names.len()? {
        1 => object.get_item(names.get_item(0)?).map(Some),
        columns => Err(no_sequence(columns)),
    }
}

/// Whether the class of an object is in pandas or polars.
fn is_of_frames(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let module = object.get_type().module()?;
    Ok(matches!(module.to_str()?.split('.').next(), Some("pandas" | "polars")))
}

/// Whether it is a Series of pandas or polars of a type that can only be iterated: in Arrow, Python
/// objects of polars are their addresses, as binary values, and those of pandas must all have one
/// type of Arrow. The other types are not as Arrow has them.
fn has_only_elements(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !is_of_frames(object)? {
        return Ok(false);
    }
    let Some(dtype) = object.getattr_opt("dtype")? else { return Ok(false) };
    let dtype = dtype.str()?;
    let dtype = dtype.to_str()?;
    Ok(matches!(dtype, "object" | "Object" | "Null" | "Int128" | "UInt128")
        || dtype.starts_with("Sparse"))
}

/// Returns an error if the values of a column are not what iteration over it yields: structs, or
/// those of an extension type, whose meaning Arrow does not say. A table of one column is that
/// column.
fn require_items(field: &Field, object: &Bound<'_, PyAny>) -> PyResult<()> {
    let mut field = field;
    let is_table = || Ok::<_, PyErr>(object.hasattr("schema")? || object.hasattr("columns")?);
    if let DataType::Struct(columns) = field.data_type()
        && is_table()?
    {
        match &columns[..] {
            [column] => field = column,
            columns => return Err(no_sequence(columns.len())),
        }
    }
    match (field.metadata().get(EXTENSION_TYPE_NAME_KEY), field.data_type()) {
        (Some(name), _) => Err(no_items(name)),
        (None, of @ DataType::Struct(_)) => Err(no_items(of)),
        _ => Ok(()),
    }
}

fn no_sequence(columns: usize) -> PyErr {
    PyValueError::new_err(format!(
        "a table of {columns} columns is no sequence of items: select one column"
    ))
}

fn no_items(of: impl Display) -> PyErr {
    PyTypeError::new_err(format!(
        "a column of {of} has no items: they must be strings, binary, integers or booleans"
    ))
}

/// Hashes all rows of a column, or of a table of one column.
fn hash_rows(py: Python<'_>, array: &ArrayRef, keys: &Keys, run: &mut Run<'_>) -> PyResult<()> {
    let column = match array.as_struct_opt().map(StructArray::columns) {
        Some([column]) => column,
        _ => array,
    };
    if array.null_count() > 0 || column.logical_null_count() > 0 {
        return Err(PyValueError::new_err(
            "the column has nulls, which are no items: drop them or fill them",
        ));
    }
    if !matches!(column.data_type(), DataType::Dictionary(..)) {
        return hash_values(py, column, keys, run);
    }
    // Each value is hashed once, whatever the number of rows is.
    let (dictionary, mut hashes) = (column.as_any_dictionary(), Vec::new());
    hash_values(py, dictionary.values(), keys, &mut |block| {
        hashes.extend_from_slice(block);
        Ok(())
    })?;
    for start in (0..column.len()).step_by(ROWS) {
        let rows = column.slice(start, ROWS.min(column.len() - start));
        fork::detach_unless(py, keys.waits, || {
            let values = rows.as_any_dictionary().normalized_keys();
            Block::new().extend(values.into_iter(), |value| hashes[value], run)
        })?;
        py.check_signals()?;
    }
    Ok(())
}

/// Hashes all values of an array that is no dictionary.
fn hash_values(py: Python<'_>, array: &ArrayRef, keys: &Keys, run: &mut Run<'_>) -> PyResult<()> {
    for start in (0..array.len()).step_by(ROWS) {
        let rows = array.slice(start, ROWS.min(array.len() - start));
        fork::detach_unless(
            py,
            keys.waits,
            || with_hasher!(&keys.hasher, hasher => hash_array(&rows, hasher, run)),
        )?;
        py.check_signals()?;
    }
    Ok(())
}

/// Hashes all values. A null has any hash: it is a value of a dictionary that no row has.
fn hash_array(array: &ArrayRef, hasher: &impl StableHasher, run: &mut Run<'_>) -> PyResult<()> {
    /// Hashes the values of an array.
    macro_rules! values {
        ($values:expr, $value:ident => $hash:expr) => {{ Block::new().extend($values.into_iter(), |$value| $hash, run) }};
    }
    macro_rules! numbers {
        ($type:ty, $hash:ident) => {
            values!(array.as_primitive::<$type>().values(), number => $hash(hasher, (*number).into()))
        };
    }
    macro_rules! bytes {
        ($array:expr) => {
            values!($array.iter(), bytes => hasher.hash_bytes(bytes.map_or(&[], |bytes| bytes.as_ref())))
        };
    }
    match array.data_type() {
        DataType::Utf8 => bytes!(array.as_string::<i32>()),
        DataType::LargeUtf8 => bytes!(array.as_string::<i64>()),
        DataType::Utf8View => bytes!(array.as_string_view()),
        DataType::Binary => bytes!(array.as_binary::<i32>()),
        DataType::LargeBinary => bytes!(array.as_binary::<i64>()),
        DataType::BinaryView => bytes!(array.as_binary_view()),
        DataType::FixedSizeBinary(_) => bytes!(array.as_fixed_size_binary()),
        DataType::Boolean => {
            values!(array.as_boolean().iter(), bit => hash_i64(hasher, (bit == Some(true)).into()))
        }
        DataType::Int8 => numbers!(Int8Type, hash_i64),
        DataType::Int16 => numbers!(Int16Type, hash_i64),
        DataType::Int32 => numbers!(Int32Type, hash_i64),
        DataType::Int64 => numbers!(Int64Type, hash_i64),
        DataType::UInt8 => numbers!(UInt8Type, hash_i64),
        DataType::UInt16 => numbers!(UInt16Type, hash_i64),
        DataType::UInt32 => numbers!(UInt32Type, hash_i64),
        DataType::UInt64 => numbers!(UInt64Type, hash_i128),
        other => Err(no_items(other)),
    }
}

fn of_arrow(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
