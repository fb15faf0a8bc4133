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
use super::clock::Clock;
use super::plan::Plan;
use super::state::{LOCK, Ring, UNCOUNTED, UNCOUNTED_BITS, uncounted};
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
const TWICE: &str = "two threads rotated for one generation";
const UNCOUNTED_ITEM: &str = "an item was not counted";

type Rotate = fn(&Rotating);
type Query = fn(&Rotating, Pattern) -> bool;

/// No insert completes a portion, so that only the model rotates.
const PLAN: Plan =
    Plan { items: u64::MAX, generations: 2, stripes: 1, portion: u64::MAX, length: None };

fn new() -> Rotating {
    of_plan(PLAN)
}

fn of_plan(plan: Plan) -> Rotating {
    of_ring(Ring::zeroed(plan, 1).unwrap())
}

fn of_ring(ring: Ring) -> Rotating {
    Rotating::of_ring(ring, Geometry::of_lines(1, Shape { words: 1, probes: 1 }, false))
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

// A copy has the items that are in the window at its end, and no others, also not in its spare: copy ‖ rotate, rotate.

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
    must_fail(FOUND, || {
        with_plain_looks(|| check(1, Some(2), move || a_copy_has_the_window(1, copy)));
    });
}

// The loads of the bits may be Relaxed since the copy takes upkeep, before and after: a copy that reads a zero comes after
// the clearing, by the lock.

#[test]
fn mutant_a_copy_under_upkeep_that_is_freed_relaxed() {
    must_fail_with(Mutant::UnlockRelaxed, UNORDERED, || {
        with_plain_looks(|| check(1, Some(2), || a_copy_has_the_window(0, copy)));
    });
}

// Claim 6: every item is counted, and a generation ends for one thread only.

/// Inserts Y as the operation under test does: under the stripe, with its count.
type Insert = fn(&Rotating, Pattern);

fn insert_new(filter: &Rotating, pattern: Pattern) {
    assert!(insert(filter, pattern), "{NOT_ONE}");
}

/// Returns the items that are counted in the current generation, and those that lie in it.
fn counted(filter: &Rotating) -> (u64, u64) {
    let numbers = filter.ring.numbers();
    let lies = |pattern: Pattern| {
        let holders = filter.ring.holders(SLOTS, 0, pattern.iter().copied());
        u64::from(holders >> numbers.state.current() & 1)
    };
    (numbers.counted, lies(X) + lies(Y))
}

/// Insert ‖ insert, in one stripe, which adds each item to the shared counter, or none.
fn each_item_is_counted(portion: u64, insert: Insert) {
    let filter = Arc::new(of_plan(Plan { portion, ..PLAN }));
    let other = Arc::clone(&filter);
    let thread = spawn(move || insert(&other, X));
    insert(&filter, Y);
    thread.join().unwrap();
    assert_eq!(counted(&filter), (2, 2), "{UNCOUNTED_ITEM}");
}

#[test]
fn model_each_item_is_counted() {
    check(11, None, || each_item_is_counted(u64::MAX, insert_new));
    check(43, None, || each_item_is_counted(1, insert_new));
}

#[test]
fn mutant_an_item_counted_after_its_stripe_is_freed() {
    fn insert(filter: &Rotating, pattern: Pattern) {
        let ring = &filter.ring;
        let held = ring.hold(0);
        let state = held.state;
        ring.write(SLOTS, 0, pattern.iter().copied(), state.current());
        drop(held);
        let word = ring.stripes.words(UNCOUNTED).next().unwrap();
        let count = uncounted(word.load(Ordering::Relaxed), state) + 1;
        word.store(state.rotations() << UNCOUNTED_BITS | count, Ordering::Release);
    }
    must_fail(UNCOUNTED_ITEM, || check(1, None, move || each_item_is_counted(u64::MAX, insert)));
}

/// Insert ‖ rotate: an item of the new generation counts in it, whatever its slot counted before.
fn a_new_generation_counts_from_zero(rotate: Rotate) {
    let filter = Arc::new(of_plan(Plan { portion: 1, ..PLAN }));
    let rotator = Arc::clone(&filter);
    let thread = spawn(move || rotate(&rotator));
    insert_new(&filter, X);
    thread.join().unwrap();
    let (counted, lies) = counted(&filter);
    assert_eq!(counted, lies, "{UNCOUNTED_ITEM}");
}

#[test]
fn model_a_new_generation_counts_from_zero() {
    check(35, None, || a_new_generation_counts_from_zero(rotate));
}

#[test]
fn mutant_the_count_is_reset_after_the_state() {
    fn rotate(filter: &Rotating) {
        let ring = &filter.ring;
        let done = ring.lock_upkeep();
        ring.prepare(done, ring.units());
        let next = ring.locked_state().next(SLOTS);
        ring.now.state.store(next.word(), Ordering::Release);
        ring.counts[next.current()].store(0, Ordering::Relaxed);
        ring.unlock_upkeep(0);
    }
    must_fail(UNCOUNTED_ITEM, || check(1, None, move || a_new_generation_counts_from_zero(rotate)));
}

/// Insert ‖ insert, where one item fills a generation: each generation that has ended has one.
fn a_generation_ends_once(insert: Insert) {
    let filter = Arc::new(of_plan(Plan { items: 1, portion: 1, ..PLAN }));
    let other = Arc::clone(&filter);
    let thread = spawn(move || insert(&other, X));
    insert(&filter, Y);
    thread.join().unwrap();
    let holders = [X, Y].map(|item| filter.ring.holders(SLOTS, 0, item.iter().copied()));
    let ended = (0..rotations(&filter)).fold(0, |ended, slot| ended | 1 << slot);
    assert_eq!(holders[0] | holders[1], ended, "{TWICE}");
}

#[test]
fn model_a_generation_ends_once() {
    check(107, Some(3), || a_generation_ends_once(insert_new));
}

/// A thread that has waited for upkeep does not look whether the generation that it found full has ended.
#[test]
fn mutant_no_look_at_the_locked_state() {
    fn insert(filter: &Rotating, pattern: Pattern) {
        let ring = &filter.ring;
        let held = ring.hold(0);
        ring.write(SLOTS, 0, pattern.iter().copied(), held.state.current());
        let total = ring.count(&held);
        drop(held);
        assert!(total >= Some(1));
        let done = ring.lock_upkeep();
        ring.rotated(ring.locked_state(), done);
        ring.unlock_upkeep(0);
    }
    must_fail(TWICE, || check(1, Some(3), move || a_generation_ends_once(insert)));
}

// Claim 7: advance ‖ advance, to the same time, two generations later. Together they rotate twice, and the first that
// returns has forgotten what is old.

const LENGTH: u64 = 10;

type Advance = fn(&Rotating, u64) -> u64;

/// As [`Advance`], and sets a word to 1 (Relaxed) at a moment at which the other thread shall run.
type First = fn(&Rotating, u64, &Word) -> u64;

fn advance(filter: &Rotating, now: u64) -> u64 {
    filter.ring.advance(now)
}

fn advance_first(filter: &Rotating, now: u64, reached: &Word) -> u64 {
    let rotations = advance(filter, now);
    reached.store(1, Ordering::Relaxed);
    rotations
}

/// The steps of [`Ring::advance_now`] with a clock, a moment before upkeep is free, and an ordering.
fn advance_by(
    ring: &Ring,
    mut clock: Clock,
    now: u64,
    reached: &Word,
    release: Ordering,
) -> u64 {
    let ended = clock.read(now, LENGTH).unwrap();
    for _ in 0..ended {
        ring.rotated(ring.locked_state(), 0);
    }
    ring.publish(&clock, LENGTH, release);
    reached.store(1, Ordering::Relaxed);
    ring.unlock_upkeep(0);
    ended
}

fn advance_halfway(filter: &Rotating, now: u64, reached: &Word) -> u64 {
    let ring = &filter.ring;
    ring.lock_upkeep();
    advance_by(ring, ring.locked_clock(), now, reached, Ordering::Release)
}

/// A window by time, whose first generation is from 1 to 11.
fn by_time() -> Rotating {
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
    // Orders nothing, but makes loom run the other thread up to here: later stores of this thread to the words of the time
    // would hide its loads of them from loom's reduction.
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
    must_fail(message, || {
        with_plain_looks(|| check(1, Some(2), move || time_passes_once(first, second)));
    });
}

#[test]
fn mutant_wake_is_loaded_relaxed() {
    fn relaxed(filter: &Rotating, now: u64) -> u64 {
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
        advance_by(ring, ring.locked_clock(), now, reached, Ordering::Relaxed)
    }
    must_fail_in_time(FOUND, relaxed, advance);
}

/// An old `wake` and a new `wait`, while the other thread still has upkeep: this one would return without an Acquire.
#[test]
fn mutant_wait_is_loaded_relaxed() {
    fn relaxed(filter: &Rotating, now: u64) -> u64 {
        let ring = &filter.ring;
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
        let word = |number: usize| ring.upkeep.clock[number].load(Ordering::Acquire);
        let clock = Clock::of_words(core::array::from_fn(word));
        ring.lock_upkeep();
        advance_by(ring, clock, now, &Word::new(0), Ordering::Release)
    }
    must_fail_in_time(TWICE, advance_first, early);
}

// A copy waits for upkeep: copy ‖ advance over two generations. The state and the end of its generation are of one moment.

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
        (rotations(filter), filter.ring.upkeep.wait.load(Ordering::Acquire))
    }
    must_fail(HALF, || {
        with_plain_looks(|| {
            check(1, Some(2), || a_copy_is_not_of_the_middle_of_an_advance(numbers));
        });
    });
}
