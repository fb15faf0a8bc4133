//! Locks that are held for moments.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. No code that could panic runs while such a lock is held.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
