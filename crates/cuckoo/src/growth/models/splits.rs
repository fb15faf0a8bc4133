//! Splits beside writers: an add, a late splitter and a second splitter lose no copy.

use super::*;
use crate::growth::split::GrowError;

const STOPPED: &str = "a writer waited for a stopped splitter";

/// Asserts that each of the classes has one copy.
fn each_once(table: &Table, classes: &[Class]) {
    for &class in classes {
        assert_eq!(copies(table, class), 1, "{COPIES}");
    }
}

/// An item of the upper child of the first bucket, and one of the lower.
fn upper_and_lower() -> [Class; 2] {
    [class(KINDS[1], 0), class(KINDS[2], 0)]
}

// Two threads split the same bucket, and one of them then adds to its children.

fn two_splitters(split: Action, swapped: bool) {
    // The upper child is empty at first, so the item is added to it, and not to its other bucket.
    let [_, lower] = upper_and_lower();
    let new = class(KINDS[3], 0);
    let add_after = move |table: &Table| {
        split(table);
        add(table, new);
        assert!(contains(table, new), "{MISSED}");
    };
    let table = in_order(swapped, table_with(PLAN, &[lower]), add_after, split);
    each_once(&table, &[lower, new]);
}

fn split_from_any(table: &Table) {
    split_by(table, Splitting { birth_from_any: true, ..SPLITTING });
}

#[test]
fn model_two_splitters_of_one_bucket() {
    check_both([4700, 750], Some(3), |swapped| two_splitters(split, swapped));
    check_both([4000, 400], Some(3), |swapped| {
        two_splitters(|table| split_by(table, SPLITTING), swapped);
    });
}

#[test]
fn mutant_two_movers() {
    must_break(COPIES, Some(2), |swapped| two_splitters(split_from_any, swapped));
}

// An item is added while its bucket splits.

fn an_add_during_a_split(split: Action, item: Class, swapped: bool) {
    let add = move |table: &Table| {
        add(table, item);
        assert!(contains(table, item), "{MISSED}");
    };
    let table = in_order(swapped, table(PLAN), add, split);
    each_once(&table, &[item]);
}

#[test]
fn model_an_add_during_a_split() {
    for item in upper_and_lower() {
        check_both([690, 2100], Some(3), move |swapped| {
            an_add_during_a_split(split, item, swapped);
        });
    }
}

/// The bucket is split as it was read. What is added before the commit is in the parent, and then
/// in neither child: the child has been born.
#[test]
fn mutant_a_split_without_a_freeze() {
    const THAWED: Action = |table| split_by(table, Splitting { freezes: false, ..SPLITTING });
    must_break(COPIES, Some(2), |swapped| {
        an_add_during_a_split(THAWED, upper_and_lower()[0], swapped);
    });
}

// A splitter stopped: after the freeze, or after the birth. It goes on only when the writers have
// ended, or not at all.

/// The last step of a splitter before it stops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Freeze,
    Birth,
    Commit,
}

/// Splits the first bucket up to a step, and keeps the lock. Returns the frozen value.
fn split_up_to(table: &Table, stop: Stop) -> u128 {
    assert!(table.try_lock(table.stripes()));
    // ORDERING: Release, as in `split.rs`.
    let frozen = freeze(table, 0, 0, Ordering::Release);
    let [lower, upper] = halves(frozen, 0, *table.shape(0), *table.shape(1));
    // ORDERING: Relaxed and Release, as in `complete_split`.
    if stop != Stop::Freeze {
        let _ = table.words.exchange(2, [0, upper], Ordering::Relaxed);
    }
    if stop == Stop::Commit {
        let _ = table.words.exchange(0, [frozen, lower], Ordering::Release);
    }
    frozen
}

/// One thread adds and removes while the splitter does nothing, and another queries.
fn writers_beside_a_stopped_splitter(stop: Stop) {
    let [upper, lower] = upper_and_lower();
    let new = class(KINDS[3], 0);
    let table = table_with(PLAN, &[upper, lower]);
    split_up_to(&table, stop);
    let write = move |table: &Table| {
        assert!(table.lock_stripe(&table.placed(lower)).remove(), "{STOPPED}");
        add(table, new);
    };
    let query = move |table: &Table| assert!(contains(table, upper), "{MISSED}");
    let table = at_once(table, write, query);
    // The lock of the other splitter is free, so the table goes on to grow, up to the sweep.
    let progress = [0; 3].map(|_| table.split_portion());
    assert_eq!(progress, [Progress::Split, Progress::Split, Progress::Busy], "{STOPPED}");
    assert_eq!(table.grow(), Err(GrowError::Stalled), "{STOPPED}");
    each_once(&table, &[upper, new]);
    assert_eq!(copies(&table, lower), 0, "{COPIES}");
}

#[test]
fn model_writers_beside_a_stopped_splitter() {
    for stop in [Stop::Freeze, Stop::Birth, Stop::Commit] {
        check(36, Some(3), move || writers_beside_a_stopped_splitter(stop));
    }
}

/// The splitter goes on at any time while another thread writes, also after it has written.
fn a_late_splitter(stop: Stop, how: Splitting, swapped: bool) {
    let [upper, lower] = upper_and_lower();
    let new = class(KINDS[3], 0);
    let table = table_with(PLAN, &[upper, lower]);
    let frozen = split_up_to(&table, stop);
    let write = move |table: &Table| {
        add(table, new);
        assert!(table.lock_stripe(&table.placed(lower)).remove(), "{COPIES}");
        assert!(table.lock_stripe(&table.placed(upper)).remove(), "{COPIES}");
        assert!(contains(table, new), "{MISSED}");
    };
    let go_on = move |table: &Table| {
        complete_by(table, 0, 0, frozen, how);
        table.unlock(table.stripes());
    };
    let table = in_order(swapped, table, write, go_on);
    each_once(&table, &[new]);
    assert_eq!([upper, lower].map(|class| copies(&table, class)), [0; 2], "{COPIES}");
}

#[test]
fn model_a_late_splitter() {
    for stop in [Stop::Freeze, Stop::Birth] {
        check_both([2800, 190], None, move |swapped| a_late_splitter(stop, SPLITTING, swapped));
    }
}

#[test]
fn mutant_a_late_birth_from_any_value() {
    let how = Splitting { birth_from_any: true, ..SPLITTING };
    must_break(COPIES, None, move |swapped| a_late_splitter(Stop::Freeze, how, swapped));
}
