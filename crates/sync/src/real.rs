//! A word of a filter, on the metal: a thin name for the machine's 64-bit atomic.

use core::sync::atomic::{AtomicU64, Ordering};

/// 64 bits of a filter, shared by all threads.
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
    /// A word that holds `bits`.
    #[inline]
    #[must_use]
    pub const fn new(bits: u64) -> Self {
        Self(AtomicU64::new(bits))
    }

    /// The bits, read as `order` says.
    #[inline]
    #[must_use]
    pub fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }

    /// Replaces the bits. Whatever another thread wrote since they were read is lost, so this is
    /// for a thread that holds a lock on the word.
    #[inline]
    pub fn store(&self, bits: u64, order: Ordering) {
        self.0.store(bits, order);
    }

    /// Sets the bits of `mask` and returns what the word held just before.
    #[inline]
    pub fn fetch_or(&self, mask: u64, order: Ordering) -> u64 {
        self.0.fetch_or(mask, order)
    }

    /// The bits, read by the thread that holds the lock on this word.
    ///
    /// The same as a Relaxed load; under loom it also checks that the lock really orders the read
    /// after every write made under it.
    #[inline]
    #[must_use]
    pub fn load_locked(&self) -> u64 {
        // ORDERING: Relaxed: the lock was taken with Acquire from the Release of its last holder, and
        // only holders change the bits: there is nothing newer to see.
        self.0.load(Ordering::Relaxed)
    }

    /// Takes the lock that `bit` of this word is, waiting for it if need be, and returns the word
    /// without it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_sync::Word;
    /// let word = Word::new(5);
    /// let bits = word.lock(1 << 63);
    /// assert_eq!(bits, 5);
    /// word.unlock(bits | 2);
    /// assert_eq!(word.lock(1 << 63), 7);
    /// ```
    #[inline]
    #[must_use]
    pub fn lock(&self, bit: u64) -> u64 {
        // ORDERING: Acquire pairs with the Release in `unlock` of the last holder: all that it wrote
        // under the lock is seen from here on. A failed attempt rewrites the word as it is. Only the
        // one bit of the old value is used, which lets x86 do it by one `lock bts`.
        while self.0.fetch_or(bit, Ordering::Acquire) & bit != 0 {
            self.wait(bit);
        }
        self.load_locked() & !bit
    }

    /// Waits until the lock looks free.
    #[cold]
    fn wait(&self, bit: u64) {
        let mut backoff = crate::Backoff::default();
        // ORDERING: Relaxed: a hint; the RMW in `lock` decides.
        while self.0.load(Ordering::Relaxed) & bit != 0 {
            backoff.wait();
        }
    }

    /// Replaces the bits and frees the lock among them: the last act of its holder.
    #[inline]
    pub fn unlock(&self, bits: u64) {
        // ORDERING: Release pairs with the Acquire in `lock` of the next holder: it sees every
        // store made under the lock before this one.
        self.0.store(bits, Ordering::Release);
    }

    /// Changes the bits without an atomic operation: `&mut self` proves that nobody else looks.
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
