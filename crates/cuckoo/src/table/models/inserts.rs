//! Inserts into full buckets: with relocations, and with too many copies.

use alloc::vec::Vec;

use super::*;

// An insert into full buckets relocates two other copies: 3 → 2, then 0 → 3. Another thread queries
// one of them, or fills the empty slot.

/// The fingerprints and buckets of the copies at the start. Buckets 0, 1 and 3 are full; bucket 2
/// has one empty slot. The copies in bucket 1 can go only to 0, the second in 0 to 3, and the first
/// in 3 to 2.
const IN_ONE: [(u64, u64); 2] = [(NEAR[0], 1), (NEAR[1], 1)];
const IN_ZERO: [(u64, u64); 2] = [(NEAR[2], 0), (FAR[0], 0)];
const IN_THREE: [(u64, u64); 2] = [(NEAR[3], 3), (FAR[1], 3)];
const IN_TWO: [(u64, u64); 1] = [(NEAR[4], 2)];

fn residents() -> impl Iterator<Item = Class> {
    let all = [&IN_ONE[..], &IN_ZERO, &IN_THREE, &IN_TWO].into_iter().flatten();
    all.map(|&(fingerprint, bucket)| class(fingerprint, bucket))
}

fn nearly_full() -> Arc<Table> {
    let table = table(2, 1);
    for class in residents() {
        assert!(table.buckets().add_to(class.buckets[0], class.fingerprint));
    }
    table
}

type Insert = fn(&Table, Class) -> Result<(), InsertError>;

fn a_relocating_insert(insert: Insert, relocated: (u64, u64), rival: bool) {
    let table = nearly_full();
    let new = class(NEAR[5], 0);
    let inserter = Arc::clone(&table);
    let thread = spawn(move || insert(&inserter, new));
    let mut expected: Vec<Class> = residents().collect();
    if rival {
        let added = class(FAR[2], 2);
        let outcome = table.buckets().add_to(2, added.fingerprint);
        if outcome {
            expected.push(added);
        }
    } else {
        assert!(table.buckets().contains(class(relocated.0, relocated.1)), "{MISSED}");
    }
    match thread.join().unwrap() {
        Ok(()) => expected.push(new),
        Err(error) => assert!(rival && error == InsertError::Full, "{error}"),
    }
    for &class in &expected {
        assert_eq!(copies(&table, class), 1, "{COPIES} of {class:?}");
    }
    let all: u64 = table.len();
    assert_eq!(all, expected.len() as u64, "{COPIES}");
}

#[test]
fn model_a_relocating_insert_loses_nothing() {
    check(1100, Some(2), || a_relocating_insert(insert, IN_ZERO[1], false));
    check(390, Some(2), || a_relocating_insert(insert, IN_THREE[0], false));
    check(10, None, || a_relocating_insert(insert, IN_ZERO[1], true));
}

/// The steps are executed as the search found them, without a check for an empty slot.
#[test]
fn mutant_steps_that_are_not_checked_again() {
    fn insert(table: &Table, new: Class) -> Result<(), InsertError> {
        let mut search = crate::search::Search::new();
        let buckets = table.buckets();
        let Some(steps) = search.steps(new, &buckets) else {
            return Err(InsertError::Full);
        };
        for class in steps {
            let ([from, to], guard) = (class.buckets, table.buckets().lock_stripe(class));
            guard.buckets.add_to(to, class.fingerprint);
            guard.advance_version();
            guard.clear_slot(from);
        }
        if table.buckets().add(new) { Ok(()) } else { Err(InsertError::Full) }
    }
    must_fail(COPIES, Some(2), || a_relocating_insert(insert, IN_ZERO[1], true));
}

// One copy below the maximum, while one copy is relocated, another insert succeeds.

fn the_last_possible_copy(insert: Insert) {
    let table = table(2, 1);
    let x = class(NEAR[0], 0);
    (0..3).for_each(|_| add(&table, x));
    let relocator = Arc::clone(&table);
    let thread = spawn(move || relocator.buckets().lock_stripe(x).relocate());
    assert_eq!(insert(&table, x), Ok(()), "{COPIES}");
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 4, "{COPIES}");
    assert_eq!(self::insert(&table, x), Err(InsertError::TooManyCopies));
}

#[test]
fn model_the_last_possible_copy() {
    check(260, None, || the_last_possible_copy(insert));
}

#[test]
fn mutant_too_many_copies_counted_without_the_lock() {
    fn insert(table: &Table, class: Class) -> Result<(), InsertError> {
        if copies(table, class) == 4 {
            return Err(InsertError::TooManyCopies);
        }
        self::insert(table, class)
    }
    must_fail(COPIES, None, || the_last_possible_copy(insert));
}
