//! Inserts that find no room, or too many copies.

use alloc::vec::Vec;

use super::*;

// L11: an insert into full buckets moves two others out of its way: 3 → 2, then 0 → 3. Others look for
// those, or take the empty slot away.

/// Fingerprint and bucket of what is in. Buckets 0, 1 and 3 are full; 2 has one slot left. What is in 1 can go
/// to 0 only; the second of 0 to 3; the first of 3 to 2.
const IN_ONE: [(u64, u64); 2] = [(NEAR[0], 1), (NEAR[1], 1)];
const IN_ZERO: [(u64, u64); 2] = [(NEAR[2], 0), (FAR[0], 0)];
const IN_THREE: [(u64, u64); 2] = [(NEAR[3], 3), (FAR[1], 3)];
const IN_TWO: [(u64, u64); 1] = [(NEAR[4], 2)];

fn resident() -> impl Iterator<Item = Class> {
    let all = [&IN_ONE[..], &IN_ZERO, &IN_THREE, &IN_TWO].into_iter().flatten();
    all.map(|&(fingerprint, bucket)| class(fingerprint, bucket))
}

fn nearly_full() -> Arc<Table> {
    let table = table(2, 1);
    for class in resident() {
        assert!(table.buckets().add_to(class.buckets[0], class.fingerprint));
    }
    table
}

type Insert = fn(&Table, Class) -> Result<(), InsertError>;

fn an_evicting_insert(insert: Insert, displaced: (u64, u64), thief: bool) {
    let table = nearly_full();
    let new = class(NEAR[5], 0);
    let inserter = Arc::clone(&table);
    let thread = spawn(move || insert(&inserter, new));
    let mut expected: Vec<Class> = resident().collect();
    if thief {
        let stolen = class(FAR[2], 2);
        let outcome = table.buckets().add_to(2, stolen.fingerprint);
        if outcome {
            expected.push(stolen);
        }
    } else {
        assert!(table.buckets().contains(class(displaced.0, displaced.1)), "{MISSED}");
    }
    match thread.join().unwrap() {
        Ok(()) => expected.push(new),
        Err(error) => assert!(thief && error == InsertError::Full, "{error}"),
    }
    for &class in &expected {
        assert_eq!(copies(&table, class), 1, "{COPIES} of {class:?}");
    }
    let all: u64 = table.len();
    assert_eq!(all, expected.len() as u64, "{COPIES}");
}

#[test]
fn model_an_evicting_insert_loses_nothing() {
    check(1100, Some(2), || an_evicting_insert(insert, IN_ZERO[1], false));
    check(390, Some(2), || an_evicting_insert(insert, IN_THREE[0], false));
    check(10, None, || an_evicting_insert(insert, IN_ZERO[1], true));
}

/// The steps are taken as they were found, whether or not there is still room for the next.
#[test]
fn mutant_steps_are_not_checked_again() {
    fn insert(table: &Table, new: Class) -> Result<(), InsertError> {
        let mut search = crate::search::Search::new(table.geometry().shape(), BUCKETS);
        let Some(steps) = search.steps(new.buckets, |bucket| table.buckets().peek(bucket)) else {
            return Err(InsertError::Full);
        };
        for step in steps {
            let guard = table.buckets().lock_stripe(step.class());
            guard.buckets.add_to(step.to, step.fingerprint);
            guard.advance_version();
            guard.clear_slot(step.from);
        }
        if table.buckets().add(new) { Ok(()) } else { Err(InsertError::Full) }
    }
    must_fail(COPIES, || check(1, Some(2), || an_evicting_insert(insert, IN_ZERO[1], true)));
}

// L10: with one copy less than too many, of which one is being moved, one more is taken.

fn one_less_than_too_many(insert: Insert) {
    let table = table(2, 1);
    let x = class(NEAR[0], 0);
    (0..3).for_each(|_| add(&table, x));
    let mover = Arc::clone(&table);
    let thread = spawn(move || mover.buckets().lock_stripe(x).relocate());
    assert_eq!(insert(&table, x), Ok(()), "{COPIES}");
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 4, "{COPIES}");
    assert_eq!(self::insert(&table, x), Err(InsertError::TooManyCopies));
}

#[test]
fn model_one_less_than_too_many() {
    check(260, None, || one_less_than_too_many(insert));
}

#[test]
fn mutant_too_many_are_counted_without_the_stripe() {
    fn insert(table: &Table, class: Class) -> Result<(), InsertError> {
        if copies(table, class) == 4 {
            return Err(InsertError::TooManyCopies);
        }
        self::insert(table, class)
    }
    must_fail(COPIES, || check(1, None, || one_less_than_too_many(insert)));
}
