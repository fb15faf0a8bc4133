//! Arrays of integers, or of bytes of one length, that lie in a buffer: hashed without the
//! interpreter lock.

use std::ops::Range;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyMemoryView, PySlice, PyType};
use tamis::hash::StableHasher;

use crate::block::{Block, Run, with_hasher};
use crate::fork;
use crate::keys::{Keys, hash_bool, hash_i64, hash_i128};
use crate::unchecked::Numbers;

/// The bytes that are read at a time. The thread checks for signals between two chunks, and may
/// have to wait for the interpreter lock there.
const CHUNK_BYTES: usize = 1 << 20;

/// What the items of a buffer are.
#[derive(Clone, Copy)]
enum Items {
    Signed,
    Unsigned,
    Bool,
    Bytes,
}

/// A buffer with one dimension.
pub(crate) struct Column<'py> {
    view: Bound<'py, PyMemoryView>,
    items: Items,
    item_bytes: usize,
    swapped: bool,
}

/// Runs `$numbers!` with the type of integers of this size, and the function that hashes them; or
/// `$other` if there is no such type.
macro_rules! with_type {
    ($items:expr, $bytes:expr, $numbers:ident, $other:expr) => {
        match ($items, $bytes) {
            (Items::Signed, 1) => $numbers!(i8, hash_i64),
            (Items::Signed, 2) => $numbers!(i16, hash_i64),
            (Items::Signed, 4) => $numbers!(i32, hash_i64),
            (Items::Signed, 8) => $numbers!(i64, hash_i64),
            (Items::Unsigned, 1) => $numbers!(u8, hash_i64),
            (Items::Unsigned, 2) => $numbers!(u16, hash_i64),
            (Items::Unsigned, 4) => $numbers!(u32, hash_i64),
            (Items::Unsigned, 8) => $numbers!(u64, hash_i128),
            (Items::Bool, 1) => $numbers!(u8, hash_bool),
            _ => $other,
        }
    };
}

impl<'py> Column<'py> {
    /// Returns the buffer of an object, or `None` if it has none, one of other items, or one that
    /// may not have its elements.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if !has_its_elements(&object.get_type())? {
            return Ok(None);
        }
        let Ok(view) = PyMemoryView::from(object) else { return Ok(None) };
        let format: String = view.getattr("format")?.extract()?;
        let item_bytes: usize = view.getattr("itemsize")?.extract()?;
        let (order, code) = match format.split_at_checked(1) {
            Some((order, code)) if "@=<>!".contains(order) => (order, code),
            _ => ("@", format.as_str()),
        };
        let items = match code {
            "b" | "h" | "i" | "l" | "q" | "n" => Items::Signed,
            "B" | "H" | "I" | "L" | "Q" | "N" => Items::Unsigned,
            "?" => Items::Bool,
            _ if is_bytes(code) && item_bytes > 0 => Items::Bytes,
            _ => return Ok(None),
        };
        if view.getattr("ndim")?.extract::<usize>()? != 1 {
            return Err(PyValueError::new_err("an array of items must have one dimension"));
        }
        let swapped = match order {
            "<" => cfg!(target_endian = "big"),
            ">" | "!" => cfg!(target_endian = "little"),
            _ => false,
        };
        Ok(Some(Self { view, items, item_bytes, swapped }))
    }

    /// Hashes all items, and runs `run` for each block of hashes.
    pub(crate) fn hash(&self, keys: &Keys, run: &mut Run<'_>) -> PyResult<()> {
        let hasher = &keys.hasher;
        /// Hashes numbers of one type where they are, if they lie there one after another.
        macro_rules! numbers {
            ($type:ty, $hash:ident) => {
                if let Some(numbers) = Numbers::<$type>::of(&self.view) {
                    return self.in_chunks(numbers.len(), keys.waits, |range| {
                        let numbers = numbers.read(range);
                        with_hasher!(hasher, hasher => {
                            let hash = |number: $type| $hash(hasher, number.into());
                            Block::new().extend(numbers, hash, run)
                        })
                    });
                }
            };
        }
        if !self.swapped {
            with_type!(self.items, self.item_bytes, numbers, {});
        }
        self.hash_copies(keys, run)
    }

    /// As [`hash`](Self::hash), for any items: copies a chunk, since other threads may write into
    /// the buffer.
    fn hash_copies(&self, keys: &Keys, run: &mut Run<'_>) -> PyResult<()> {
        let hasher = &keys.hasher;
        let py = self.view.py();
        let (items, item_bytes, swapped) = (self.items, self.item_bytes, self.swapped);
        let count = self.view.len()?;
        let step = (CHUNK_BYTES / item_bytes).max(1);
        for start in (0..count).step_by(step) {
            let end = count.min(start + step);
            let slice = PySlice::new(py, start as isize, end as isize, 1);
            let bytes = self.view.get_item(slice)?.call_method0("tobytes")?;
            let bytes: PyBackedBytes = bytes.extract()?;
            fork::detach_unless(
                py,
                keys.waits,
                || with_hasher!(hasher, hasher => hash_chunk(&bytes, items, item_bytes, swapped, hasher, run)),
            )?;
            py.check_signals()?;
        }
        Ok(())
    }

    /// Calls `work` with the range of each chunk, without the interpreter lock.
    fn in_chunks(
        &self,
        count: usize,
        waits: bool,
        mut work: impl FnMut(Range<usize>) -> PyResult<()> + Send,
    ) -> PyResult<()> {
        let py = self.view.py();
        let step = CHUNK_BYTES / self.item_bytes;
        for start in (0..count).step_by(step) {
            fork::detach_unless(py, waits, || work(start..count.min(start + step)))?;
            py.check_signals()?;
        }
        Ok(())
    }
}

/// Whether a buffer of this type has what iteration yields. Others may not have it: a masked array
/// hides some elements, a `chararray` strips white space, and an `mmap` yields bytes.
fn has_its_elements(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let (module, name) = (class.module()?, class.name()?);
    Ok(matches!(
        (module.to_str()?, name.to_str()?),
        ("builtins", "memoryview") | ("array", "array") | ("numpy", "ndarray" | "memmap")
    ))
}

/// Whether a format is that of bytes of one length, as "16s".
fn is_bytes(code: &str) -> bool {
    let digits = code.strip_suffix('s');
    digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
}

fn hash_chunk(
    bytes: &[u8],
    items: Items,
    item_bytes: usize,
    swapped: bool,
    hasher: &impl StableHasher,
    run: &mut Run<'_>,
) -> PyResult<()> {
    let mut block = Block::new();
    /// Hashes numbers of one type.
    macro_rules! numbers {
        ($type:ty, $hash:ident) => {{
            let (items, _) = bytes.as_chunks();
            let number = |bytes: &[u8; _]| <$type>::from_ne_bytes(*bytes);
            if swapped {
                let hash = |bytes| $hash(hasher, number(bytes).swap_bytes().into());
                block.extend(items.iter(), hash, run)
            } else {
                block.extend(items.iter(), |bytes| $hash(hasher, number(bytes).into()), run)
            }
        }};
    }
    if matches!(items, Items::Bytes) {
        let hash = |bytes: &[u8]| {
            // As in the `bytes` that numpy makes of it.
            let padding = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
            hasher.hash_bytes(&bytes[..item_bytes - padding])
        };
        return block.extend(bytes.chunks_exact(item_bytes), hash, run);
    }
    let unknown = || Err(PyValueError::new_err("the buffer has integers of an unknown size"));
    with_type!(items, item_bytes, numbers, unknown())
}
