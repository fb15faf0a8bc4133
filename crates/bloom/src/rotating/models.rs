//! loom models of the rotating filter: the claims of the protocol under every interleaving, and planted bugs that the
//! models must find.
//!
//! As in the models of the bits, a property is a function that takes the operation under test. The filters have one place,
//! one stripe and two live generations. The minimum of executions that a model must explore is about half of what it
//! explores now.

use std::sync::Mutex;

use tamis_sync::model::{Mutant, check, must_fail, must_fail_with, with_plain_looks};
use tamis_sync::thread::{Arc, spawn};
use tamis_sync::{Ordering, Word};

use super::array::Rotating;
use super::plan::Plan;
use super::state::Ring;
use crate::geometry::Geometry;
use crate::probe::line::Shape;

/// Words of the place, and bits in them.
type Pattern = &'static [(usize, u64)];

/// Two items that share no bit, and one of two words.
const X: Pattern = &[(1, 0b001)];
const Y: Pattern = &[(1, 0b010)];
const Z: Pattern = &[(1, 0b001), (2, 0b001)];

const SLOTS: usize = 3;
const GENERATIONS: u64 = 2;

const MISSED: &str = "an item in the window was missed";
const FOUND: &str = "a forgotten item was found";
const NOT_ONE: &str = "not exactly one insert returned that the item is new";
const LATE: &str = "a writer is more than one rotation late";
/// loom itself detects the unordered read under the lock.
const UNORDERED: &str = "Causality violation";
const LOST: &str = "a writer's bits were cleared";
const HALF: &str = "the copy has the state of another time than the end of its generation";

type Rotate = fn(&Rotating);
type Query = fn(&Rotating, Pattern) -> bool;

/// No insert completes a portion, so that only the model rotates.
const PLAN: Plan =
    Plan { items: u64::MAX, generations: 2, stripes: 1, portion: u64::MAX, length: None };

fn new() -> Rotating {
    let geometry = Geometry::of_lines(1, Shape { words: 1, probes: 1 }, false);
    Rotating::of_ring(Ring::zeroed(PLAN, 1).unwrap(), geometry)
}

/// A filter in state 2, which has forgotten Y: its bits are in the spare.
fn with_a_forgotten_item() -> Arc<Rotating> {
    let filter = new();
    assert!(insert(&filter, Y));
    rotate(&filter);
    rotate(&filter);
    Arc::new(filter)
}

fn insert(filter: &Rotating, pattern: Pattern) -> bool {
    let pattern = pattern.iter().copied();
    !filter.has(SLOTS, 0, pattern.clone(), false) && filter.ring.claim(SLOTS, 0, 0, pattern, false)
}

fn contains(filter: &Rotating, pattern: Pattern) -> bool {
    let live = filter.ring.state().live(SLOTS);
    filter.ring.holders(SLOTS, 0, pattern.iter().copied()) & live != 0
}

fn rotate(filter: &Rotating) {
    filter.ring.rotate();
}

fn rotations(filter: &Rotating) -> u64 {
    filter.ring.state().rotations()
}

// Claims 3 and 4: insert ‖ rotate ‖ query. The query misses no item in the window, and finds no forgotten one.

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
    a_query_sees_the_window(&with_a_forgotten_item(), Ordering::Release, contains);
}

#[test]
fn model_a_query_sees_the_window() {
    check(1300, Some(3), || a_query_of_a_new_filter(Ordering::Release));
    check(2900, Some(2), || a_query_during_a_clearing(contains));
}

#[test]
fn mutant_without_a_release_the_item_is_missed() {
    must_fail(MISSED, || check(1, Some(3), || a_query_of_a_new_filter(Ordering::Relaxed)));
}

#[test]
fn mutant_the_state_is_loaded_after_the_bits() {
    fn contains(filter: &Rotating, pattern: Pattern) -> bool {
        let holders = filter.ring.holders(SLOTS, 0, pattern.iter().copied());
        holders & filter.ring.state().live(SLOTS) != 0
    }
    must_fail(FOUND, || check(1, Some(2), move || a_query_during_a_clearing(contains)));
}

#[test]
fn mutant_the_state_is_loaded_relaxed() {
    must_fail_with(Mutant::LoadRelaxed, FOUND, || {
        check(1, Some(3), a_forgotten_item_is_not_found);
    });
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
    must_fail_with(Mutant::UnlockRelaxed, UNORDERED, || {
        check(1, Some(3), a_forgotten_item_is_not_found);
    });
}

#[test]
fn mutant_upkeep_without_a_lock() {
    must_fail_with(Mutant::NoLock, UNORDERED, || check(1, Some(3), a_forgotten_item_is_not_found));
}

// Claim 5: claim ‖ rotate ‖ claim has one winner.

fn exactly_one_claims(item: Pattern, insert: Query) {
    // The spare is clear, so that the rotation is only a store: the clearing has models of its own.
    let filter = Arc::new(new());
    let [racer, rotator] = [Arc::clone(&filter), Arc::clone(&filter)];
    let race = spawn(move || insert(&racer, item));
    let rotation = spawn(move || rotate(&rotator));
    let mine = insert(&filter, item);
    assert!(mine != race.join().unwrap(), "{NOT_ONE}");
    rotation.join().unwrap();
    assert!(!insert(&filter, item), "{NOT_ONE}");
}

#[test]
fn model_exactly_one_claims() {
    check(290, Some(2), || exactly_one_claims(X, insert));
    check(85, Some(1), || exactly_one_claims(Z, insert));
}

#[test]
fn mutant_a_claim_without_the_stripe() {
    must_fail_with(Mutant::NoLock, NOT_ONE, || check(1, Some(2), || exactly_one_claims(X, insert)));
}

#[test]
fn mutant_a_stripe_freed_relaxed() {
    must_fail_with(Mutant::UnlockRelaxed, NOT_ONE, || {
        check(1, Some(2), || exactly_one_claims(X, insert));
    });
}

#[test]
fn mutant_a_stripe_locked_relaxed() {
    must_fail_with(Mutant::LockRelaxed, NOT_ONE, || {
        check(1, Some(2), || exactly_one_claims(X, insert));
    });
}

/// The query before the stripe decides, not the one under it.
#[test]
fn mutant_the_query_before_the_stripe_decides() {
    fn insert(filter: &Rotating, pattern: Pattern) -> bool {
        let new = !contains(filter, pattern);
        filter.ring.claim(SLOTS, 0, 0, pattern.iter().copied(), false);
        new
    }
    must_fail(NOT_ONE, || check(1, Some(2), move || exactly_one_claims(X, insert)));
}

/// Each claim looks at its own generation only: after a rotation it finds nothing.
#[test]
fn mutant_a_claim_that_asks_one_generation() {
    fn insert(filter: &Rotating, pattern: Pattern) -> bool {
        let ring = &filter.ring;
        let held = ring.hold(0);
        let current = held.state.current();
        let new = ring.holders(SLOTS, 0, pattern.iter().copied()) >> current & 1 == 0;
        ring.write(SLOTS, 0, pattern.iter().copied(), current);
        new
    }
    must_fail(NOT_ONE, || check(1, Some(2), move || exactly_one_claims(X, insert)));
}

// Claims 1 and 2: late writer ‖ rotate, rotate, clear. While the writer holds its stripe, there is at most one rotation
// after its choice, and its bits stay.

fn a_late_writer_is_waited_for(rotate: Rotate, loads_first: bool) {
    let filter = Arc::new(new());
    let rotator = Arc::clone(&filter);
    // The rotations in the order of the execution, which loom does not see: a load of the state may be stale, and an RMW
    // would be a writer of the state without upkeep.
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
    must_fail(LOST, || check(1, None, move || a_late_writer_is_waited_for(rotate, false)));
}

#[test]
fn mutant_the_state_is_loaded_before_the_stripe_is_locked() {
    must_fail(LATE, || check(1, None, || a_late_writer_is_waited_for(rotate, true)));
}

#[test]
fn mutant_a_visit_that_frees_the_stripe_relaxed() {
    must_fail_with(Mutant::UnlockRelaxed, LATE, || {
        check(1, None, || a_late_writer_is_waited_for(rotate, false));
    });
}

// A copy has the items that are in the window at its end: copy ‖ rotate, rotate, clear.

fn a_copy_has_the_window() {
    let filter = Arc::new(new());
    assert!(insert(&filter, X));
    let rotator = Arc::clone(&filter);
    let thread = spawn(move || {
        rotate(&rotator);
        rotate(&rotator);
        rotate(&rotator);
    });
    let copy = filter.ring.copy().unwrap();
    let geometry = Geometry::of_lines(1, Shape { words: 1, probes: 1 }, false);
    let copy = Rotating::of_ring(copy, geometry);
    let is_live = rotations(&copy) < GENERATIONS;
    assert_eq!(contains(&copy, X), is_live, "{MISSED}");
    thread.join().unwrap();
}

#[test]
fn model_a_copy_has_the_window() {
    // As RMWs, the clearing's looks at 24 words would each be a value that the copy may load.
    with_plain_looks(|| check(28, Some(2), a_copy_has_the_window));
}

// The loads of the bits may be Relaxed since the copy takes upkeep, before and after: a copy that reads a zero comes after
// the clearing, by the lock.

#[test]
fn mutant_a_copy_under_upkeep_that_is_freed_relaxed() {
    must_fail_with(Mutant::UnlockRelaxed, UNORDERED, || {
        with_plain_looks(|| check(1, Some(2), a_copy_has_the_window));
    });
}

// A copy waits for upkeep: copy ‖ advance over two generations. The state and the end of its generation are of one moment.

const LENGTH: u64 = 10;

type Numbers = fn(&Rotating) -> (u64, u64);

/// The numbers of a copy: the rotations, and the end of the generation.
fn numbers_of_a_copy(filter: &Rotating) -> (u64, u64) {
    let numbers = filter.ring.copy().unwrap().numbers();
    (numbers.state.rotations(), numbers.due)
}

fn a_copy_is_not_of_the_middle_of_an_advance(numbers: Numbers) {
    let plan = Plan { length: Some(LENGTH), ..PLAN };
    let geometry = Geometry::of_lines(1, Shape { words: 1, probes: 1 }, false);
    let filter = Arc::new(Rotating::of_ring(Ring::zeroed(plan, 1).unwrap(), geometry));
    // The first generation is from 1 to 11.
    assert_eq!(filter.ring.advance(1), 0);
    let advancer = Arc::clone(&filter);
    let thread = spawn(move || {
        // Two generations are over: upkeep stores the state twice, and then the end of the third.
        assert_eq!(advancer.ring.advance(1 + 2 * LENGTH), 2);
    });
    let (rotations, due) = numbers(&filter);
    assert_eq!(due, 1 + (rotations + 1) * LENGTH, "{HALF}");
    thread.join().unwrap();
}

#[test]
fn model_a_copy_waits_for_upkeep() {
    with_plain_looks(|| {
        check(7, Some(2), || a_copy_is_not_of_the_middle_of_an_advance(numbers_of_a_copy));
    });
}

#[test]
fn mutant_a_copy_that_does_not_wait_for_upkeep() {
    fn numbers(filter: &Rotating) -> (u64, u64) {
        let (state, due) = filter.ring.state_and_due();
        (state.rotations(), due)
    }
    must_fail(HALF, || {
        with_plain_looks(|| {
            check(1, Some(2), || a_copy_is_not_of_the_middle_of_an_advance(numbers));
        });
    });
}
