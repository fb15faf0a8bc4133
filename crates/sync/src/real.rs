//! A word of a filter, on the metal: a thin name for the machine's 64-bit atomic. Under
//! `--cfg tamis_shuttle` the same code runs on shuttle's, so that its loops are tested too.

#[cfg(not(tamis_shuttle))]
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering;

#[cfg(tamis_shuttle)]
use shuttle::sync::atomic::AtomicU64;

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

    /// The bits, read as `order` says.
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

    /// Replaces the bits. Whatever another thread wrote since they were read is lost, so this is
    /// for a thread that holds a lock on the word.
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

    /// Sets the bits of `mask` and returns what the word held just before.
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

    /// Adds to the number that the word is, wrapping around, and returns what it was.
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

    /// Replaces the bits by what `change` makes of them, in one atomic step, and returns what they
    /// were. If `change` declines, nothing is written, and the bits that it declined are the error.
    ///
    /// `order` is that of the write; the bits are read Relaxed. `change` is called again when
    /// another thread was faster.
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
        let mut bits = self.peek();
        while let Some(new) = change(bits) {
            // ORDERING: the write as the caller says; a failure only gives the next guess.
            match self.0.compare_exchange_weak(bits, new, order, Ordering::Relaxed) {
                Ok(old) => return Ok(old),
                Err(now) => bits = now,
            }
        }
        Err(bits)
    }

    /// The bits, for a thread that goes on to [`try_update`](Self::try_update) this word, or wants to know
    /// whether to: as a Relaxed load.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Word::new(1).peek(), 1);
    /// ```
    #[inline]
    #[must_use]
    pub fn peek(&self) -> u64 {
        // ORDERING: Relaxed: a guess; the update that follows makes sure of it.
        self.0.load(Ordering::Relaxed)
    }

    /// Adds 1 to the number that the word is: for the thread that holds the lock under which alone it
    /// is written.
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

    /// The bits, read by the thread that holds the lock on this word.
    ///
    /// The same as a Relaxed load; under loom it also checks that the lock really orders the read
    /// after every write made under it.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Word::new(1).load_locked(), 1);
    /// ```
    #[inline]
    #[must_use]
    pub fn load_locked(&self) -> u64 {
        // ORDERING: Relaxed: the lock was taken with Acquire from the Release of its last holder, and
        // only holders change the bits: there is nothing newer to see.
        self.0.load(Ordering::Relaxed)
    }

    /// Takes the lock that `bit` of this word is, waiting for it if need be, and returns the word
    /// without it. A failed attempt rewrites the word as it is.
    ///
    /// `order` is to be Acquire, to see what the last holder wrote. It is the caller's to name, so
    /// that the caller's models check the one that is used.
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
        // Only the one bit of the old value is used, which lets x86 do it by one `lock bts`.
        while self.0.fetch_or(bit, order) & bit != 0 {
            self.wait(bit);
        }
        self.load_locked() & !bit
    }

    /// Waits until the lock looks free.
    #[cold]
    fn wait(&self, bit: u64) {
        let mut backoff = crate::Backoff::default();
        // ORDERING: Relaxed: a look; the RMW in `lock` decides.
        while self.0.load(Ordering::Relaxed) & bit != 0 {
            backoff.wait();
        }
    }

    /// Replaces the bits and frees the lock among them: the last act of its holder.
    ///
    /// `order` is to be Release, so that the next holder sees all stores made under the lock.
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
