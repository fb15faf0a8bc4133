//! The unsafe code outside `single`: promises of callers outside Rust that nothing can check, and
//! functions that the interpreter has for C only.

#![allow(unsafe_code, reason = "see the first line")]

use std::fs::File;
use std::ops::Range;
use std::{ptr, slice};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::ArrayStreamReader;
use arrow_array::{ArrayRef, make_array};
use arrow_schema::{ArrowError, Field};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyCapsule, PyInt, PyString};
use tamis::formats::MapFile;

/// Takes the array out of the capsules of `__arrow_c_array__`, and what the schema says of it.
pub(crate) fn array_of(
    schema: &Bound<'_, PyCapsule>,
    array: &Bound<'_, PyCapsule>,
) -> PyResult<Result<(Field, ArrayRef), ArrowError>> {
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?;
    let array = array.pointer_checked(Some(c"arrow_array"))?;
    // SAFETY: a capsule of this name has a pointer to an `ArrowSchema` that is initialized or
    // released (the PyCapsule interface of Arrow). It is moved out, and left released.
    let schema = unsafe { FFI_ArrowSchema::from_raw(schema.cast().as_ptr()) };
    // SAFETY: as above, for an `ArrowArray`.
    let array = unsafe { FFI_ArrowArray::from_raw(array.cast().as_ptr()) };
    if schema.release().is_none() || array.is_released() {
        return Ok(Err(ArrowError::CDataInterface("the array has been taken before".into())));
    }
    Ok(Field::try_from(&schema).and_then(|field| {
        // SAFETY: the producer promises that the array has the layout that the schema says.
        let array = unsafe { from_ffi(array, &schema) }?;
        Ok((field, make_array(array)))
    }))
}

/// Takes the stream out of the capsule of `__arrow_c_stream__`.
pub(crate) fn stream_of(
    stream: &Bound<'_, PyCapsule>,
) -> PyResult<Result<ArrayStreamReader, ArrowError>> {
    let stream = stream.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name has a pointer to an `ArrowArrayStream` that is initialized or
    // released. It is moved out, and left released.
    Ok(unsafe { ArrayStreamReader::from_raw(stream.cast().as_ptr()) })
}

/// Takes the file of a filter that processes share.
pub(crate) fn map_file(file: File) -> MapFile {
    // SAFETY: the documentation of `SharedBloomFilter` demands that nobody makes the file shorter.
    // Tamis does not.
    unsafe { MapFile::new(file) }
}

/// Returns the number, if it fits.
#[inline]
pub(crate) fn i64_of(number: &Bound<'_, PyInt>) -> Option<i64> {
    let mut overflow = 0;
    // SAFETY: it is an int, and its `Bound` shows that the thread holds the interpreter lock.
    let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(number.as_ptr(), &mut overflow) };
    // An int has no other error.
    (overflow == 0).then_some(value)
}

/// Returns the int of an object, as `operator.index` does, or `None` if its class has none.
pub(crate) fn index_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyInt>>> {
    // SAFETY: it is an object, and its `Bound` shows that the thread holds the interpreter lock.
    if unsafe { ffi::PyIndex_Check(object.as_ptr()) } == 0 {
        return Ok(None);
    }
    // SAFETY: as above.
    let number = unsafe { ffi::PyNumber_Index(object.as_ptr()) };
    // SAFETY: it is a new object or null, with an exception.
    let number = unsafe { Bound::from_owned_ptr_or_err(object.py(), number) }?;
    Ok(Some(number.cast_into()?))
}

/// Returns the UTF-8 of a text, unless it has a lone surrogate. Python keeps it with the text.
#[inline]
pub(crate) fn utf8_of<'a>(text: &'a Bound<'_, PyString>) -> Option<&'a [u8]> {
    let mut count = 0;
    // SAFETY: it is a str, and its `Bound` shows that the thread holds the interpreter lock.
    let bytes = unsafe { ffi::PyUnicode_AsUTF8AndSize(text.as_ptr(), &mut count) };
    if bytes.is_null() {
        // SAFETY: the thread holds the interpreter lock.
        unsafe { ffi::PyErr_Clear() };
        return None;
    }
    // SAFETY: Python keeps these bytes as long as the str, which lives for `'a`, and nobody changes
    // them.
    Some(unsafe { slice::from_raw_parts(bytes.cast(), count as usize) })
}

/// The bytes from which a copy is made without the interpreter lock: some microseconds of work. For
/// less, a thread should not have to wait until it gets the lock again.
const COPIED_UNLOCKED: usize = 1 << 16;

/// Returns a copy of bytes as a `bytearray`. A large one is made without the interpreter lock.
pub(crate) fn bytearray_of<'py>(
    py: Python<'py>,
    bytes: &[u8],
) -> PyResult<Bound<'py, PyByteArray>> {
    if bytes.len() < COPIED_UNLOCKED {
        return Ok(PyByteArray::new(py, bytes));
    }
    // SAFETY: without bytes to copy, it makes an array of any. The number is that of a slice.
    let array = unsafe { ffi::PyByteArray_FromStringAndSize(ptr::null(), bytes.len() as isize) };
    // SAFETY: it is a new object or null, with an exception.
    let array = unsafe { Bound::from_owned_ptr_or_err(py, array) }?.cast_into::<PyByteArray>()?;
    // SAFETY: the array has this number of bytes, and nobody else knows it yet.
    unsafe { copy_unlocked(py, bytes, array.data()) };
    Ok(array)
}

/// Returns a copy of bytes as `bytes`, as [`bytearray_of`] does.
pub(crate) fn bytes_of<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    if bytes.len() < COPIED_UNLOCKED {
        return Ok(PyBytes::new(py, bytes));
    }
    // SAFETY: without bytes to copy, it makes an object of any. The number is that of a slice.
    let object = unsafe { ffi::PyBytes_FromStringAndSize(ptr::null(), bytes.len() as isize) };
    // SAFETY: it is a new object or null, with an exception.
    let object = unsafe { Bound::from_owned_ptr_or_err(py, object) }?.cast_into::<PyBytes>()?;
    let to = object.as_bytes().as_ptr().cast_mut();
    // SAFETY: the object has this number of bytes, and nobody else knows it yet.
    unsafe { copy_unlocked(py, bytes, to) };
    Ok(object)
}

/// Copies bytes without the interpreter lock.
///
/// # Safety
///
/// There is room for them, which nobody else uses.
unsafe fn copy_unlocked(py: Python<'_>, bytes: &[u8], to: *mut u8) {
    // A number, which a closure may take that runs without the lock.
    let to = to as usize;
    py.detach(|| {
        // SAFETY: there is room, says the caller.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, bytes.len()) };
    });
}

/// The numbers of a buffer, one after another.
pub(crate) struct Numbers<T: Element>(PyBuffer<T>);

impl<T: Element> Numbers<T> {
    /// Returns `None` if the buffer has other items, or gaps.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> Option<Self> {
        let buffer = PyBuffer::get(object).ok()?;
        buffer.as_slice_ptr().is_some().then_some(Self(buffer))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.item_count()
    }

    /// Reads the numbers of a range, each of them once. Of a number that another thread writes
    /// meanwhile, it reads the old or the new value.
    #[inline]
    pub(crate) fn read(&self, range: Range<usize>) -> impl Iterator<Item = T> + '_ {
        let none = ptr::slice_from_raw_parts(ptr::null(), 0);
        let numbers = self.0.as_slice_ptr().map_or(none, |numbers| numbers.as_ptr().cast_const());
        let range = if range.end <= numbers.len() { range } else { 0..0 };
        let start = numbers.cast::<T>();
        // SAFETY: the buffer has the numbers of the range, is aligned, and its owner keeps it in
        // its place as long as `self` is there. The read is volatile, since other threads may
        // write.
        range.map(move |number| unsafe { start.wrapping_add(number).read_volatile() })
    }
}
