//! Small numbers for threads, given back when they end.

use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};

use core::cmp::Reverse;

/// The numbers given back, and the least that was never given out.
static NUMBERS: Mutex<(BinaryHeap<Reverse<usize>>, usize)> = Mutex::new((BinaryHeap::new(), 0));

/// A number that no other living thread has.
struct Index(usize);

impl Index {
    fn take() -> Self {
        let mut numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
        let (free, next) = &mut *numbers;
        let number = free.pop().map_or(*next, |Reverse(number)| number);
        *next = (*next).max(number + 1);
        Self(number)
    }
}

impl Drop for Index {
    /// Under the mutex, so that all that the thread did happens before what the next owner does.
    fn drop(&mut self) {
        NUMBERS.lock().unwrap_or_else(PoisonError::into_inner).0.push(Reverse(self.0));
    }
}

std::thread_local! {
    static INDEX: Index = Index::take();
}

/// A number that no other living thread has, as small as can be: what the thread that had it before wrote
/// happens before what this one does. `usize::MAX`, which many share, where there is none to be had: without
/// `std`, in a model, in a thread that is being torn down.
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
    fn living_threads_have_different_numbers() {
        const THREADS: usize = 16;
        let barrier = Barrier::new(THREADS);
        let numbers: Vec<usize> = thread::scope(|scope| {
            let number = || {
                let number = index();
                barrier.wait();
                assert_eq!(index(), number);
                number
            };
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(number)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), THREADS);
    }

    /// The other tests run beside, but not a thousand threads of them.
    #[test]
    fn numbers_come_back() {
        let largest = (0..1000).map(|_| thread::spawn(index).join().unwrap()).max();
        assert!(largest < Some(500), "{largest:?}");
    }
}
