//! A word of a filter on the real machine: a 64-bit atomic with the operations that filters need.
//! Under `--cfg tamis_shuttle` the same code runs on shuttle's atomic, so that its loops are
//! tested, too.

#[cfg(not(tamis_shuttle))]
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering;

#[cfg(tamis_shuttle)]
use shuttle::sync::atomic::AtomicU64;

/// A 64-bit atomic word of a filter, shared by all threads.
///
/// # Examples
///
/// ```
/// use tamis_sync::{Ordering, Word};
///
/// let word = Word::new(0b01);
/// // ORDERING: Relaxed, there is one thread.
/// assert_eq!(word.fetch_or(0b10, Ordering::Relaxed), 0b01);
/// // ORDERING: Relaxed, there is one thread.
/// assert_eq!(word.load(Ordering::Relaxed), 0b11);
/// ```
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Word(AtomicU64);

impl Word {
    /// Creates a word with these bits.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::{Ordering, Word};
    /// let word = Word::new(1);
    /// // ORDERING: Relaxed, there is one thread.
    /// assert_eq!(word.load(Ordering::Relaxed), 1);
    /// ```
    #[inline]
    #[must_use]
    pub const fn new(bits: u64) -> Self {
        Self(AtomicU64::new(bits))
    }

    /// Loads the bits.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::{Ordering, Word};
    /// let word = Word::new(1);
    /// // ORDERING: Relaxed, there is one thread.
    /// assert_eq!(word.load(Ordering::Relaxed), 1);
    /// ```
    #[inline]
    #[must_use]
    pub fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }

    /// Stores the bits. A concurrent write of another thread would be lost, so this is for the only
    /// writer, such as the holder of a lock on the word.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::{Ordering, Word};
    /// let word = Word::new(1);
    /// // ORDERING: Relaxed, there is one thread.
    /// word.store(2, Ordering::Relaxed);
    /// ```
    #[inline]
    pub fn store(&self, bits: u64, order: Ordering) {
        self.0.store(bits, order);
    }

    /// Sets the bits of `mask` and returns the previous bits.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::{Ordering, Word};
    /// let word = Word::new(1);
    /// // ORDERING: Relaxed, there is one thread.
    /// assert_eq!(word.fetch_or(2, Ordering::Relaxed), 1);
    /// ```
    #[inline]
    pub fn fetch_or(&self, mask: u64, order: Ordering) -> u64 {
        self.0.fetch_or(mask, order)
    }

    /// Adds to the word as a number, wrapping around, and returns the previous number.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::{Ordering, Word};
    /// let word = Word::new(1);
    /// // ORDERING: Relaxed, there is one thread.
    /// assert_eq!(word.fetch_add(2, Ordering::Relaxed), 1);
    /// ```
    #[inline]
    pub fn fetch_add(&self, number: u64, order: Ordering) -> u64 {
        self.0.fetch_add(number, order)
    }

    /// Replaces the bits by the result of `change` in one atomic step, and returns the previous
    /// bits. If `change` returns `None`, nothing is written.
    ///
    /// `order` is the ordering of the write; the bits are loaded Relaxed. `change` is called again
    /// if another thread changed the bits meanwhile.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::{Ordering, Word};
    /// let word = Word::new(1);
    /// let double = |bits| if bits < 2 { Some(2 * bits) } else { None };
    /// // ORDERING: Relaxed, there is one thread.
    /// assert_eq!(word.try_update(Ordering::Relaxed, double), Ok(1));
    /// // ORDERING: likewise.
    /// assert_eq!(word.try_update(Ordering::Relaxed, double), Err(2));
    /// ```
    ///
    /// # Errors
    ///
    /// The bits for which `change` returned `None`.
    #[inline]
    pub fn try_update(
        &self,
        order: Ordering,
        mut change: impl FnMut(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        // A failed exchange returns the current bits, the next guess.
        let mut bits = self.peek();
        while let Some(new) = change(bits) {
            // ORDERING: the write has the caller's ordering; a failure only returns the next guess.
            match self.0.compare_exchange_weak(bits, new, order, Ordering::Relaxed) {
                Ok(old) => return Ok(old),
                Err(now) => bits = now,
            }
        }
        Err(bits)
    }

    /// Replaces the bits by others, if they are `from`, in one atomic step. Returns whether they
    /// were. `order` is the ordering of the write.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::{Ordering, Word};
    /// let word = Word::new(1);
    /// // ORDERING: Relaxed, there is one thread.
    /// assert!(word.exchange([1, 2], Ordering::Relaxed));
    /// // ORDERING: likewise.
    /// assert!(!word.exchange([1, 3], Ordering::Relaxed));
    /// ```
    #[inline]
    #[must_use]
    pub fn exchange(&self, [from, to]: [u64; 2], order: Ordering) -> bool {
        // ORDERING: the write has the caller's ordering; a failure returns nothing that was read.
        self.0.compare_exchange(from, to, order, Ordering::Relaxed).is_ok()
    }

    /// Returns the bits as a guess for [`try_update`](Self::try_update), or to decide whether to
    /// call it. A Relaxed load.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Word::new(1).peek(), 1);
    /// ```
    #[inline]
    #[must_use]
    pub fn peek(&self) -> u64 {
        // ORDERING: Relaxed: a guess; the exchange in the update checks it.
        self.0.load(Ordering::Relaxed)
    }

    /// Adds 1 to the word as a number, for a thread that holds a lock: every write of the word
    /// needs that lock.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::{Ordering, Word};
    /// let word = Word::new(1);
    /// // ORDERING: Release, as a version number needs; there is one thread.
    /// word.advance(Ordering::Release);
    /// // ORDERING: Relaxed, there is one thread.
    /// assert_eq!(word.load(Ordering::Relaxed), 2);
    /// ```
    #[inline]
    pub fn advance(&self, order: Ordering) {
        self.0.store(self.load_locked().wrapping_add(1), order);
    }

    /// Loads the bits, for the thread that holds the lock on this word.
    ///
    /// The same as a Relaxed load. Under loom it also checks that the lock orders this load after
    /// every write made under the lock.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Word::new(1).load_locked(), 1);
    /// ```
    #[inline]
    #[must_use]
    pub fn load_locked(&self) -> u64 {
        // ORDERING: Relaxed: this thread took the lock with Acquire from the Release of its last
        // holder, and only holders change the bits: no newer value exists.
        self.0.load(Ordering::Relaxed)
    }

    /// Takes the lock in `bit` of this word, waits for it if necessary, and returns the other bits.
    /// A failed attempt rewrites the word unchanged.
    ///
    /// `order` must be Acquire, so that this thread sees what the last holder wrote. The caller
    /// passes it, so that the caller's models check the ordering that is used.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::{Ordering, Word};
    /// let word = Word::new(5);
    /// // ORDERING: Acquire and Release, as a lock is; there is one thread.
    /// let bits = word.lock(1 << 63, Ordering::Acquire);
    /// assert_eq!(bits, 5);
    /// word.unlock(bits | 2, Ordering::Release);
    /// assert_eq!(word.lock(1 << 63, Ordering::Acquire), 7);
    /// ```
    #[inline]
    #[must_use]
    pub fn lock(&self, bit: u64, order: Ordering) -> u64 {
        // Set the lock bit. If it was clear before, this thread has the lock. The rest of the old
        // value is not used, so that x86 needs only one `lock bts`.
        while self.0.fetch_or(bit, order) & bit != 0 {
            // Another thread holds it. Wait until it looks free, then try again.
            self.wait(bit);
        }
        // Now only this thread changes the other bits.
        self.load_locked() & !bit
    }

    /// Waits until the lock looks free.
    #[cold]
    fn wait(&self, bit: u64) {
        let mut backoff = crate::backoff::Backoff::default();
        // Waiters only load: repeated RMWs would take the cache line away from the holder.
        // ORDERING: Relaxed: a hint; the RMW in `lock` decides.
        while self.0.load(Ordering::Relaxed) & bit != 0 {
            backoff.wait();
        }
    }

    /// Stores the bits, with the lock bit clear, and thereby releases the lock.
    ///
    /// `order` must be Release, so that the next holder sees all stores made under the lock.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::{Ordering, Word};
    /// let word = Word::new(0);
    /// // ORDERING: Acquire and Release, as a lock is; there is one thread.
    /// let bits = word.lock(1, Ordering::Acquire);
    /// word.unlock(bits, Ordering::Release);
    /// ```
    #[inline]
    pub fn unlock(&self, bits: u64, order: Ordering) {
        self.0.store(bits, order);
    }

    /// Changes the bits without an atomic operation: `&mut self` proves that no other thread
    /// accesses the word.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::{Ordering, Word};
    /// let mut word = Word::new(1);
    /// word.update(|bits| *bits |= 2);
    /// // ORDERING: Relaxed, there is one thread.
    /// assert_eq!(word.load(Ordering::Relaxed), 3);
    /// ```
    #[inline]
    pub fn update<R>(&mut self, change: impl FnOnce(&mut u64) -> R) -> R {
        change(self.0.get_mut())
    }
}
