//! Locks that are held for moments.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic of the last holder. No code that could panic runs while such a lock is
/// held, with one exception: the write of a stream in `watched.rs`, which counts a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
