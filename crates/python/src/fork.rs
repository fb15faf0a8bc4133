//! Forks. A lock that another thread holds would stay locked in the child, where that thread does
//! not exist. So a gate lets no process fork while a thread without the interpreter lock holds a
//! lock of a filter.
//!
//! A thread that holds the interpreter lock needs no gate: another thread cannot fork meanwhile. An
//! interpreter without such a lock (3.13t and later) stops all threads before it forks, and none of
//! them within a call such as `add`.

#![cfg_attr(unix, allow(unsafe_code, reason = "the system calls the handlers"))]

use std::cell::RefCell;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use pyo3::exceptions::PyValueError;
use pyo3::impl_::extract_argument::argument_extraction_error;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Held for reading during a batch, and for writing during a fork.
static GATE: RwLock<()> = RwLock::new(());

thread_local! {
    /// There while this thread forks.
    static CLOSED: RefCell<Option<RwLockWriteGuard<'static, ()>>> = const { RefCell::new(None) };
}

fn close() -> RwLockWriteGuard<'static, ()> {
    GATE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Enters a batch. The caller does not hold the interpreter lock, and keeps the guard for
/// milliseconds, but a scan or a copy of the filter until its end: a fork waits for it, and later
/// batches wait for the fork.
pub(crate) fn enter() -> RwLockReadGuard<'static, ()> {
    GATE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` without the interpreter lock, within the gate.
pub(crate) fn detach<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    py.detach(|| {
        let _batch = enter();
        work()
    })
}

/// As [`detach`]; but work that `waits` for a server is not within the gate. It would hold up forks
/// for seconds, and with them all batches. A child connects anew, and needs none of its locks.
pub(crate) fn detach_unless<R: Send>(
    py: Python<'_>,
    waits: bool,
    work: impl FnOnce() -> R + Send,
) -> R {
    if waits { py.detach(work) } else { detach(py, work) }
}

/// Waits for the batches of all threads, without the interpreter lock: a save takes seconds. It
/// leaves the gate open. Handlers that were registered earlier run later, and may wait for a lock
/// whose owner waits at the gate.
#[pyfunction]
fn before_fork(py: Python<'_>) {
    py.detach(|| drop(close()));
}

/// Closes the gate just before a fork, after all handlers of Python.
#[cfg(unix)]
extern "C" fn prepare() {
    _ = CLOSED.try_with(|closed| {
        closed.borrow_mut().get_or_insert_with(close);
    });
}

/// Opens the gate, in the parent and in the child: the child's only thread is a copy of the one
/// that forked, and has its guard.
#[cfg(unix)]
extern "C" fn open() {
    _ = CLOSED.try_with(|closed| closed.take());
}

/// Makes the values that PyO3 otherwise makes at their first use: names of attributes, and the
/// class of paths. A thread that makes one releases the interpreter lock meanwhile. If another
/// thread forks then, the child waits for ever at its own first use.
///
/// These are all that the tests need after the import, as a debugger shows that stops at each first
/// use (`once_cell::imp::initialize_or_wait`).
fn make_values(py: Python<'_>) -> PyResult<()> {
    let class = py.get_type::<PyAny>();
    _ = (class.module()?, class.fully_qualified_name()?, Path::new("").into_pyobject(py)?);
    _ = argument_extraction_error(py, "", PyValueError::new_err(()));
    Ok(())
}

/// Prepares for forks, where the system has them: registers the handlers.
pub(crate) fn register(py: Python<'_>) -> PyResult<()> {
    make_values(py)?;
    #[cfg(unix)]
    {
        // SAFETY: the functions live as long as the process, which never unloads this module.
        let error = unsafe { libc::pthread_atfork(Some(prepare), Some(open), Some(open)) };
        if error != 0 {
            return Err(std::io::Error::from_raw_os_error(error).into());
        }
    }
    let Some(register) = py.import("os")?.getattr_opt("register_at_fork")? else { return Ok(()) };
    let handlers = PyDict::new(py);
    handlers.set_item("before", wrap_pyfunction!(before_fork, py)?)?;
    register.call((), Some(&handlers))?;
    Ok(())
}
