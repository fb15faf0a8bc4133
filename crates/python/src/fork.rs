//! Forks: no lock is held by another thread, since it would stay locked in the child, where that
//! thread does not exist. A gate lets no process fork while a thread without the interpreter lock
//! holds a lock of a filter.
//!
//! A thread that holds the interpreter lock needs no gate: another thread cannot fork meanwhile. An
//! interpreter without such a lock (3.13t and later) stops all threads before it forks, and none of
//! them within a call such as `add`.

use std::cell::RefCell;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use pyo3::exceptions::PyValueError;
use pyo3::impl_::extract_argument::argument_extraction_error;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Held for reading during a batch, and for writing from just before a fork to just after it.
static GATE: RwLock<()> = RwLock::new(());

/// The forks that this thread is in: a handler of another library may fork within a fork.
struct Forks {
    depth: usize,
    guard: Option<RwLockWriteGuard<'static, ()>>,
}

thread_local! {
    static FORKS: RefCell<Forks> = const { RefCell::new(Forks { depth: 0, guard: None }) };
}

/// Enters a batch. The caller does not hold the interpreter lock, and keeps the guard for
/// milliseconds, a save until its end: a fork waits for it, and later batches wait for the fork.
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

/// Waits for the batches of all threads, and holds up new ones.
#[pyfunction]
fn before_fork(py: Python<'_>) {
    // Without the interpreter lock, which a thread may need to leave its own fork.
    py.detach(|| {
        FORKS.with_borrow_mut(|forks| {
            if forks.depth == 0 {
                forks.guard = Some(GATE.write().unwrap_or_else(PoisonError::into_inner));
            }
            forks.depth += 1;
        });
    });
}

/// Opens the gate, in the parent and in the child: the child's only thread is a copy of the one
/// that forked, and has its guard.
#[pyfunction]
fn after_fork() {
    FORKS.with_borrow_mut(|forks| {
        forks.depth = forks.depth.saturating_sub(1);
        if forks.depth == 0 {
            forks.guard = None;
        }
    });
}

/// Makes the values that PyO3 makes when they are first needed: names of attributes. A thread that
/// makes one lets another thread have the interpreter lock, and this one may fork. The child would
/// wait for ever for the value.
///
/// These are the values that the functions of this package need after its import, said a debugger
/// that stopped at each first use while the tests ran.
fn make_values(py: Python<'_>) -> PyResult<()> {
    let class = py.get_type::<PyAny>();
    _ = (class.module()?, class.fully_qualified_name()?);
    _ = argument_extraction_error(py, "", PyValueError::new_err(()));
    Ok(())
}

/// Prepares for forks, where the system has them: registers the handlers.
pub(crate) fn register(py: Python<'_>) -> PyResult<()> {
    make_values(py)?;
    let os = py.import("os")?;
    let Some(register) = os.getattr_opt("register_at_fork")? else { return Ok(()) };
    let handlers = PyDict::new(py);
    handlers.set_item("before", wrap_pyfunction!(before_fork, py)?)?;
    let after = wrap_pyfunction!(after_fork, py)?;
    handlers.set_item("after_in_parent", &after)?;
    handlers.set_item("after_in_child", &after)?;
    register.call((), Some(&handlers))?;
    Ok(())
}
