//! Locks in cache lines of their own, each for the items whose keys select it.

use core::fmt;
use core::sync::atomic::Ordering;

use crate::line::Line;
use crate::lines::{AllocError, Lines};
use crate::word::Word;

/// The lock bit, in the first word of a stripe.
const LOCK: u64 = 1;

/// An array of locks, called stripes: one per cache line. An item's key selects its stripe, so that
/// operations on the same item exclude each other, and operations on different items seldom do.
///
/// The other seven words of a stripe's line are for data that belongs to the stripe:
/// [`StripeGuard::word`].
///
/// # Examples
///
/// ```
/// use tamis_sync::{Ordering, Stripes};
///
/// let stripes = Stripes::zeroed(16)?;
/// let index = stripes.index(0x1234);
/// // ORDERING: Acquire and Release, as a lock is.
/// let guard = stripes.lock(index, Ordering::Acquire, Ordering::Release);
/// // ORDERING: Relaxed: the lock orders the accesses.
/// guard.word(1).store(5, Ordering::Relaxed);
/// # Ok::<(), tamis_sync::AllocError>(())
/// ```
pub struct Stripes(Lines);

impl Stripes {
    /// Creates free locks. Their number is rounded up to a power of two, at least 1.
    ///
    /// # Errors
    ///
    /// [`AllocError`] if the allocation failed.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Stripes::zeroed(100)?.len(), 128);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    pub fn zeroed(count: u64) -> Result<Self, AllocError> {
        // On overflow this requests an impossible number of lines, which fails as an allocation
        // does.
        Lines::zeroed(count.checked_next_power_of_two().unwrap_or(u64::MAX)).map(Self)
    }

    /// Returns the number of stripes.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Stripes::zeroed(0)?.len(), 1);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[expect(clippy::len_without_is_empty, reason = "there is at least one")]
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the stripe of a key: its low bits.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Stripes::zeroed(16)?.index(0x35), 5);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn index(&self, key: u64) -> usize {
        key as usize & (self.0.len() - 1)
    }

    /// Prefetches the line of a stripe, for a lock.
    ///
    /// # Examples
    ///
    /// ```
    /// tamis_sync::Stripes::zeroed(16)?.prefetch(3);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline]
    pub fn prefetch(&self, index: usize) {
        self.stripe(index).prefetch_to_write();
    }

    /// Locks a stripe, and waits for it if necessary. The guard frees it.
    ///
    /// `acquire` must be Acquire and `release` Release, so that the holders of a stripe are
    /// ordered. The caller passes them, so that the caller's models check the orderings that are
    /// used. An index beyond the last stripe selects the stripe of its low bits.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::{Ordering, Stripes};
    ///
    /// let stripes = Stripes::zeroed(1)?;
    /// // ORDERING: Acquire and Release, as a lock is.
    /// drop(stripes.lock(0, Ordering::Acquire, Ordering::Release));
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline]
    pub fn lock(&self, index: usize, acquire: Ordering, release: Ordering) -> StripeGuard<'_> {
        let line = self.stripe(index);
        // ORDERING: the caller's.
        let _ = line.words[0].lock(LOCK, acquire);
        StripeGuard { line, release }
    }

    #[inline]
    fn stripe(&self, index: usize) -> &Line {
        // The number of stripes is a power of two.
        &self.0[index & (self.0.len() - 1)]
    }

    /// Returns a word of each stripe's data, by its number from 1 to 7, while other threads may
    /// hold the stripes.
    ///
    /// # Panics
    ///
    /// If `number` is 0, the lock's own word, or above 7.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::{Ordering, Stripes};
    ///
    /// let stripes = Stripes::zeroed(4)?;
    /// // ORDERING: Relaxed, there is one thread.
    /// let sum: u64 = stripes.words(1).map(|word| word.load(Ordering::Relaxed)).sum();
    /// assert_eq!(sum, 0);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    pub fn words(&self, number: usize) -> impl Iterator<Item = &Word> {
        assert_ne!(number, 0, "the word of the lock");
        self.0.iter().map(move |line| &line.words[number])
    }
}

/// Prints the number of stripes.
impl fmt::Debug for Stripes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stripes").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// The lock of one stripe, held until the guard is dropped.
#[must_use = "the stripe is free again when the guard is dropped"]
#[derive(Debug)]
pub struct StripeGuard<'s> {
    line: &'s Line,
    release: Ordering,
}

impl StripeGuard<'_> {
    /// Returns a word of the stripe's data, by its number from 1 to 7.
    ///
    /// # Panics
    ///
    /// If `number` is 0, the lock's own word, or above 7.
    #[inline]
    #[must_use]
    pub fn word(&self, number: usize) -> &Word {
        assert_ne!(number, 0, "the word of the lock");
        &self.line.words[number]
    }
}

impl Drop for StripeGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        // ORDERING: the caller's.
        self.line.words[0].unlock(0, self.release);
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use super::*;

    /// Four threads add to the data of a stripe by a load and a store: without the lock, additions
    /// are lost.
    #[test]
    fn holders_exclude_each_other() {
        const ADDITIONS: u64 = 20_000;
        let stripes = Stripes::zeroed(2).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for number in 0..ADDITIONS {
                        // ORDERING: Acquire and Release: a lock.
                        let index = stripes.index(number);
                        let guard = stripes.lock(index, Ordering::Acquire, Ordering::Release);
                        let sum = guard.word(1);
                        // ORDERING: Relaxed, both: the lock orders them.
                        sum.store(sum.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                    }
                });
            }
        });
        // ORDERING: Relaxed: the threads have ended.
        let sums = stripes.words(1).map(|word| word.load(Ordering::Relaxed));
        assert!(sums.eq([2 * ADDITIONS; 2]));
    }
}
