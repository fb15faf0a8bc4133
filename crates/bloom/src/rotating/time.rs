//! The time of a window: readings of the clock, and the rotations that they make. The numbers in
//! `ORDERING` comments are the claims of the protocol.

use tamis_sync::Ordering;

use super::clock::Clock;
use super::plan::Plan;
use super::state::{LOCK, Ring};

impl Ring {
    /// Takes a reading of the clock, rotates as often as is due, and returns how often this call
    /// did.
    #[inline]
    pub(crate) fn advance(&self, now: u64) -> u64 {
        // ORDERING: Relaxed: an old floor calls for nothing that is not decided again under upkeep,
        // or leaves out a reading that comes concurrently with a change of the clock.
        let in_time = self.now.floor.load(Ordering::Relaxed) <= now;
        // ORDERING: Acquire pairs with the Release in `publish`: if another thread moved the time
        // here, its rotations are visible (7).
        if in_time && now < self.now.wake.load(Ordering::Acquire) {
            0
        } else {
            self.advance_now(now)
        }
    }

    #[inline(never)]
    pub(super) fn advance_now(&self, now: u64) -> u64 {
        let Some(length) = self.plan.length else { return 0 };
        // ORDERING: Acquire pairs with the Release in `publish`: if no rotation is due since
        // another thread has made it, it is visible (7).
        let mut done = if now < self.upkeep.wait.load(Ordering::Acquire) {
            // Only a portion of upkeep, or a suspect reading, unless another thread is at it.
            let Some(done) = self.try_upkeep(LOCK) else { return 0 };
            done
        } else {
            self.lock_upkeep()
        };
        // The clock is loaded under upkeep: a thread that waited finds the rotations made.
        let mut clock = self.locked_clock();
        let ended = clock.read(now, length);
        // After a rotation for each live generation nothing is left to forget.
        let rotations = ended.unwrap_or(0).min(u64::from(self.plan.generations));
        for _ in 0..rotations {
            self.rotated(self.locked_state(), done);
            done = 0;
        }
        if ended == Some(0) {
            done = self.prepare(done, Plan::due_at(clock.elapsed(length), length, self.units()));
        }
        // ORDERING: Release: a thread that sees the time sees the rotations (7).
        self.publish(&clock, length, Ordering::Release);
        self.unlock_upkeep(done);
        rotations
    }

    /// Stores the clock, after the rotations up to it, for the thread that has upkeep. `release` is
    /// Release but in mutants.
    pub(super) fn publish(&self, clock: &Clock, length: u64, release: Ordering) {
        for (to, word) in self.upkeep.clock.iter().zip(clock.words()) {
            // ORDERING: Relaxed: upkeep orders it.
            to.store(word, Ordering::Relaxed);
        }
        // ORDERING: Release, both, pairs with the Acquire in `advance_now` and in `advance`: a
        // thread that sees the time sees the rotations (7).
        self.upkeep.wait.store(clock.wait(), release);
        self.now.wake.store(clock.wake(length), release);
        // ORDERING: Relaxed, as in `advance`.
        self.now.floor.store(clock.floor(length), Ordering::Relaxed);
    }

    /// Forgets the time: the next reading is taken as the first.
    pub(crate) fn forget_time(&self) {
        let Some(length) = self.plan.length else { return };
        let done = self.lock_upkeep();
        // ORDERING: Release, as in `advance_now`.
        self.publish(&self.locked_clock().forgotten(), length, Ordering::Release);
        self.unlock_upkeep(done);
    }

    /// Returns how often suspect readings of the time took over.
    pub(crate) fn clock_changes(&self) -> u64 {
        let done = self.lock_upkeep();
        let changes = self.locked_clock().changes;
        self.unlock_upkeep(done);
        changes
    }
}
