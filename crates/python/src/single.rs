//! `add` and `in` for an item of a usual type, without what PyO3 does around each call.
//!
//! PyO3 counts the calls that a thread is in (two look-ups of a thread-local variable), parses the
//! arguments, and converts the result. The functions here are called by the interpreter itself, and
//! leave to PyO3 what is rare: a `key=`, other types, and all that raises.
//!
//! MEASURED: `add` of an int takes 36.3 ns and `in` 28.1, with the loop of the interpreter, instead
//! of 42.8 and 34.1 by PyO3's macros (Intel Xeon, machine not recorded).

#![allow(unsafe_code, reason = "the interpreter calls these functions by their pointers")]

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::PyClass;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{Py_sq_contains, Py_ssize_t, PyBool_FromLong, PyObject, PyTuple_Size, PyType_Slot};
use pyo3::impl_::pymethods::{PyMethodDef, PyMethodDefType};
use pyo3::impl_::trampoline::{MethodDef, fastcall_cfunction_with_keywords, objobjproc};
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;

use crate::class::Keyed;
use crate::keys::quick_hash;
use crate::target::Target;

/// A class `Name(Keyed<_>)` whose filter is in memory.
pub(crate) trait Single: PyClass<Frozen = True> + Sync {
    type Filter: Target;

    fn keyed(&self) -> &Keyed<Self::Filter>;
}

/// Calls with the hash of an item; `None` if the item is not of a usual type, and on any error.
///
/// # Safety
///
/// The thread holds the interpreter lock. `slf` is an object of the class, `item` an object.
#[inline(always)]
unsafe fn quickly<C: Single>(
    slf: *mut PyObject,
    item: *mut PyObject,
    call: impl FnOnce(&C::Filter, u64) -> PyResult<bool>,
) -> Option<bool> {
    let quick = || {
        // SAFETY: the thread holds the interpreter lock, says the caller.
        let py = unsafe { Python::assume_attached() };
        // SAFETY: it is an object, says the caller, who keeps it during the call.
        let slf = unsafe { Borrowed::from_ptr(py, slf) };
        // SAFETY: as above.
        let item = unsafe { Borrowed::from_ptr(py, item) };
        // SAFETY: it is an object of the class, says the caller.
        let slf = unsafe { slf.cast_unchecked::<C>() };
        let Keyed { filter, keys } = slf.get().keyed();
        if keys.function.is_some() {
            return None;
        }
        call(filter, quick_hash(&keys.hasher, &item)?).ok()
    };
    // If it panics, PyO3 makes an exception of the second panic.
    catch_unwind(AssertUnwindSafe(quick)).ok().flatten()
}

/// The slot of `in`.
///
/// # Safety
///
/// Only for the interpreter, in a class of type `C`.
unsafe extern "C" fn contains<C: Single>(slf: *mut PyObject, item: *mut PyObject) -> c_int {
    // SAFETY: the interpreter calls the slots of a class with its objects, and holds its lock.
    match unsafe { quickly::<C>(slf, item, Target::contains) } {
        Some(hit) => hit.into(),
        // SAFETY: as above.
        None => unsafe { objobjproc::<Slow<C>>(slf, item) },
    }
}

/// The method `add`.
///
/// # Safety
///
/// Only for the interpreter, in a class of type `C`.
unsafe extern "C" fn add<C: Single>(
    slf: *mut PyObject,
    items: *const *mut PyObject,
    count: Py_ssize_t,
    names: *mut PyObject,
) -> *mut PyObject {
    if count == 1 && names.is_null() {
        // SAFETY: there is one item.
        let item = unsafe { *items };
        // SAFETY: the interpreter calls the methods of a class with its objects, and holds its
        // lock.
        if let Some(is_new) = unsafe { quickly::<C>(slf, item, Target::insert) } {
            // SAFETY: the thread holds the interpreter lock.
            return unsafe { PyBool_FromLong(is_new.into()) };
        }
    }
    // SAFETY: as above.
    unsafe { fastcall_cfunction_with_keywords::<Slow<C>>(slf, items, count, names) }
}

/// What PyO3 wraps: the same for any item.
struct Slow<C>(PhantomData<C>);

impl<C: Single> MethodDef<objobjproc::Func> for Slow<C> {
    const METH: objobjproc::Func = slow_contains::<C>;
}

impl<C: Single> MethodDef<fastcall_cfunction_with_keywords::Func> for Slow<C> {
    const METH: fastcall_cfunction_with_keywords::Func = slow_add::<C>;
}

/// # Safety
///
/// As [`contains`].
unsafe fn slow_contains<C: Single>(
    py: Python<'_>,
    slf: *mut PyObject,
    item: *mut PyObject,
) -> PyResult<c_int> {
    // SAFETY: both are objects, which the interpreter keeps during the call.
    let (slf, item) = unsafe { both::<C>(py, slf, item) };
    slf.get().keyed().contains(&item).map(c_int::from)
}

/// # Safety
///
/// As [`add`].
unsafe fn slow_add<C: Single>(
    py: Python<'_>,
    slf: *mut PyObject,
    items: *const *mut PyObject,
    count: Py_ssize_t,
    names: *mut PyObject,
) -> PyResult<*mut PyObject> {
    // SAFETY: the names are a tuple, or null.
    if !names.is_null() && unsafe { PyTuple_Size(names) } > 0 {
        return Err(PyTypeError::new_err("add() takes no keyword arguments"));
    }
    if count != 1 {
        let message = format!("add() takes exactly one argument ({count} given)");
        return Err(PyTypeError::new_err(message));
    }
    // SAFETY: there is one item.
    let item = unsafe { *items };
    // SAFETY: both are objects, which the interpreter keeps during the call.
    let (slf, item) = unsafe { both::<C>(py, slf, item) };
    let is_new = slf.get().keyed().add(&item)?;
    // SAFETY: the thread holds the interpreter lock.
    Ok(unsafe { PyBool_FromLong(is_new.into()) })
}

/// # Safety
///
/// Both are objects during the lifetime `'a`, the first one of the class.
unsafe fn both<'a, 'py, C: Single>(
    py: Python<'py>,
    slf: *mut PyObject,
    item: *mut PyObject,
) -> (Borrowed<'a, 'py, C>, Borrowed<'a, 'py, PyAny>) {
    // SAFETY: it is an object, says the caller.
    let slf = unsafe { Borrowed::from_ptr(py, slf) };
    // SAFETY: as above.
    let item = unsafe { Borrowed::from_ptr(py, item) };
    // SAFETY: it is an object of the class, says the caller.
    (unsafe { slf.cast_unchecked() }, item)
}

pub(crate) const fn contains_slot<C: Single>() -> PyType_Slot {
    PyType_Slot { slot: Py_sq_contains, pfunc: contains::<C> as *mut _ }
}

pub(crate) const fn add_method<C: Single>(documentation: &'static CStr) -> PyMethodDefType {
    let method = PyMethodDef::fastcall_cfunction_with_keywords(c"add", add::<C>, documentation);
    PyMethodDefType::Method(method)
}

/// Defines `in` for a class `$name(Keyed<$filter>)`, and `add` with its documentation.
macro_rules! one_by_one {
    ($name:ident, $filter:ty $(, $add:expr)?) => {
        impl crate::single::Single for $name {
            type Filter = $filter;

            #[inline]
            fn keyed(&self) -> &crate::class::Keyed<$filter> {
                &self.0
            }
        }

        // As `#[pymethods]` does it. PyO3 may change these items, which then do not compile.
        pyo3::inventory::submit! {
            type Inventory = <$name as pyo3::impl_::pyclass::PyClassImpl>::Inventory;
            Inventory::new(pyo3::impl_::pyclass::PyClassItems {
                methods: &[$(crate::single::add_method::<$name>($add))?],
                slots: &[crate::single::contains_slot::<$name>()],
            })
        }
    };
}

/// The documentation of `add`, from which Python also reads its signature.
pub(crate) const ADD: &CStr = c"add($self, item, /)
--

Add an item. Return True if it is new.

Of any number of threads that add a new item at the same time, exactly one gets
True. An item that is a false positive is not new.

>>> import tamis
>>> seen = tamis.BloomFilter(1000)
>>> seen.add(\"a\"), seen.add(\"a\")
(True, False)";

pub(crate) use one_by_one;
