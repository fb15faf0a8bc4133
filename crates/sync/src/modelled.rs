//! A word of a filter, in a model: the same methods as `real`, over loom's atomic.
//!
//! It is also where the planted bugs live (see [`Mutant`]), so that no product code carries them.

use core::sync::atomic::Ordering;

use loom::sync::atomic::AtomicU64;

use crate::model::{Mutant, looks_are_plain, planted};

/// 64 bits of a filter, under the model checker.
#[derive(Debug)]
pub struct Word(AtomicU64);

impl Default for Word {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Word {
    /// A word that holds `bits`.
    #[must_use]
    pub fn new(bits: u64) -> Self {
        Self(AtomicU64::new(bits))
    }

    /// The bits, read as `order` says.
    #[must_use]
    pub fn load(&self, order: Ordering) -> u64 {
        let order = if planted(Mutant::LoadRelaxed) { Ordering::Relaxed } else { order };
        self.0.load(order)
    }

    /// Replaces the bits.
    pub fn store(&self, bits: u64, order: Ordering) {
        self.0.store(bits, order);
    }

    /// Sets the bits of `mask` and returns what the word held just before.
    #[expect(clippy::must_use_candidate, reason = "mostly called for its effect")]
    pub fn fetch_or(&self, mask: u64, order: Ordering) -> u64 {
        if planted(Mutant::LossyOr) {
            let old = self.0.load(order_of_load(order));
            self.0.store(old | mask, order_of_store(order));
            return old;
        }
        self.0.fetch_or(mask, order)
    }

    /// Adds to the number that the word is.
    #[expect(clippy::must_use_candidate, reason = "mostly called for its effect")]
    pub fn fetch_add(&self, number: u64, order: Ordering) -> u64 {
        self.0.fetch_add(number, order)
    }

    /// The bits, for a thread that goes on to update the word.
    ///
    /// Read by an RMW, which a model sees on both sides of its reduction: a load before the update would
    /// hide earlier loads by others (tokio-rs/loom#392). So it is never stale; a stale one would only
    /// make the real update go round once more.
    #[must_use]
    pub fn peek(&self) -> u64 {
        if looks_are_plain() {
            // ORDERING: Relaxed, as in the real one.
            return self.0.load(Ordering::Relaxed);
        }
        self.peek_to_update()
    }

    fn peek_to_update(&self) -> u64 {
        // ORDERING: Relaxed, as in the real one.
        self.0.fetch_or(0, Ordering::Relaxed)
    }

    /// Replaces the bits by what `change` makes of them.
    ///
    /// # Errors
    ///
    /// The bits for which `change` returned `None`.
    pub fn try_update(
        &self,
        order: Ordering,
        mut change: impl FnMut(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        let order = if planted(Mutant::UpdateRelaxed) { Ordering::Relaxed } else { order };
        let mut bits = self.peek_to_update();
        while let Some(new) = change(bits) {
            if planted(Mutant::LossyUpdate) {
                self.0.swap(new, order);
                return Ok(bits);
            }
            // ORDERING: as in the real one.
            match self.0.compare_exchange(bits, new, order, Ordering::Relaxed) {
                Ok(old) => return Ok(old),
                Err(now) => bits = now,
            }
        }
        Err(bits)
    }

    /// Adds 1 to the number that the word is, for the holder of its lock. An RMW, for the reason that
    /// [`unlock`](Self::unlock) gives.
    pub fn advance(&self, order: Ordering) {
        if planted(Mutant::NoAdvance) {
            return;
        }
        let order = if planted(Mutant::AdvanceRelaxed) { Ordering::Relaxed } else { order };
        if planted(Mutant::NoLock) {
            self.0.fetch_add(1, order);
            return;
        }
        // A swap, which takes nothing from the number before: an addition would make each advance
        // see all earlier ones, which the real store does not.
        self.0.swap(self.load_locked().wrapping_add(1), order);
    }

    /// The bits, read by the holder of the lock.
    ///
    /// loom panics if a write is not ordered before this read. It is no scheduling point, which
    /// also keeps loom's partial-order reduction sound (a load followed by a store of the same
    /// atomic would hide earlier loads by others: tokio-rs/loom#392).
    #[must_use]
    pub fn load_locked(&self) -> u64 {
        // SAFETY: the caller holds the lock on the word; loom checks that no other thread's write
        // is concurrent with this read, and fails the model if one is.
        unsafe { self.0.unsync_load() }
    }

    /// Takes the lock that `bit` of this word is, and returns the word without it.
    ///
    /// It waits by trying again, where the real one looks first: in a model a look may be stale for
    /// ever. So the real loop of looks is not modelled; it only delays the attempt.
    #[must_use]
    pub fn lock(&self, bit: u64, order: Ordering) -> u64 {
        if planted(Mutant::NoLock) {
            // ORDERING: Relaxed: the mutant's look.
            return self.0.load(Ordering::Relaxed);
        }
        let order = if planted(Mutant::LockRelaxed) { Ordering::Relaxed } else { order };
        let mut backoff = crate::Backoff::default();
        loop {
            // The word as the RMW found it: a read apart would be concurrent with the attempts of
            // those who wait, which rewrite the word unchanged, and loom would call that a race.
            let old = self.0.fetch_or(bit, order);
            if old & bit == 0 {
                return old;
            }
            backoff.wait();
        }
    }

    /// Replaces the bits and frees the lock among them.
    pub fn unlock(&self, bits: u64, order: Ordering) {
        if planted(Mutant::NoLock) {
            return;
        }
        let order = if planted(Mutant::UnlockRelaxed) { Ordering::Relaxed } else { order };
        // A swap and not a store: loom remembers an RMW on both sides of its reduction.
        self.0.swap(bits, order);
    }

    /// Changes the bits; `&mut self` proves that nobody else looks.
    pub fn update<R>(&mut self, change: impl FnOnce(&mut u64) -> R) -> R {
        self.0.with_mut(change)
    }
}

fn order_of_load(order: Ordering) -> Ordering {
    match order {
        Ordering::Release => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Acquire,
        other => other,
    }
}

fn order_of_store(order: Ordering) -> Ordering {
    match order {
        Ordering::Acquire => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Release,
        other => other,
    }
}
