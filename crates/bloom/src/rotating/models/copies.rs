//! Copies under loom: what they have of the window, and of the time.

use tamis_sync::Ordering;
use tamis_sync::model::{Mutant, check, must_fail, must_fail_with, with_plain_looks};
use tamis_sync::thread::{Arc, spawn};

use super::times::{LENGTH, advance, by_time};
use super::{FOUND, GENERATIONS, MISSED, SLOTS, UNORDERED, X};
use super::{contains, insert, new, of_ring, rotate, rotations};
use crate::rotating::array::Rotating;
use crate::rotating::state::Ring;

const HALF: &str = "the copy has the state of another time than the end of its generation";

// A copy has the items that are in the window at its end, and no others, also not in its spare:
// copy ‖ rotate, rotate.

type Copy = fn(&Ring) -> Ring;

fn copy(ring: &Ring) -> Ring {
    ring.copy().unwrap()
}

/// X is inserted `age` rotations before the copy begins.
fn a_copy_has_the_window(age: usize, copy: Copy) {
    let filter = Arc::new(new());
    assert!(insert(&filter, X));
    (0..age).for_each(|_| rotate(&filter));
    let rotator = Arc::clone(&filter);
    let thread = spawn(move || {
        (age..3).for_each(|_| rotate(&rotator));
    });
    let copy = of_ring(copy(&filter.ring));
    let is_live = rotations(&copy) < GENERATIONS;
    assert_eq!(contains(&copy, X), is_live, "{MISSED} or {FOUND}");
    thread.join().unwrap();
    // The copy rotates on its own. What it forgets does not come back.
    while rotations(&copy) < GENERATIONS {
        rotate(&copy);
    }
    for _ in 0..SLOTS {
        assert!(!contains(&copy, X), "{FOUND}");
        rotate(&copy);
    }
}

#[test]
fn model_a_copy_has_the_window() {
    // As RMWs, the clearing's looks at 24 words would each be a value that the copy may load.
    with_plain_looks(|| {
        check(28, Some(2), || a_copy_has_the_window(0, copy));
        check(9, Some(2), || a_copy_has_the_window(1, copy));
    });
}

#[test]
fn mutant_a_copy_that_keeps_one_generation_too_many() {
    fn copy(ring: &Ring) -> Ring {
        let (mut lines, before) = ring.copy_live().unwrap();
        let numbers = ring.numbers();
        let passed = numbers.state.rotations() - before.state.rotations();
        ring.drop_forgotten(&mut lines, before.state, passed.saturating_sub(1));
        Ring::of_lines(ring.plan, ring.places(), lines, numbers, true).unwrap()
    }
    with_plain_looks(|| must_fail(FOUND, Some(2), move || a_copy_has_the_window(1, copy)));
}

// The loads of the bits may be Relaxed since the copy takes upkeep, before and after: a copy that
// reads a zero comes after the clearing, by the lock.

#[test]
fn mutant_a_copy_under_upkeep_that_is_freed_relaxed() {
    with_plain_looks(|| {
        must_fail_with(Mutant::UnlockRelaxed, UNORDERED, Some(2), || {
            a_copy_has_the_window(0, copy);
        });
    });
}

// A copy waits for upkeep: copy ‖ advance over two generations. The state and the end of its
// generation are of one moment.

type Numbers = fn(&Rotating) -> (u64, u64);

/// The numbers of a copy: the rotations, and the end of the generation.
fn numbers_of_a_copy(filter: &Rotating) -> (u64, u64) {
    let numbers = copy(&filter.ring).numbers();
    (numbers.state.rotations(), numbers.due)
}

fn a_copy_is_not_of_the_middle_of_an_advance(numbers: Numbers) {
    let filter = Arc::new(by_time());
    let advancer = Arc::clone(&filter);
    let thread = spawn(move || {
        // Two generations are over: upkeep stores the state twice, and then the end of the third.
        assert_eq!(advance(&advancer, 1 + 2 * LENGTH), 2);
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
        // Without suspect readings this is the end of the generation.
        // ORDERING: Acquire, as in `advance_now`; what is missing is the lock of upkeep.
        (rotations(filter), filter.ring.upkeep.wait.load(Ordering::Acquire))
    }
    with_plain_looks(|| {
        must_fail(HALF, Some(2), || a_copy_is_not_of_the_middle_of_an_advance(numbers));
    });
}
