//! Thread indices: small numbers, unique among living threads and reused after a thread ends.

use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};

use core::cmp::Reverse;

/// The indices that ended threads returned, least first, and the least index never used.
static POOL: Mutex<(BinaryHeap<Reverse<usize>>, usize)> = Mutex::new((BinaryHeap::new(), 0));

/// An index that no other living thread has. Dropping it returns it to the pool.
struct Index(usize);

impl Index {
    fn take() -> Self {
        // The pool is valid even if a thread panicked while it held the mutex.
        let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        let (free, next) = &mut *pool;
        // The least returned index first, so that indices stay small; a new one only if none is
        // free.
        let index = free.pop().map_or(*next, |Reverse(index)| index);
        *next = (*next).max(index + 1);
        Self(index)
    }
}

impl Drop for Index {
    /// Returns the index under the mutex: everything that this thread did happens before what the
    /// next owner does.
    fn drop(&mut self) {
        POOL.lock().unwrap_or_else(PoisonError::into_inner).0.push(Reverse(self.0));
    }
}

std::thread_local! {
    static INDEX: Index = Index::take();
}

/// Returns the index of the calling thread: no other living thread has it, and small indices are
/// used first.
///
/// What the index's last owner wrote happens before what this thread does. Many threads share
/// `usize::MAX`, which stands for "no index": without `std`, in a model, and in a thread whose
/// thread-local values are already destroyed.
///
/// # Examples
///
/// ```
/// # use tamis_sync::thread::index;
/// assert_eq!(index(), index());
/// assert_ne!(index(), std::thread::spawn(index).join().unwrap());
/// ```
#[inline]
#[must_use]
pub fn index() -> usize {
    INDEX.try_with(|index| index.0).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Barrier;
    use std::thread;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn living_threads_have_different_indices() {
        const THREADS: usize = 16;
        let barrier = Barrier::new(THREADS);
        let indices: Vec<usize> = thread::scope(|scope| {
            let get_index = || {
                let first = index();
                // All threads are alive here.
                barrier.wait();
                assert_eq!(index(), first);
                first
            };
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(get_index)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(indices.iter().collect::<HashSet<_>>().len(), THREADS);
    }

    /// Other tests may run concurrently and use indices, but fewer than 500.
    #[test]
    fn indices_of_ended_threads_are_reused() {
        let largest = (0..1000).map(|_| thread::spawn(index).join().unwrap()).max();
        assert!(largest < Some(500), "{largest:?}");
    }
}
