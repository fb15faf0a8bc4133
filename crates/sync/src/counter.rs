//! A sharded counter: each thread adds to a cache line of its own.
//!
//! MEASURED: a locked addition takes 6 ns of the 18 ns of a cuckoo filter's insert, more than the
//! load and store used here (Sapphire Rapids).

use core::fmt;
use core::sync::atomic::Ordering;

use crate::line::LINE_BYTES;
use crate::lines::{AllocError, Lines};
use crate::thread;

/// A sharded counter: a number kept as the sum of several shards, one per cache line. A thread adds
/// to the shard that its [`index`](thread::index) selects.
///
/// If a thread's index is below the number of shards, no other living thread writes the first word
/// of its shard, and it adds with a plain load and store. All other threads, and all threads
/// without `std`, add to the second words with atomic additions. (A signal handler must not add: it
/// shares the index of the thread that it interrupts.)
///
/// The count includes every addition that happened before [`get`](Self::get), and it is exact if no
/// thread adds concurrently. While threads add, `get` reads the shards one after another, so it may
/// include a later addition or subtraction and miss an earlier one. A sum below zero counts as
/// zero.
///
/// # Examples
///
/// ```
/// let counter = tamis_sync::Counter::zeroed(4)?;
/// counter.add(3);
/// counter.subtract(1);
/// assert_eq!(counter.get(), 2);
/// # Ok::<(), tamis_sync::AllocError>(())
/// ```
pub struct Counter(Lines);

impl Counter {
    /// Creates a counter at zero. The number of shards is rounded up to a power of two, at least 1.
    ///
    /// # Errors
    ///
    /// [`AllocError`] if the allocation failed.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Counter::zeroed(1)?.get(), 0);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    pub fn zeroed(shards: u64) -> Result<Self, AllocError> {
        // On overflow this requests an impossible number of lines, which fails as an allocation
        // does.
        Lines::zeroed(shards.checked_next_power_of_two().unwrap_or(u64::MAX)).map(Self)
    }

    /// Adds to the shard of the calling thread.
    ///
    /// # Examples
    ///
    /// ```
    /// # let counter = tamis_sync::Counter::zeroed(1)?;
    /// counter.add(3);
    /// assert_eq!(counter.get(), 3);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline]
    pub fn add(&self, number: u64) {
        let index = thread::index();
        if let Some(shard) = self.0.get(index) {
            // This thread is the only one that writes the first word: no locked instruction is
            // needed.
            let own = &shard.words[0];
            // ORDERING: Relaxed, both: only this thread has the index, and what the index's last
            // owner wrote happened before; so the load returns the newest value. The number
            // publishes nothing else.
            own.store(own.load(Ordering::Relaxed).wrapping_add(number), Ordering::Relaxed);
        } else {
            // More threads than shards, or no index: several threads may share the second word of a
            // shard.
            // ORDERING: Relaxed: an RMW loses no addition.
            self.0[index & (self.0.len() - 1)].words[1].fetch_add(number, Ordering::Relaxed);
        }
    }

    /// Subtracts from the shard of the calling thread. The shard wraps around if other shards hold
    /// what is subtracted; the sum does not.
    ///
    /// # Examples
    ///
    /// ```
    /// # let counter = tamis_sync::Counter::zeroed(1)?;
    /// counter.add(3);
    /// counter.subtract(2);
    /// assert_eq!(counter.get(), 1);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline]
    pub fn subtract(&self, number: u64) {
        self.add(number.wrapping_neg());
    }

    /// Returns the sum of all shards. `O(shards)`.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Counter::zeroed(1)?.get(), 0);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[must_use]
    pub fn get(&self) -> u64 {
        // ORDERING: Relaxed: coherence shows every addition that happened before.
        let words = self.0.iter().flat_map(|line| &line.words[..2]);
        let numbers = words.map(|word| word.load(Ordering::Relaxed));
        // A shard may have wrapped around; the wrapping sum undoes it.
        let sum = numbers.fold(0, u64::wrapping_add);
        // The upper half of the range stands for sums below zero: the loop saw a subtraction but
        // missed its addition.
        if sum > u64::MAX / 2 { 0 } else { sum }
    }

    /// Sets the count. `&mut self` proves that no other thread adds.
    ///
    /// # Examples
    ///
    /// ```
    /// # let mut counter = tamis_sync::Counter::zeroed(4)?;
    /// counter.set(5);
    /// assert_eq!(counter.get(), 5);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    pub fn set(&mut self, number: u64) {
        // Zero all shards, then let the first one hold the whole count.
        for line in &mut *self.0 {
            line.words[..2].iter_mut().for_each(|word| word.update(|bits| *bits = 0));
        }
        self.0[0].words[0].update(|bits| *bits = number);
    }

    /// Returns the size of the shards in bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Counter::zeroed(3)?.size_in_bytes(), 256);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        (self.0.len() * LINE_BYTES) as u64
    }
}

/// Prints the count.
impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Counter").field(&self.get()).finish()
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use super::*;
    use crate::thread::{Arc, spawn};

    #[test]
    fn concurrent_additions_are_all_counted() {
        let counter = Arc::new(Counter::zeroed(4).unwrap());
        let threads = [1_u64, 2, 3, 4, 5, 6].map(|number| {
            let counter = Arc::clone(&counter);
            spawn(move || {
                for _ in 0..1000 {
                    counter.add(2 * number);
                    counter.subtract(number);
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(counter.get(), 21_000);
    }

    #[test]
    fn one_thread_subtracts_what_another_added() {
        let counter = Arc::new(Counter::zeroed(64).unwrap());
        counter.add(10);
        let other = Arc::clone(&counter);
        spawn(move || other.subtract(4)).join().unwrap();
        assert_eq!(counter.get(), 6);
        counter.subtract(7);
        assert_eq!(counter.get(), 0);
    }
}
