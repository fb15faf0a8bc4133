//! Threads and shared ownership, real or modelled: a test that is also a model uses these names.

#[cfg(tamis_loom)]
pub use loom::sync::Arc;
#[cfg(tamis_loom)]
pub use loom::thread::yield_now;

#[cfg(not(tamis_loom))]
pub use alloc::sync::Arc;
#[cfg(tamis_shuttle)]
pub use shuttle::thread::{spawn, yield_now};
#[cfg(all(not(any(tamis_loom, tamis_shuttle)), feature = "std"))]
pub use std::thread::{spawn, yield_now};

#[cfg(all(not(any(tamis_loom, tamis_shuttle)), feature = "std"))]
pub use crate::index::index;

/// Starts a thread of a model. The box keeps loom from being compiled once per closure.
#[cfg(tamis_loom)]
#[track_caller]
pub fn spawn<T: 'static>(run: impl FnOnce() -> T + 'static) -> loom::thread::JoinHandle<T> {
    let run: alloc::boxed::Box<dyn FnOnce() -> T> = alloc::boxed::Box::new(run);
    loom::thread::spawn(run)
}

/// Returns the index of the calling thread: without `std`, and in a model, `usize::MAX` for every
/// thread.
#[cfg(any(tamis_loom, tamis_shuttle, not(feature = "std")))]
#[inline]
#[must_use]
pub fn index() -> usize {
    usize::MAX
}
