//! The sweep: a level begins only when no holder of a lock knows an older one.

use super::*;

/// The only stripe, the first splitter's lock and the number of steps of a sweep.
const STRIPE: u64 = 0;
const SPLITTER: u64 = 1;
const STEPS: usize = 4;

/// An item whose bucket splits twice and that is in the lower child each time: an add that has
/// slept meanwhile finds the same tag, and the same empty slots, two levels later.
fn lowest() -> Class {
    class(KINDS[0], 0)
}

type Sweep = fn(&Table);
type Add = fn(&Table, Class);

fn sweep(table: &Table) {
    split(table);
}

/// A sweep that omits a lock.
fn sweep_without(table: &Table, omitted: u64) {
    // ORDERING: as in the sweep that omits none.
    let (load, update) = (Ordering::Acquire, Ordering::AcqRel);
    sweep_by(table, load, update, |number| number != omitted, STEPS);
}

// An add that has loaded an old pointer holds up the next level.

/// The first buckets are at rest, or split and not yet published.
fn an_add_holds_up_the_next_level(add: Add, sweep: Sweep, is_split: bool, swapped: bool) {
    let item = lowest();
    let add = move |table: &Table| add(table, item);
    let grow = move |table: &Table| {
        split(table);
        sweep(table);
        // Splits the first bucket again, if the level has begun.
        split(table);
    };
    let table = if is_split {
        table_before_publication(None)
    } else {
        Table::with_sizes(PLAN, 1, PLAN.buckets).unwrap()
    };
    let table = in_order(swapped, table, add, grow);
    assert!(contains(&table, item), "{MISSED}");
    assert_eq!(copies(&table, item), 1, "{COPIES}");
}

#[test]
fn model_an_add_holds_up_the_next_level() {
    for is_split in [false, true] {
        check_both([140, 1100], bound(1, Some(2)), move |swapped| {
            an_add_holds_up_the_next_level(add, sweep, is_split, swapped);
        });
        check_both([930, 6200], Some(1), move |swapped| {
            let sweep: Sweep = |table| sweep_without(table, u64::MAX);
            an_add_holds_up_the_next_level(add_by_steps, sweep, is_split, swapped);
        });
    }
}

/// Adds by a pointer that was loaded under the lock.
fn add_by_steps(table: &Table, class: Class) {
    let placed = table.placed(class);
    let guard = table.lock_stripe(&placed);
    let pointer = table.pointer();
    add_by(table, &guard, class, pointer);
}

/// Adds a copy to the first bucket of a class, whose place is the same at all levels, by this
/// pointer.
fn add_by(table: &Table, guard: &StripeGuard<'_>, class: Class, pointer: Pointer) {
    let at = class.buckets[0];
    let number = table.layout().number(at, class.fingerprint, pointer.level);
    let level = pointer.level_of(number);
    let (shape, held) = (*table.shape(level), class.fingerprint >> level);
    // ORDERING: Acquire, as in `resolve_by`; then Relaxed, as in an add.
    let load = || table.words.load(at, Ordering::Acquire);
    let is_at_level = |value| tag(value, shape) == tag_of_level(level);
    let value = load();
    if is_at_level(value) {
        let to = value | u128::from(held) << shape.find(value, 0).unwrap();
        let _ = table.words.exchange(at, [value, to], Ordering::Relaxed);
        let now = load();
        if is_at_level(now) && shape.contains(now, held) {
            return;
        }
    }
    // It was frozen, or has been split meanwhile.
    assert!(guard.contains() || guard.add(), "no empty slot");
}

#[test]
fn mutant_a_sweep_that_omits_a_stripe() {
    for is_split in [false, true] {
        must_break(MISSED, Some(1), move |swapped| {
            let sweep: Sweep = |table| sweep_without(table, STRIPE);
            an_add_holds_up_the_next_level(add, sweep, is_split, swapped);
        });
    }
}

#[test]
fn mutant_an_adder_that_loads_the_pointer_before_the_stripe() {
    const EARLY: Add = |table, class| {
        let pointer = table.pointer();
        let placed = table.placed(class);
        let guard = table.lock_stripe(&placed);
        add_by(table, &guard, class, pointer);
    };
    must_break(MISSED, Some(1), |swapped| {
        an_add_holds_up_the_next_level(EARLY, sweep, false, swapped);
    });
}

// A writer computes the places of its buckets before the lock, and uses them if the pointer is the
// same under the lock. Two levels later both buckets have the same tags.

/// A step under the lock, and the number of copies before and after it.
type Step = (fn(&StripeGuard<'_>) -> bool, [u32; 2]);

const STEPS_OF_WRITERS: [Step; 3] = [
    (|guard| guard.add(), [0, 1]),
    (|guard| guard.remove(), [1, 0]),
    (|guard| guard.relocate(), [1, 1]),
];

fn places_are_those_of_the_present_pointer(
    (step, [before, after]): Step,
    place: fn(&Table, Class) -> Placed,
    splits: usize,
    swapped: bool,
) {
    // In the upper child of each split.
    let item = class(KINDS[3], 0);
    let write = move |table: &Table| {
        let placed = place(table, item);
        assert!(step(&table.lock_stripe(&placed)), "{COPIES}: no copy, or no empty slot");
    };
    // One level in one portion, the sweep, and the next level in two: some of it before the writer
    // begins.
    let grow = move |table: &Table| (splits..4).for_each(|_| split(table));
    let table = Table::with_sizes(PLAN, 1, PLAN.buckets).unwrap();
    (0..before).for_each(|_| add_at(&table, item));
    (0..splits).for_each(|_| split(&table));
    let table = in_order(swapped, table, write, grow);
    assert_eq!(copies(&table, item), after, "{COPIES}");
}

#[test]
fn model_places_are_those_of_the_present_pointer() {
    for (step, least) in
        STEPS_OF_WRITERS.into_iter().zip([[2200, 1200, 210], [2200, 1200, 210], [2400, 1200, 540]])
    {
        for (splits, least) in least.into_iter().enumerate() {
            check(least, Some(2), move || {
                places_are_those_of_the_present_pointer(step, Table::placed, splits, false);
            });
        }
    }
    // In the other order of the threads an add only: a removal has as many executions.
    let [add, ..] = STEPS_OF_WRITERS;
    check(4700, bound(1, Some(2)), move || {
        places_are_those_of_the_present_pointer(add, Table::placed, 0, true);
    });
}

#[test]
fn mutants_that_use_places_of_an_old_pointer() {
    const OLD: fn(&Table, Class) -> Placed = |table, class| {
        let old = table.placed(class);
        Placed { pointer: table.pointer(), ..old }
    };
    for step in STEPS_OF_WRITERS {
        must_break(COPIES, Some(2), move |swapped| {
            places_are_those_of_the_present_pointer(step, OLD, 0, swapped);
        });
    }
}

// A splitter that is late holds up the next level: its commit would end a split of that level, if
// an empty bucket is frozen there.

fn a_late_commit_holds_up_the_next_level(sweep: Sweep, swapped: bool) {
    let table = table(PLAN);
    assert!(table.try_lock(SPLITTER));
    // ORDERING: Release, as in `split.rs`.
    let frozen = freeze(&table, 0, 0, Ordering::Release);
    // In the upper child of the second split of the first bucket.
    let item = class(KINDS[2], 0);
    let late = move |table: &Table| {
        table.complete_split(0, 0, frozen);
        table.unlock(SPLITTER);
        add(table, item);
    };
    let grow = move |table: &Table| {
        split(table);
        split(table);
        sweep(table);
        split(table);
    };
    let table = in_order(swapped, table, late, grow);
    assert!(contains(&table, item), "{MISSED}");
    assert_eq!(copies(&table, item), 1, "{COPIES}");
}

#[test]
fn model_a_late_commit_holds_up_the_next_level() {
    check_both([610, 800], Some(2), |swapped| {
        a_late_commit_holds_up_the_next_level(sweep, swapped);
    });
    check_both([610, 800], Some(2), |swapped| {
        a_late_commit_holds_up_the_next_level(|table| sweep_without(table, u64::MAX), swapped);
    });
}

#[test]
fn mutant_a_sweep_that_omits_a_splitters_lock() {
    must_break(MISSED, Some(2), |swapped| {
        a_late_commit_holds_up_the_next_level(|table| sweep_without(table, SPLITTER), swapped);
    });
}

// The sweep hands on that the level has ended. One thread begins it, another takes the stripe in
// it, the first takes the splitters' locks and splits, and the other then adds.

fn a_sweep_in_parts(order: [Ordering; 2]) {
    let item = lowest();
    let [load, update] = order;
    let grow = move |table: &Table| {
        split(table);
        sweep_by(table, load, update, |_| true, 1);
        sweep_by(table, load, update, |_| true, STEPS - 1);
        split_if_swept(table, load);
    };
    let sweep_and_add = move |table: &Table| {
        sweep_by(table, load, update, |_| true, 1);
        add(table, item);
    };
    let table = at_once(table_before_publication(None), grow, sweep_and_add);
    assert!(contains(&table, item), "{MISSED}");
    assert_eq!(copies(&table, item), 1, "{COPIES}");
}

/// Splits both buckets of the lowest item at level 1, if that may be split.
fn split_if_swept(table: &Table, load: Ordering) {
    if Pointer::of(table.sweep.fetch_or(0, load)).next == table.all_locks() {
        [1, 0].into_iter().for_each(|number| split_bucket(table, 1, number, SPLITTING));
    }
}

/// The same, but a third thread takes the stripe after the sweeper, and adds.
fn a_sweep_and_an_add([load, update]: [Ordering; 2]) {
    let item = lowest();
    let table = Arc::new(table_before_publication(None));
    let [sweeper, adder] = [Arc::clone(&table), Arc::clone(&table)];
    let threads = [
        spawn(move || sweep_by(&sweeper, load, update, |_| true, 1)),
        spawn(move || add(&adder, item)),
    ];
    // ORDERING: AcqRel, as in the publication of `split.rs`; the others are the model's.
    publish_by(&table, Pointer { level: 0, next: 0 }, Ordering::AcqRel);
    sweep_by(&table, load, update, |_| true, 1);
    sweep_by(&table, load, update, |_| true, STEPS - 1);
    split_if_swept(&table, load);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(contains(&table, item), "{MISSED}");
}

#[test]
fn model_a_sweep_in_parts() {
    // ORDERING: as in the sweep of `split.rs`.
    check(1600, Some(2), || a_sweep_in_parts([Ordering::Acquire, Ordering::AcqRel]));
    // The same with the sweep of this crate.
    check_both([10_000, 4300], Some(1), |swapped| {
        let item = lowest();
        let grow = |table: &Table| (0..3).for_each(|_| split(table));
        let sweep_and_add = move |table: &Table| {
            sweep(table);
            add(table, item);
            // In the other order, this multiplies the executions by four.
            assert!(!swapped || contains(table, item), "{MISSED}");
        };
        let table = in_order(swapped, table_before_publication(None), grow, sweep_and_add);
        assert!(contains(&table, item), "{MISSED}");
        assert_eq!(copies(&table, item), 1, "{COPIES}");
    });
}

#[test]
fn mutant_a_relaxed_sweep() {
    use Ordering::{AcqRel, Acquire, Relaxed};
    for order in [[Relaxed; 2], [Acquire, Relaxed]] {
        must_fail(MISSED, Some(2), move || a_sweep_in_parts(order));
    }
    // The load alone: a third thread adds.
    let order = [Relaxed, AcqRel];
    must_fail(MISSED, Some(2), move || a_sweep_and_an_add(order));
}
