//! Claim 6 under loom: every item is counted, and a generation ends once.

use tamis_sync::Ordering;
use tamis_sync::model::{check, must_fail};
use tamis_sync::thread::{Arc, spawn};

use super::claims::NOT_ONE;
use super::{PLAN, Pattern, Rotate, SLOTS, X, Y, insert, of_plan, rotate, rotations};
use crate::rotating::array::Rotating;
use crate::rotating::plan::Plan;
use crate::rotating::state::{UNCOUNTED, UNCOUNTED_BITS, uncounted};

pub(super) const TWICE: &str = "two threads rotated for one generation";
const UNCOUNTED_ITEM: &str = "an item was not counted";

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
        // ORDERING: as `count` has them; what is missing is the lock of the stripe.
        let count = uncounted(word.load(Ordering::Relaxed), state) + 1;
        word.store(state.rotations() << UNCOUNTED_BITS | count, Ordering::Release);
    }
    must_fail(UNCOUNTED_ITEM, None, move || each_item_is_counted(u64::MAX, insert));
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
        // ORDERING: as `rotated` has them; what is wrong is their order.
        ring.now.state.store(next.word(), Ordering::Release);
        ring.counts[next.current()].store(0, Ordering::Relaxed);
        ring.unlock_upkeep(0);
    }
    must_fail(UNCOUNTED_ITEM, None, move || a_new_generation_counts_from_zero(rotate));
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

/// A thread that has waited for upkeep does not look whether the generation that it found full has
/// ended.
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
    must_fail(TWICE, Some(3), move || a_generation_ends_once(insert));
}
