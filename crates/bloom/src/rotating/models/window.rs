//! Claims 1 to 4 under loom: what a query sees of the window, and late writers.

use std::sync::Mutex;

use tamis_sync::model::{Mutant, check, must_fail, must_fail_with};
use tamis_sync::thread::{Arc, spawn};
use tamis_sync::{Ordering, Word};

use super::{FOUND, GENERATIONS, MISSED, Pattern, Query, Rotate, SLOTS, UNORDERED, X, Y};
use super::{contains, insert, new, rotate, rotations};
use crate::rotating::array::Rotating;

const LATE: &str = "a writer is more than one rotation late";
const LOST: &str = "a writer's bits were cleared";

/// A filter in state 2, which has forgotten Y: its bits are in the spare.
fn with_a_forgotten_item() -> Arc<Rotating> {
    let filter = new();
    assert!(insert(&filter, Y));
    rotate(&filter);
    rotate(&filter);
    Arc::new(filter)
}

// Claims 3 and 4: insert ‖ rotate ‖ query. The query misses no item in the window, and finds no
// forgotten one.

fn a_query_sees_the_window(filter: &Arc<Rotating>, publish: Ordering, contains: Query) {
    let flag = Arc::new(Word::new(0));
    let [inserter, rotator] = [Arc::clone(filter), Arc::clone(filter)];
    let published = Arc::clone(&flag);
    let threads = [
        spawn(move || {
            insert(&inserter, X);
            published.store(1, publish);
        }),
        spawn(move || rotate(&rotator)),
    ];
    // ORDERING: Acquire pairs with the store of `published`, if that is a Release.
    let inserted = flag.load(Ordering::Acquire) == 1;
    let found = contains(filter, X);
    assert!(found || !inserted, "{MISSED}");
    assert!(!contains(filter, Y), "{FOUND}");
    for thread in threads {
        thread.join().unwrap();
    }
    // One rotation is less than the window has.
    assert!(contains(filter, X), "{MISSED}");
    assert!(!contains(filter, Y), "{FOUND}");
}

fn a_query_of_a_new_filter(publish: Ordering) {
    a_query_sees_the_window(&Arc::new(new()), publish, contains);
}

fn a_query_during_a_clearing(contains: Query) {
    // ORDERING: Release pairs with the Acquire load of `flag`.
    a_query_sees_the_window(&with_a_forgotten_item(), Ordering::Release, contains);
}

#[test]
fn model_a_query_sees_the_window() {
    // ORDERING: Release, likewise.
    check(1300, Some(3), || a_query_of_a_new_filter(Ordering::Release));
    check(2900, Some(2), || a_query_during_a_clearing(contains));
}

#[test]
fn mutant_without_a_release_the_item_is_missed() {
    // ORDERING: Relaxed is the defect: nothing pairs with the Acquire load of `flag`.
    must_fail(MISSED, Some(3), || a_query_of_a_new_filter(Ordering::Relaxed));
}

#[test]
fn mutant_the_state_is_loaded_after_the_bits() {
    fn contains(filter: &Rotating, pattern: Pattern) -> bool {
        let holders = filter.ring.holders(SLOTS, 0, pattern.iter().copied());
        holders & filter.ring.state().live(SLOTS) != 0
    }
    must_fail(FOUND, Some(2), move || a_query_during_a_clearing(contains));
}

#[test]
fn mutant_the_state_is_loaded_relaxed() {
    must_fail_with(Mutant::LoadRelaxed, FOUND, Some(3), a_forgotten_item_is_not_found);
}

/// Claim 4 alone: rotate ‖ rotate ‖ query.
fn a_forgotten_item_is_not_found() {
    let filter = with_a_forgotten_item();
    let threads = [(); 2].map(|()| {
        let filter = Arc::clone(&filter);
        spawn(move || rotate(&filter))
    });
    assert!(!contains(&filter, Y), "{FOUND}");
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(rotations(&filter), 4);
}

#[test]
fn model_a_forgotten_item_is_not_found() {
    check(1200, Some(3), a_forgotten_item_is_not_found);
}

#[test]
fn mutant_upkeep_is_freed_relaxed() {
    must_fail_with(Mutant::UnlockRelaxed, UNORDERED, Some(3), a_forgotten_item_is_not_found);
}

#[test]
fn mutant_upkeep_without_a_lock() {
    must_fail_with(Mutant::NoLock, UNORDERED, Some(3), a_forgotten_item_is_not_found);
}

// Claims 1 and 2: late writer ‖ rotate, rotate, clear. While the writer holds its stripe, there is
// at most one rotation after its choice, and its bits stay.

fn a_late_writer_is_waited_for(rotate: Rotate, loads_first: bool) {
    let filter = Arc::new(new());
    let rotator = Arc::clone(&filter);
    // The rotations in the order of the execution, which loom does not see: a load of the state may
    // be stale, and an RMW would be a writer of the state without upkeep.
    let rotated = std::sync::Arc::new(Mutex::new(0));
    let counter = std::sync::Arc::clone(&rotated);
    let thread = spawn(move || {
        // The third one clears the slot of generation 0.
        for _ in 0..3 {
            rotate(&rotator);
            *counter.lock().unwrap() += 1;
        }
    });
    let ring = &filter.ring;
    let early = ring.state();
    let held = ring.hold(0);
    let choice = if loads_first { early } else { held.state };
    ring.write(SLOTS, 0, X.iter().copied(), choice.current());
    // ORDERING: Relaxed: an update reads the last value in the order of the word's changes.
    let word = ring.lines.word(SLOTS + choice.current()).fetch_or(0, Ordering::Relaxed);
    assert_eq!(word, 1, "{LOST}");
    assert!(*rotated.lock().unwrap() <= choice.rotations() + 1, "{LATE}");
    drop(held);
    thread.join().unwrap();
    let is_live = choice.rotations() + GENERATIONS > rotations(&filter);
    assert_eq!(contains(&filter, X), is_live, "{FOUND} or {MISSED}");
}

#[test]
fn model_a_late_writer_is_waited_for() {
    check(480, None, || a_late_writer_is_waited_for(rotate, false));
}

/// Clears and rotates without a visit of the stripes.
#[test]
fn mutant_no_grace_period() {
    fn rotate(filter: &Rotating) {
        filter.ring.rotate_from(1);
    }
    must_fail(LOST, None, move || a_late_writer_is_waited_for(rotate, false));
}

#[test]
fn mutant_the_state_is_loaded_before_the_stripe_is_locked() {
    must_fail(LATE, None, || a_late_writer_is_waited_for(rotate, true));
}

#[test]
fn mutant_a_visit_that_frees_the_stripe_relaxed() {
    must_fail_with(Mutant::UnlockRelaxed, LATE, None, || {
        a_late_writer_is_waited_for(rotate, false);
    });
}
