//! Columns of Arrow (pyarrow, polars, DuckDB, pandas): hashed where they lie, without the
//! interpreter lock.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::ArrayStreamReader;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType};
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
            return Ok(Some(Self::Array(unchecked::array_of(&schema, &array)?.map_err(of_arrow)?)));
        }
        if let Some(method) = object.getattr_opt("__arrow_c_stream__")? {
            let capsule = method.call0()?.cast_into::<PyCapsule>()?;
            return Ok(Some(Self::Stream(unchecked::stream_of(&capsule)?.map_err(of_arrow)?)));
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

/// Whether it is a Series or a DataFrame of polars of a type that can only be iterated: in Arrow,
/// Python objects are their addresses, as binary values, and the other types are not as Arrow has
/// them.
fn has_only_elements(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let module = object.get_type().module()?;
    if !module.to_str()?.starts_with("polars.") {
        return Ok(false);
    }
    let mut types = Vec::new();
    if let Some(dtype) = object.getattr_opt("dtype")? {
        types.push(dtype);
    } else if let Some(dtypes) = object.getattr_opt("dtypes")? {
        types = dtypes.extract()?;
    }
    for dtype in types {
        if matches!(dtype.str()?.to_str()?, "Object" | "Null" | "Int128" | "UInt128") {
            return Ok(true);
        }
    }
    Ok(false)
}

fn hash_rows(py: Python<'_>, array: &ArrayRef, keys: &Keys, run: &mut Run<'_>) -> PyResult<()> {
    // A table of one column is that column.
    if let Some(table) = array.as_struct_opt().filter(|table| table.null_count() == 0) {
        let [column] = table.columns() else {
            return Err(PyValueError::new_err(format!(
                "a table of {} columns is no sequence of items: select one column",
                table.num_columns()
            )));
        };
        return hash_rows(py, column, keys, run);
    }
    if array.logical_null_count() > 0 {
        return Err(PyValueError::new_err(
            "the column has nulls, which are no items: drop them or fill them",
        ));
    }
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
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            // Each value is hashed once.
            let mut hashes = Vec::new();
            hash_array(dictionary.values(), hasher, &mut |block| {
                hashes.extend_from_slice(block);
                Ok(())
            })?;
            values!(dictionary.normalized_keys(), key => hashes[key])
        }
        other => Err(PyTypeError::new_err(format!(
            "a column of {other} has no items: they must be strings, binary, integers or booleans"
        ))),
    }
}

fn of_arrow(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
