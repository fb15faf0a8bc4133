//! The only unsafe code: what a caller outside Rust promises, and nothing can check.

#![allow(unsafe_code, reason = "see the first line")]

use std::fs::File;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::ArrayStreamReader;
use arrow_array::{ArrayRef, make_array};
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tamis::formats::MapFile;

/// Takes the array out of the capsules of `__arrow_c_array__`.
pub(crate) fn array_of(
    schema: &Bound<'_, PyCapsule>,
    array: &Bound<'_, PyCapsule>,
) -> PyResult<Result<ArrayRef, ArrowError>> {
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
    // SAFETY: the producer promises that the array has the layout that the schema says.
    Ok(unsafe { from_ffi(array, &schema) }.map(make_array))
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
