//! Many items at once: from any iterable to blocks of hashes.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyMemoryView, PyString, PyTuple};
use tamis::hash::StableHasher;

use crate::block::{BLOCK, Block, Run, with_hasher};
use crate::column::Column;
use crate::keys::{Keys, quick_hash};
use crate::{arrow, unchecked};

/// The blocks of objects after which other threads get the interpreter lock: about the 5 ms after
/// which Python takes it from a thread.
const BLOCKS_PER_TURN: u64 = 64;

/// Hashes all items of an iterable, and calls `run` for each block of hashes, in order. If an item
/// is no key, or the iterator fails, `run` has been called for the items before it.
pub(crate) fn for_each(items: &Bound<'_, PyAny>, keys: &Keys, run: &mut Run<'_>) -> PyResult<()> {
    require_many(items)?;
    let column = arrow::column_of(items)?;
    let items = column.as_ref().unwrap_or(items);
    if let Ok(list) = items.cast_exact::<PyList>() {
        return of_objects(items.py(), list.iter().map(Ok), keys, run);
    }
    if let Ok(tuple) = items.cast_exact::<PyTuple>() {
        return of_objects(items.py(), tuple.iter().map(Ok), keys, run);
    }
    // The function of the user takes Python objects. Rows of an array are none, nor what iteration
    // over a column or a table of Arrow yields.
    let column = Column::of(items)?;
    if keys.function.is_some() {
        arrow::require_elements(items)?;
    } else if let Some(column) = column {
        return column.hash(keys, run);
    } else if let Some(column) = arrow::Column::of(items)? {
        return column.hash(items.py(), keys, run);
    }
    of_objects(items.py(), items.try_iter()?, keys, run)
}

/// Returns an error for what is one item, although Python iterates over it.
pub(crate) fn require_many(items: &Bound<'_, PyAny>) -> PyResult<()> {
    if items.is_instance_of::<PyString>()
        || items.is_instance_of::<PyBytes>()
        || items.is_instance_of::<PyByteArray>()
    {
        let name = items.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "{name} is one item, and an iterable of items is needed; put it in a list"
        )));
    }
    Ok(())
}

fn of_objects<'py>(
    py: Python<'py>,
    items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    keys: &Keys,
    run: &mut Run<'_>,
) -> PyResult<()> {
    if keys.function.is_some() {
        return hash_objects(py, items, |item| keys.hash(item), run);
    }
    with_hasher!(&keys.hasher, hasher => {
        let hash = |item: &_| quick_hash(hasher, item).map_or_else(|| keys.hash(item), Ok);
        hash_objects(py, items, hash, run)
    })
}

fn hash_objects<'py>(
    py: Python<'py>,
    mut items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    hash: impl Fn(&Bound<'py, PyAny>) -> PyResult<u64>,
    run: &mut Run<'_>,
) -> PyResult<()> {
    let mut block = Block::new();
    let mut blocks = 0_u64;
    loop {
        let mut ended = true;
        for item in items.by_ref() {
            match item.and_then(|item| hash(&item)) {
                Ok(hash) => block.0.push(hash),
                Err(error) => {
                    block.finish(run)?;
                    return Err(error);
                }
            }
            if block.0.len() == BLOCK {
                ended = false;
                break;
            }
        }
        block.finish(run)?;
        if ended {
            return Ok(());
        }
        py.check_signals()?;
        blocks += 1;
        if blocks.is_multiple_of(BLOCKS_PER_TURN) {
            // Other threads wait for the interpreter lock.
            py.detach(|| ());
        }
    }
}

/// Returns bytes 0 and 1 as a buffer of bools: a `memoryview`, of which `numpy.asarray` makes an
/// array without a copy.
pub(crate) fn bools<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let view = PyMemoryView::from(unchecked::bytearray_of(py, bytes)?.as_any())?;
    view.call_method1("cast", ("?",))
}
