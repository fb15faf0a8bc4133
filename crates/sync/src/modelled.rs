//! A word of a filter under the model checker: the methods of `real.rs`, over loom's atomic.
//!
//! The planted bugs are in this file (see [`Mutant`]), so that no product code contains them.

use core::sync::atomic::Ordering;

use loom::sync::atomic::AtomicU64;

use crate::model::{Mutant, peek_is_load, planted};

/// 64 bits of a filter, under the model checker.
#[derive(Debug)]
pub struct Word(AtomicU64);

impl Default for Word {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Word {
    /// Creates a word with these bits.
    #[must_use]
    pub fn new(bits: u64) -> Self {
        Self(AtomicU64::new(bits))
    }

    /// Loads the bits.
    #[must_use]
    pub fn load(&self, order: Ordering) -> u64 {
        let order = if planted(Mutant::LoadRelaxed) { Ordering::Relaxed } else { order };
        self.0.load(order)
    }

    /// Stores the bits.
    pub fn store(&self, bits: u64, order: Ordering) {
        let order = if planted(Mutant::StoreRelaxed) { Ordering::Relaxed } else { order };
        self.0.store(bits, order);
    }

    /// Sets the bits of `mask` and returns the previous bits.
    #[expect(clippy::must_use_candidate, reason = "mostly called for its effect")]
    pub fn fetch_or(&self, mask: u64, order: Ordering) -> u64 {
        if planted(Mutant::LossyOr) {
            let old = self.0.load(order_of_load(order));
            self.0.store(old | mask, order_of_store(order));
            return old;
        }
        self.0.fetch_or(mask, order)
    }

    /// Adds to the word as a number and returns the previous number.
    #[expect(clippy::must_use_candidate, reason = "mostly called for its effect")]
    pub fn fetch_add(&self, number: u64, order: Ordering) -> u64 {
        let order = if planted(Mutant::AddRelaxed) { Ordering::Relaxed } else { order };
        self.0.fetch_add(number, order)
    }

    /// Returns the bits as a guess for an update.
    ///
    /// An RMW instead of the real word's load: loom's reduction sees an RMW both as a load and as a
    /// store, while a load before the update would hide earlier loads of other threads
    /// (tokio-rs/loom#392). So the result is never stale here. In the real word a stale guess only
    /// makes the update loop run once more.
    #[must_use]
    pub fn peek(&self) -> u64 {
        if peek_is_load() {
            // ORDERING: Relaxed, as in the real word.
            return self.0.load(Ordering::Relaxed);
        }
        self.peek_to_update()
    }

    fn peek_to_update(&self) -> u64 {
        // ORDERING: Relaxed, as in the real word.
        self.0.fetch_or(0, Ordering::Relaxed)
    }

    /// Replaces the bits by the result of `change`.
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
        // An RMW even while `peek` is a plain load: here it comes before an update of the same
        // word.
        let mut bits = self.peek_to_update();
        while let Some(new) = change(bits) {
            if planted(Mutant::LossyUpdate) {
                // Writes without comparing.
                self.0.swap(new, order);
                return Ok(bits);
            }
            // ORDERING: as in the real word.
            match self.0.compare_exchange(bits, new, order, Ordering::Relaxed) {
                Ok(old) => return Ok(old),
                Err(now) => bits = now,
            }
        }
        Err(bits)
    }

    /// Replaces the bits by others, if they are `from`. Returns whether they were.
    #[must_use]
    pub fn exchange(&self, [from, to]: [u64; 2], order: Ordering) -> bool {
        let order = if planted(Mutant::UpdateRelaxed) { Ordering::Relaxed } else { order };
        // ORDERING: as in the real word.
        self.0.compare_exchange(from, to, order, Ordering::Relaxed).is_ok()
    }

    /// Adds 1 to the word as a number; the caller holds its lock. An RMW, for the same reason as in
    /// [`unlock`](Self::unlock).
    pub fn advance(&self, order: Ordering) {
        if planted(Mutant::NoAdvance) {
            return;
        }
        let order = if planted(Mutant::AdvanceRelaxed) { Ordering::Relaxed } else { order };
        if planted(Mutant::NoLock) {
            // Without the lock loom would report `load_locked` as a race.
            self.0.fetch_add(1, order);
            return;
        }
        // A swap of a number loaded under the lock, and not an addition: an addition always
        // continues from the last number, so each advance would include all earlier ones. The real
        // store does not.
        self.0.swap(self.load_locked().wrapping_add(1), order);
    }

    /// Loads the bits for the holder of the lock.
    ///
    /// loom panics if a write is not ordered before this load. The load is no scheduling point.
    /// That also keeps loom's partial-order reduction sound: a load followed by a store of the same
    /// atomic would hide earlier loads of other threads (tokio-rs/loom#392).
    #[must_use]
    pub fn load_locked(&self) -> u64 {
        // SAFETY: the caller holds the lock of the word. loom checks that no other thread's write
        // is concurrent with this load, and fails the model if one is.
        unsafe { self.0.unsync_load() }
    }

    /// Takes the lock in `bit` and returns the other bits.
    ///
    /// A waiter here repeats the RMW. The real word's waiter first loads until the lock looks free,
    /// which only delays its next attempt; a model cannot contain that loop, because its loads may
    /// stay stale for ever.
    #[must_use]
    pub fn lock(&self, bit: u64, order: Ordering) -> u64 {
        if planted(Mutant::NoLock) {
            // ORDERING: Relaxed: the mutant takes no lock.
            return self.0.load(Ordering::Relaxed);
        }
        let order = if planted(Mutant::LockRelaxed) { Ordering::Relaxed } else { order };
        let mut backoff = crate::backoff::Backoff::default();
        loop {
            // Sets the lock bit. The result of this RMW is also the word to return. A separate load
            // would race with the RMWs of waiters, which rewrite the word unchanged, and loom would
            // report that race.
            let old = self.0.fetch_or(bit, order);
            if old & bit == 0 {
                // The bit was clear before: this thread has the lock.
                return old;
            }
            // Another thread holds the lock: let it run.
            backoff.wait();
        }
    }

    /// Stores the bits, and with them the clear lock bit.
    pub fn unlock(&self, bits: u64, order: Ordering) {
        if planted(Mutant::NoLock) {
            return;
        }
        if order == Ordering::Relaxed {
            // The real word's store ends the release sequence of the holder before. A swap would go
            // on with it, and publish the writes of that holder although this one frees the lock
            // Relaxed. (A planted mutant keeps the swap: with a store loom does not get through
            // models whose threads wait for each other.)
            self.0.store(bits, order);
            return;
        }
        let order = if planted(Mutant::UnlockRelaxed) { Ordering::Relaxed } else { order };
        // A swap and not a store: loom's reduction sees an RMW both as a load and as a store.
        self.0.swap(bits, order);
    }

    /// Changes the bits. `&mut self` proves that no other thread accesses the word.
    pub fn update<R>(&mut self, change: impl FnOnce(&mut u64) -> R) -> R {
        self.0.with_mut(change)
    }
}

/// Returns the part of an RMW's ordering that its load has.
fn order_of_load(order: Ordering) -> Ordering {
    match order {
        Ordering::Release => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Acquire,
        other => other,
    }
}

/// Returns the part of an RMW's ordering that its store has.
fn order_of_store(order: Ordering) -> Ordering {
    match order {
        Ordering::Acquire => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Release,
        other => other,
    }
}
