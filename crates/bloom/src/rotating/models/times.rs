//! Claim 7 under loom: time passes once, and after an `advance` the thread finds nothing that is
//! too old.

use tamis_sync::model::{check, must_fail, with_plain_looks};
use tamis_sync::thread::{Arc, spawn};
use tamis_sync::{Ordering, Word};

use super::counts::TWICE;
use super::{FOUND, PLAN, Y, contains, insert, of_plan, rotations};
use crate::rotating::array::Rotating;
use crate::rotating::clock::Clock;
use crate::rotating::plan::Plan;
use crate::rotating::state::{LOCK, Ring};

// Claim 7: advance ‖ advance, to the same time, two generations later. Together they rotate twice,
// and the first that returns has forgotten what is old.

pub(super) const LENGTH: u64 = 10;

type Advance = fn(&Rotating, u64) -> u64;

/// As [`Advance`], and sets a word to 1 (Relaxed) at a moment at which the other thread shall run.
type First = fn(&Rotating, u64, &Word) -> u64;

pub(super) fn advance(filter: &Rotating, now: u64) -> u64 {
    filter.ring.advance(now)
}

fn advance_first(filter: &Rotating, now: u64, reached: &Word) -> u64 {
    let rotations = advance(filter, now);
    // ORDERING: Relaxed; the word leads loom, and must order nothing.
    reached.store(1, Ordering::Relaxed);
    rotations
}

/// The steps of [`Ring::advance_now`] with a clock, a moment before upkeep is free, and an
/// ordering.
fn advance_by(ring: &Ring, mut clock: Clock, now: u64, reached: &Word, release: Ordering) -> u64 {
    let ended = clock.read(now, LENGTH).unwrap();
    for _ in 0..ended {
        ring.rotated(ring.locked_state(), 0);
    }
    ring.publish(&clock, LENGTH, release);
    // ORDERING: Relaxed, as in `advance_first`.
    reached.store(1, Ordering::Relaxed);
    ring.unlock_upkeep(0);
    ended
}

fn advance_halfway(filter: &Rotating, now: u64, reached: &Word) -> u64 {
    let ring = &filter.ring;
    ring.lock_upkeep();
    // ORDERING: Release, as in `advance_now`.
    advance_by(ring, ring.locked_clock(), now, reached, Ordering::Release)
}

/// A window by time, whose first generation is from 1 to 11.
pub(super) fn by_time() -> Rotating {
    let filter = of_plan(Plan { length: Some(LENGTH), ..PLAN });
    assert_eq!(advance(&filter, 1), 0);
    filter
}

fn time_passes_once(first: First, second: Advance) {
    let now = 1 + 2 * LENGTH;
    let filter = Arc::new(by_time());
    assert!(insert(&filter, Y));
    let reached = Arc::new(Word::new(0));
    let (other, reaches) = (Arc::clone(&filter), Arc::clone(&reached));
    let thread = spawn(move || first(&other, now, &reaches));
    // ORDERING: Relaxed. It orders nothing, but makes loom run the other thread up to here: later
    // stores of this thread to the words of the time would hide its loads of them from loom's
    // reduction.
    let _ = reached.load(Ordering::Relaxed);
    let mine = second(&filter, now);
    assert!(!contains(&filter, Y), "{FOUND}");
    assert_eq!(mine + thread.join().unwrap(), 2, "{TWICE}");
    assert_eq!(rotations(&filter), 2, "{TWICE}");
}

#[test]
fn model_time_passes_once() {
    with_plain_looks(|| {
        check(75, Some(2), || time_passes_once(advance_first, advance));
        check(59, Some(2), || time_passes_once(advance_halfway, advance));
    });
}

fn must_fail_in_time(message: &str, first: First, second: Advance) {
    with_plain_looks(|| must_fail(message, Some(2), move || time_passes_once(first, second)));
}

#[test]
fn mutant_wake_is_loaded_relaxed() {
    fn relaxed(filter: &Rotating, now: u64) -> u64 {
        // ORDERING: Relaxed is what is wrong here; the code has Acquire.
        let in_time = now < filter.ring.now.wake.load(Ordering::Relaxed);
        if in_time { 0 } else { filter.ring.advance_now(now) }
    }
    must_fail_in_time(FOUND, advance_first, relaxed);
}

#[test]
fn mutant_wake_is_stored_relaxed() {
    fn relaxed(filter: &Rotating, now: u64, reached: &Word) -> u64 {
        let ring = &filter.ring;
        ring.lock_upkeep();
        // ORDERING: Relaxed is what is wrong here; the code has Release.
        advance_by(ring, ring.locked_clock(), now, reached, Ordering::Relaxed)
    }
    must_fail_in_time(FOUND, relaxed, advance);
}

/// An old `wake` and a new `wait`, while the other thread still has upkeep: this one would return
/// without an Acquire.
#[test]
fn mutant_wait_is_loaded_relaxed() {
    fn relaxed(filter: &Rotating, now: u64) -> u64 {
        let ring = &filter.ring;
        // ORDERING: Relaxed is what is wrong here; the code has Acquire.
        if now < ring.upkeep.wait.load(Ordering::Relaxed) {
            let Some(done) = ring.try_upkeep(LOCK) else { return 0 };
            ring.unlock_upkeep(done);
        }
        ring.advance_now(now)
    }
    must_fail_in_time(FOUND, advance_halfway, relaxed);
}

#[test]
fn mutant_the_clock_is_loaded_before_the_lock() {
    fn early(filter: &Rotating, now: u64) -> u64 {
        let ring = &filter.ring;
        // ORDERING: Acquire, as in the code; the defect is that the lock is taken later.
        let word = |number: usize| ring.upkeep.clock[number].load(Ordering::Acquire);
        let clock = Clock::of_words(core::array::from_fn(word));
        ring.lock_upkeep();
        // ORDERING: Release, as in the code.
        advance_by(ring, clock, now, &Word::new(0), Ordering::Release)
    }
    must_fail_in_time(TWICE, advance_first, early);
}
