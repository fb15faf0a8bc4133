//! The splits of a table that grows: any thread splits, and any thread completes the split of
//! another.
//!
//! A split is a freeze and a commit of the parent, with the birth of the upper child in between.
//! After those of a portion, the pointer moves. After those of a level, each lock is taken once
//! (the *sweep*) before the next level begins, so that no holder of a lock meets a third level.

use core::ops::Range;

use tamis_sync::{Backoff, Ordering, thread};

use crate::growth::layout::{FROZEN, UNBORN, halves, tag, tag_of_level, with_tag};
use crate::growth::plan::SPLITTERS;
use crate::growth::pointer::Pointer;
use crate::growth::table::Table;

/// The number of locks that one call takes in a sweep: a bound on the time of an insert.
const SWEEP_LOCKS: u32 = 64;

/// The number of attempts to split a portion with short waits between them, up to a yield: one to
/// two milliseconds.
pub(crate) const SHORT_ATTEMPTS: u32 =
    if cfg!(any(tamis_loom, tamis_shuttle)) { 1 } else { 1 << 12 };

/// The number of further attempts, a millisecond apart, before an insert that finds no room returns
/// an error. A thread that waits for a core on a busy machine, or whose container has used up its
/// share of time, mostly goes on within a fraction of this second.
const LONG_ATTEMPTS: u32 = if cfg!(any(tamis_loom, tamis_shuttle)) { 1 } else { 1000 };

/// The result of an attempt to split a portion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// A portion was split.
    Split,
    /// The sweep goes on.
    Swept,
    /// Another thread holds a lock that is needed.
    Busy,
    /// The table has its last size.
    Ended,
}

/// Why a table did not grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrowError {
    /// The table has its last size.
    Ended,
    /// A thread stopped that holds a lock.
    Stalled,
}

impl Table {
    /// Splits a portion, and waits a bounded time for other threads.
    #[cold]
    pub(crate) fn grow(&self) -> Result<(), GrowError> {
        self.grow_in(&mut 0)
    }

    /// As [`grow`](Self::grow), and counts the attempts after which it waited.
    pub(crate) fn grow_in(&self, attempts: &mut u32) -> Result<(), GrowError> {
        let mut backoff = Backoff::default();
        while *attempts < SHORT_ATTEMPTS + LONG_ATTEMPTS {
            match self.split_portion() {
                Progress::Split => return Ok(()),
                Progress::Ended => return Err(GrowError::Ended),
                Progress::Swept => {}
                Progress::Busy => {
                    *attempts += 1;
                    if *attempts <= SHORT_ATTEMPTS {
                        backoff.wait();
                    } else if self.has_stalled_here() {
                        // An insert has waited long enough for the same thread, so this one, and
                        // all further ones of a batch, do not.
                        break;
                    } else {
                        backoff.sleep();
                    }
                }
            }
        }
        // ORDERING: Relaxed: a hint.
        self.stalled.store(self.stall(), Ordering::Relaxed);
        Err(GrowError::Stalled)
    }

    /// Returns whether growth stalled before, and has made no step since.
    pub(crate) fn has_stalled_here(&self) -> bool {
        // ORDERING: Relaxed: a hint.
        self.stalled.load(Ordering::Relaxed) == self.stall()
    }

    /// Returns a number that names the step at which growth is.
    fn stall(&self) -> u64 {
        // ORDERING: Relaxed: a hint.
        let sweep = self.sweep.load(Ordering::Relaxed);
        self.pointer().bits() ^ sweep.rotate_left(32)
    }

    /// Splits the buckets of one portion, or takes some locks of a sweep. Waits for nobody.
    pub(crate) fn split_portion(&self) -> Progress {
        let pointer = self.pointer();
        // ORDERING: Acquire pairs with the AcqRel of `sweep_on`: after the last lock, no holder of
        // any lock knows less than that the level before has ended (claim 4).
        let sweep = Pointer::of(self.sweep.load(Ordering::Acquire));
        if pointer == self.plan.last() {
            Progress::Ended
        } else if sweep.level < pointer.level || sweep.next != self.all_locks() {
            // Without a lock: a sweep takes every one.
            self.sweep_on(sweep)
        } else {
            self.split_next_portion()
        }
    }

    /// Splits the buckets of the portion at the pointer, under the lock of a splitter.
    fn split_next_portion(&self) -> Progress {
        // 1. Take any of the locks, beginning with one of this thread's own.
        let first = thread::index() as u64;
        let locks = (0..SPLITTERS).map(|at| self.stripes() + (first.wrapping_add(at)) % SPLITTERS);
        let Some(lock) = locks.into_iter().find(|&lock| self.try_lock(lock)) else {
            return Progress::Busy;
        };
        let progress = self.split_next_portion_locked();
        self.unlock(lock);
        progress
    }

    /// As [`split_next_portion`](Self::split_next_portion), by the holder of such a lock.
    pub(crate) fn split_next_portion_locked(&self) -> Progress {
        // 2. Read the pointer, then the sweep, under the lock (rule 14).
        let pointer = self.pointer();
        // ORDERING: Acquire, as in `split_portion`.
        let sweep = Pointer::of(self.sweep.load(Ordering::Acquire));
        let may_split = Pointer { level: pointer.level, next: self.all_locks() };
        if sweep != may_split || pointer == self.plan.last() {
            return Progress::Busy;
        }
        // 3. Split each bucket of the portion.
        self.portion_at(pointer).for_each(|number| self.split(pointer.level, number));
        // 4. Move the pointer.
        self.publish(pointer);
        Progress::Split
    }

    /// Splits the bucket with this number among those of its level, unless that has been done.
    /// After it, the caller has loaded the bucket with the tag of the next level.
    pub(crate) fn split(&self, level: u32, number: u64) {
        let shape = *self.shape(level);
        loop {
            // An Acquire load, which pairs with the Release of a commit: whoever moves the pointer
            // has seen the births (claim 6).
            let bucket = self.bucket(number);
            match tag(bucket, shape) {
                tag if tag == tag_of_level(level) => self.freeze(level, number, bucket),
                FROZEN => self.complete_split(level, number, bucket),
                _ => return,
            }
        }
    }

    /// Freezes the bucket with this number among those of its level, if it has this value.
    fn freeze(&self, level: u32, number: u64, bucket: u128) {
        let frozen = with_tag(bucket, FROZEN, *self.shape(level));
        // ORDERING: Release: a reader that sees the bucket frozen sees that this level has begun
        // (claim 5).
        let _ = self.words.exchange(number, [bucket, frozen], Ordering::Release);
    }

    /// Freezes a bucket and does not go on.
    #[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
    pub(crate) fn freeze_only(&self, level: u32, number: u64) {
        let bucket = self.bucket(number);
        self.freeze(level, number, bucket);
    }

    /// Completes the split of a frozen bucket of this value (rules 15 and 16). The caller holds a
    /// lock since before it loaded the value.
    pub(crate) fn complete_split(&self, level: u32, number: u64, frozen: u128) {
        let [lower, upper] = halves(frozen, level, *self.shape(level), *self.shape(level + 1));
        // The birth. If it fails, another thread made it; then the child may have changed since.
        let child = (self.plan.positions() << level) + number;
        // ORDERING: Relaxed: a thread reaches the child through the commit only (claim 6).
        let _ = self.words.exchange(child, [0, upper], Ordering::Relaxed);
        // The commit.
        // ORDERING: Release: the tag shows the child (claim 6).
        let _ = self.words.exchange(number, [frozen, lower], Ordering::Release);
        const { assert!(UNBORN == 0) };
    }

    /// Returns the numbers of the buckets of a portion.
    pub(crate) const fn portion_at(&self, pointer: Pointer) -> Range<u64> {
        pointer.next..pointer.next + self.portion
    }

    /// Returns the pointer behind a portion.
    pub(crate) const fn behind_portion(&self, pointer: Pointer) -> Pointer {
        let next = pointer.next + self.portion;
        if next == self.plan.positions() << pointer.level {
            Pointer { level: pointer.level + 1, next: 0 }
        } else {
            Pointer { next, ..pointer }
        }
    }

    /// Moves the pointer behind a portion, whose buckets the caller has loaded split.
    fn publish(&self, pointer: Pointer) {
        let next = self.behind_portion(pointer);
        // ORDERING: AcqRel pairs with the Acquire of `pointer`: whoever loads it knows the births
        // of this portion and of all before it (claim 6).
        let _ = self
            .pointer
            .try_update(Ordering::AcqRel, |bits| (bits == pointer.bits()).then(|| next.bits()));
    }

    /// Takes and frees some locks, if nobody holds them, so that the level of the pointer may be
    /// split. `sweep` was loaded after the pointer reached that level. The caller holds no lock.
    fn sweep_on(&self, mut sweep: Pointer) -> Progress {
        for _ in 0..SWEEP_LOCKS {
            let next = if sweep.next == self.all_locks() {
                // The first step: the pointer has reached the level after that of the sweep.
                if self.pointer().level == sweep.level {
                    return Progress::Swept;
                }
                Pointer { level: sweep.level + 1, next: 0 }
            } else {
                if !self.try_lock(sweep.next) {
                    return Progress::Busy;
                }
                self.unlock(sweep.next);
                Pointer { next: sweep.next + 1, ..sweep }
            };
            // ORDERING: AcqRel: the exchanges form one chain, through which the last one happens
            // after every lock was taken, and each lock after the level has ended (claim 4).
            let (from, to) = (sweep.bits(), next.bits());
            let changed =
                self.sweep.try_update(Ordering::AcqRel, |bits| (bits == from).then_some(to));
            sweep = match changed {
                Ok(_) => next,
                // ORDERING: Acquire, as in `split_portion`.
                Err(_) => Pointer::of(self.sweep.load(Ordering::Acquire)),
            };
        }
        Progress::Swept
    }
}
