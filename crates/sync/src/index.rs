//! Thread indices: small numbers, unique among living threads and reused after a thread ends.
//!
//! No lock: a process may fork while a thread takes or returns an index. The child would wait for
//! ever for a lock that this thread holds, since it does not exist there. The child does not reuse
//! the indices of threads that it does not have.

use core::sync::atomic::{AtomicUsize, Ordering};

const BITS: usize = usize::BITS as usize;

/// The number of indices that are reused.
const REUSED: usize = 1024;

static POOL: Pool = Pool::new();

/// Which indices threads have.
struct Pool {
    /// A bit per index that is reused, least first: set while a thread has the index.
    taken: [AtomicUsize; REUSED / BITS],
    /// The next index for a thread that finds all those taken. It is never reused.
    next: AtomicUsize,
}

impl Pool {
    const fn new() -> Self {
        Self {
            taken: [const { AtomicUsize::new(0) }; REUSED / BITS],
            next: AtomicUsize::new(REUSED),
        }
    }

    /// Takes the least free index. A larger one may be taken while others are returned.
    fn take(&self) -> usize {
        for (number, word) in self.taken.iter().enumerate() {
            // ORDERING: Relaxed: the value only selects a bit to try.
            let mut taken = word.load(Ordering::Relaxed);
            while taken != usize::MAX {
                let place = taken.trailing_ones() as usize;
                // ORDERING: Acquire pairs with the Release of `put_back`. All writes are RMWs, so
                // those in between continue its release sequence.
                taken = word.fetch_or(1 << place, Ordering::Acquire);
                if taken & (1 << place) == 0 {
                    return number * BITS + place;
                }
            }
        }
        // ORDERING: Relaxed: no thread has had this index.
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn put_back(&self, index: usize) {
        if let Some(word) = self.taken.get(index / BITS) {
            // ORDERING: Release pairs with the Acquire of the next `take`: everything that this
            // owner did happens before what the next one does.
            word.fetch_and(!(1 << (index % BITS)), Ordering::Release);
        }
    }
}

/// An index that no other living thread has. Dropping it puts it back.
struct Index(usize);

impl Drop for Index {
    fn drop(&mut self) {
        POOL.put_back(self.0);
    }
}

std::thread_local! {
    static INDEX: Index = Index(POOL.take());
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
    use core::sync::atomic::AtomicBool;
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

    #[test]
    fn the_least_free_index_is_taken_and_all_differ_where_none_is_free() {
        let pool = Pool::new();
        assert!((0..3 * REUSED).all(|index| pool.take() == index));
        for index in [70, 3, REUSED + 5] {
            pool.put_back(index);
        }
        assert_eq!([pool.take(), pool.take(), pool.take()], [3, 70, 3 * REUSED]);
    }

    #[test]
    fn raced_indices_have_one_owner() {
        const THREADS: usize = 4;
        let pool = Pool::new();
        let owned = [const { AtomicBool::new(false) }; THREADS];
        let race = || {
            // ORDERING: Relaxed, both: what an owner did happens before what the next one does.
            for _ in 0..100_000 {
                let index = pool.take();
                // One per thread is taken at most, and the least free one is tried first.
                assert!(!owned[index].swap(true, Ordering::Relaxed));
                owned[index].store(false, Ordering::Relaxed);
                pool.put_back(index);
            }
        };
        thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(race))));
    }
}
