//! loom models of the table: what the filters promise under every interleaving, and the bugs that the
//! models must find. A child of `table`, since the bugs are made of its private parts.
//!
//! Each property is a function over the operation it is about. A `model` runs it with the operation of
//! this crate; a `mutant` runs it with one that has a planted bug, and it must fail with the message of
//! the property. The minimum of executions that a model must explore is about half of what it explores
//! now. Where a bound on preemptions is given, the model without it takes hours.

use alloc::vec::Vec;

use tamis_sync::Ordering;
use tamis_sync::model::{Mutant, check, must_fail, must_fail_with, with_plain_peeks};
use tamis_sync::thread::{Arc, spawn};

use super::{Classes, Held, Looks, Table};
use crate::geometry::Geometry;
use crate::place::Class;
use crate::{InsertError, evict};

const BUCKETS: u64 = 4;

/// What the reports of the properties begin with.
const MISSED: &str = "an item that is in was missed";
const COPIES: &str = "wrong number of copies";

fn table(slots: u32, stripes: u64) -> Arc<Table> {
    let geometry = Geometry::for_buckets(BUCKETS, slots, if slots == 2 { 32 } else { 16 }).unwrap();
    Arc::new(Table::with_stripes(geometry, stripes).unwrap())
}

/// Fingerprints for which the buckets 0 and 1 go together, and 2 and 3.
const NEAR: [u64; 6] = [2, 4, 5, 7, 10, 12];
/// Fingerprints for which the buckets 0 and 3 go together, and 1 and 2.
const FAR: [u64; 3] = [1, 3, 8];

/// A class, first bucket as given.
fn class(fingerprint: u64, bucket: u64) -> Class {
    Class::of(fingerprint, bucket, BUCKETS)
}

fn mirrored(class: Class) -> Class {
    let [one, other] = class.buckets;
    Class { buckets: [other, one], ..class }
}

/// The copies of a class, read when nobody writes.
fn copies(table: &Table, class: Class) -> u32 {
    class
        .buckets
        .map(|bucket| {
            table.geometry().shape().count(table.buckets().read(bucket), class.fingerprint)
        })
        .iter()
        .sum()
}

fn add(table: &Table, class: Class) {
    assert!(table.buckets().add(class), "no empty slot");
}

type Query = fn(&Table, Class) -> bool;
type Change = fn(&Held<'_>) -> bool;

fn contains(table: &Table, class: Class) -> bool {
    table.buckets().contains(class)
}

/// The query of a batch: of the class, and of another that is not in.
fn contains_beside(table: &Table, class: Class) -> bool {
    let (both, mut looks) = ([class, Class::of(FAR[0], 1, BUCKETS)], Looks::NONE);
    let classes = Classes {
        fingerprints: both.map(|class| class.fingerprint),
        buckets: [0, 1].map(|which| both.map(|class| class.buckets[which])),
        keys: both.map(Class::key),
    };
    table.buckets().look_at_each(&classes, &mut looks);
    table.buckets().contains_each(&classes, &looks)[0]
}

/// A look that does not ask whether something moved meanwhile.
fn look(table: &Table, class: Class) -> bool {
    table.buckets().look(class)
}

fn insert(table: &Table, class: Class) -> Result<(), InsertError> {
    evict::insert(table.buckets(), class)
}

fn shift(held: &Held<'_>) -> bool {
    held.shift()
}

fn remove(held: &Held<'_>) -> bool {
    held.remove()
}

#[test]
fn buckets_are_as_the_models_take_them() {
    for fingerprint in NEAR {
        assert_eq!(class(fingerprint, 0).buckets, [0, 1], "{fingerprint}");
    }
    for fingerprint in FAR {
        assert_eq!(class(fingerprint, 0).buckets, [0, 3], "{fingerprint}");
    }
}

// L7, L8: an item that is moved, and moved back, is found all the while.

fn a_moving_item_is_found(moves: usize, stripes: u64, query: Query, shift: Change) {
    let table = table(4, stripes);
    // It comes to the bucket that the reader looks into first, from the one after it: a reader may pass
    // between the two.
    let x = class(NEAR[0], 0);
    let back = mirrored(x);
    add(&table, back);
    let mover = Arc::clone(&table);
    let thread = spawn(move || {
        for class in [back, x].into_iter().take(moves) {
            assert!(shift(&mover.buckets().hold(class)), "nothing to move, or no room");
        }
    });
    assert!(query(&table, x), "{MISSED}");
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 1, "{COPIES}");
}

/// The other way round.
fn mirrored_contains(table: &Table, class: Class) -> bool {
    table.buckets().contains(mirrored(class))
}

#[test]
fn model_a_moving_item_is_found() {
    check(1300, None, || a_moving_item_is_found(1, 1, contains, shift));
    check(1300, None, || a_moving_item_is_found(1, 2, contains, shift));
    check(12_000, None, || a_moving_item_is_found(1, 2, contains_beside, shift));
    check(700, None, || a_moving_item_is_found(1, 1, mirrored_contains, shift));
}

/// What a reader does that has looked in vain too often.
#[test]
fn model_a_moving_item_is_found_under_the_stripe() {
    check(5, None, || {
        a_moving_item_is_found(
            1,
            1,
            |table, class| table.contains_in_a_storm(class.fingerprint, class.buckets[0]),
            shift,
        );
    });
}

#[test]
fn model_an_item_moved_there_and_back_is_found() {
    check(42_000, None, || a_moving_item_is_found(2, 1, contains, shift));
    check(19_000, None, || a_moving_item_is_found(2, 1, mirrored_contains, shift));
    check(20_000, Some(2), || a_moving_item_is_found(2, 1, contains_beside, shift));
}

fn a_move_with(mutant: Mutant, moves: usize, query: Query) {
    must_fail_with(mutant, MISSED, || {
        check(1, None, move || a_moving_item_is_found(moves, 1, query, shift));
    });
}

#[test]
fn mutant_without_a_count_a_moving_item_is_missed() {
    must_fail(MISSED, || {
        check(1, None, || a_moving_item_is_found(1, 1, look, shift));
    });
}

/// A query with other orders of its loads.
fn contains_by(table: &Table, class: Class, count: Ordering, bucket: Ordering) -> bool {
    let (buckets, moves) = (table.buckets(), &table.moves[table.stripe(class)].words[0]);
    let before = moves.load(count);
    let found = class.buckets.map(|number| {
        let (word, at) = buckets.word(number);
        buckets.shape.has(buckets.shape.cut(word.load(bucket), at), class.fingerprint)
    });
    found != [false; 2]
        || moves.load(Ordering::Relaxed) != before
            && table.contains_in_a_storm(class.fingerprint, class.buckets[0])
}

#[test]
fn mutants_of_the_loads_of_a_query() {
    use Ordering::{Acquire, Relaxed};
    check(550, None, || {
        a_moving_item_is_found(1, 1, |table, x| contains_by(table, x, Acquire, Acquire), shift);
    });
    let count: Query = |table, x| contains_by(table, x, Relaxed, Acquire);
    let bucket: Query = |table, x| contains_by(table, x, Acquire, Relaxed);
    for query in [count, bucket] {
        must_fail(MISSED, || check(1, None, move || a_moving_item_is_found(1, 1, query, shift)));
    }
}

#[test]
fn mutant_a_count_that_nobody_advances() {
    a_move_with(Mutant::NoAdvance, 1, contains);
    a_move_with(Mutant::NoAdvance, 1, contains_beside);
}

#[test]
fn mutant_a_count_advanced_after_the_copy_is_gone() {
    fn shift(held: &Held<'_>) -> bool {
        let Class { fingerprint, buckets: [from, to] } = held.class;
        let added = held.buckets.add_to(to, fingerprint);
        held.take(from);
        held.advance();
        added
    }
    must_fail(MISSED, || {
        check(1, None, || a_moving_item_is_found(1, 1, contains, shift));
    });
}

#[test]
fn mutant_taken_before_it_is_added() {
    fn shift(held: &Held<'_>) -> bool {
        let Class { fingerprint, buckets: [from, to] } = held.class;
        held.advance();
        held.take(from);
        held.buckets.add_to(to, fingerprint)
    }
    must_fail(MISSED, || {
        check(1, None, || a_moving_item_is_found(1, 1, contains, shift));
    });
}

#[test]
fn mutant_copies_taken_without_release() {
    a_move_with(Mutant::UpdateRelaxed, 1, mirrored_contains);
}

#[test]
fn mutant_loads_without_acquire() {
    a_move_with(Mutant::LoadRelaxed, 1, mirrored_contains);
    a_move_with(Mutant::LoadRelaxed, 1, contains_beside);
}

#[test]
fn mutant_a_count_advanced_without_release() {
    a_move_with(Mutant::AdvanceRelaxed, 2, contains);
    must_fail_with(Mutant::AdvanceRelaxed, MISSED, || {
        check(1, Some(2), || a_moving_item_is_found(2, 1, contains_beside, shift));
    });
}

// L10: a colliding item comes and goes: its copy appears in the one bucket after the reader has passed, and
// the first item's own copy is taken from the other before the reader comes there.

fn an_item_beside_a_remove_is_found(remove: Change) {
    let table = table(4, 1);
    let x = class(NEAR[0], 1);
    add(&table, x);
    let other = Arc::clone(&table);
    let thread = spawn(move || {
        let y = mirrored(x);
        add(&other, y);
        assert!(remove(&other.buckets().hold(x)), "nothing to remove");
    });
    assert!(table.buckets().contains(mirrored(x)), "{MISSED}");
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 1, "{COPIES}");
}

#[test]
fn model_an_item_beside_a_remove_is_found() {
    check(2300, None, || an_item_beside_a_remove_is_found(remove));
}

// L10: likewise, but the first item comes meanwhile, too: now the remove finds copies in both buckets, and
// now in one only, and the reader looks into either first.

fn an_item_that_comes_beside_a_remove_is_found(query: Query, remove: Change) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    let other = Arc::clone(&table);
    let thread = spawn(move || {
        add(&other, mirrored(x));
        assert!(remove(&other.buckets().hold(x)), "nothing to remove");
    });
    add(&table, x);
    assert!(query(&table, x), "{MISSED}");
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 1, "{COPIES}");
}

#[test]
fn model_an_item_that_comes_beside_a_remove_is_found() {
    check(6800, None, || an_item_that_comes_beside_a_remove_is_found(contains, remove));
    check(14_000, None, || an_item_that_comes_beside_a_remove_is_found(mirrored_contains, remove));
}

#[test]
fn mutant_a_remove_does_not_advance_the_count() {
    fn remove(held: &Held<'_>) -> bool {
        let [one, other] = held.class.buckets;
        held.take(if held.has(one) { one } else { other });
        true
    }
    must_fail(MISSED, || check(1, None, || an_item_beside_a_remove_is_found(remove)));
    must_fail(MISSED, || {
        check(1, None, || {
            an_item_that_comes_beside_a_remove_is_found(mirrored_contains, remove);
        });
    });
}

// L10: one removes a copy while another moves one, and a third asks.

fn a_move_beside_a_remove(inserted: u32, query: Query) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    (0..inserted).for_each(|_| add(&table, x));
    let [mover, remover] = [Arc::clone(&table), Arc::clone(&table)];
    let threads = [
        spawn(move || mover.buckets().hold(x).shift()),
        spawn(move || remover.buckets().hold(x).remove()),
    ];
    if inserted > 1 {
        assert!(query(&table, x), "{MISSED}");
    }
    let [_, removed] = threads.map(|thread| thread.join().unwrap());
    assert!(removed);
    assert_eq!(copies(&table, x), inserted - 1, "{COPIES}");
}

#[test]
fn model_a_move_beside_a_remove() {
    check(30, None, || a_move_beside_a_remove(1, contains));
    check(1200, Some(2), || a_move_beside_a_remove(2, contains));
    check(1600, Some(2), || a_move_beside_a_remove(2, mirrored_contains));
}

/// Both take the same copy.
#[test]
fn mutant_a_move_beside_a_remove_without_the_lock() {
    must_fail_with(Mutant::NoLock, COPIES, || {
        check(1, Some(2), || a_move_beside_a_remove(1, contains));
    });
}

// L10: with one copy less than too many, of which one is being moved, one more is taken.

fn one_less_than_too_many(insert: Insert) {
    let table = table(2, 1);
    let x = class(NEAR[0], 0);
    (0..3).for_each(|_| add(&table, x));
    let mover = Arc::clone(&table);
    let thread = spawn(move || mover.buckets().hold(x).shift());
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

#[test]
fn mutants_of_the_lock() {
    for mutant in [Mutant::LockRelaxed, Mutant::UnlockRelaxed] {
        must_fail_with(mutant, "Causality violation", || {
            check(1, Some(2), || a_move_beside_a_remove(2, contains));
        });
    }
}

// L9: two movers of different items through one bucket, and a reader.

fn two_movers(stripes: u64) {
    let table = table(2, stripes);
    let (x, y) = (class(NEAR[0], 0), class(FAR[0], 1));
    add(&table, x);
    add(&table, y);
    let movers = [(x, Arc::clone(&table)), (y, Arc::clone(&table))];
    let threads = movers.map(|(class, table)| spawn(move || table.buckets().hold(class).shift()));
    assert!(table.buckets().contains(x), "{MISSED}");
    for thread in threads {
        assert!(thread.join().unwrap(), "nothing to move, or no room");
    }
    for class in [x, y] {
        assert_eq!(copies(&table, class), 1, "{COPIES}");
    }
}

#[test]
fn model_two_movers() {
    check(1450, Some(2), || two_movers(1));
    check(1050, Some(2), || two_movers(2));
}

#[test]
fn mutant_lossy_updates_lose_a_neighbour() {
    must_fail_with(Mutant::LossyUpdate, COPIES, || check(1, Some(2), || two_movers(2)));
}

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
            let held = table.buckets().hold(step.class());
            held.buckets.add_to(step.to, step.fingerprint);
            held.advance();
            held.take(step.from);
        }
        if table.buckets().add(new) { Ok(()) } else { Err(InsertError::Full) }
    }
    must_fail(COPIES, || check(1, Some(2), || an_evicting_insert(insert, IN_ZERO[1], true)));
}

// L12, L14: a snapshot beside a mover has each item once; and two of them do not wait for each other.

fn a_snapshot_has_each_item_once(copy: fn(&Table, Class) -> u32) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    add(&table, x);
    let mover = Arc::clone(&table);
    let thread = spawn(move || assert!(mover.buckets().hold(x).shift()));
    assert_eq!(copy(&table, x), 1, "{COPIES}");
    thread.join().unwrap();
}

fn copies_in_a_snapshot(table: &Table, class: Class) -> u32 {
    let (copy, len) = table.copy().unwrap();
    let copies = copies(&copy, class);
    assert_eq!(u64::from(copies), len);
    copies
}

#[test]
fn model_a_snapshot_has_each_item_once() {
    check(5, None, || a_snapshot_has_each_item_once(copies_in_a_snapshot));
    check(5, None, || {
        a_snapshot_has_each_item_once(|table, class| table.buckets().hold(class).count());
    });
}

#[test]
fn mutant_copies_counted_without_the_stripe() {
    must_fail(COPIES, || check(1, None, || a_snapshot_has_each_item_once(copies)));
}

fn all_stripes_are_taken_by_two(second: fn(&Table)) {
    let table = table(4, 2);
    let other = Arc::clone(&table);
    let thread = spawn(move || second(&other));
    drop(table.hold_all());
    thread.join().unwrap();
}

#[test]
fn model_those_who_take_all_stripes_do_not_wait_for_each_other() {
    check(10, Some(3), || all_stripes_are_taken_by_two(|table| drop(table.hold_all())));
    check(5, Some(3), || {
        all_stripes_are_taken_by_two(|table| drop(table.buckets().hold(class(NEAR[0], 0))));
    });
}

#[test]
fn mutant_all_stripes_in_another_order() {
    fn backwards(table: &Table) {
        (0..table.locks.len()).rev().for_each(|stripe| table.lock(stripe));
        (0..table.locks.len()).for_each(|stripe| table.unlock(stripe));
    }
    must_fail("exceeded maximum number of branches", || {
        check(1, Some(3), || all_stripes_are_taken_by_two(backwards));
    });
}

// Once: of racing inserts exactly one is told that it was first, though the item is moved meanwhile.

const NOT_ONE: &str = "not exactly one was told that the item is new";

fn exactly_one_is_new(moved: bool) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    let other = Arc::clone(&table);
    let thread = spawn(move || {
        let new = evict::insert_once(other.buckets(), x);
        assert!(!moved || other.buckets().hold(x).shift(), "nothing to move, or no room");
        new
    });
    let mine = evict::insert_once(table.buckets(), x);
    let theirs = thread.join().unwrap();
    assert_eq!([mine, theirs].iter().filter(|&&new| new == Ok(true)).count(), 1, "{NOT_ONE}");
    assert_eq!(copies(&table, x), 1, "{NOT_ONE}");
}

#[test]
fn model_exactly_one_is_new() {
    check(240, None, || exactly_one_is_new(false));
    check(250, None, || exactly_one_is_new(true));
}

/// What a racer sees under the lock may be stale if the lock does not order it.
#[test]
fn mutants_of_the_lock_that_tell_two() {
    with_plain_peeks(|| check(12, None, || exactly_one_is_new(false)));
    for mutant in [Mutant::LockRelaxed, Mutant::UnlockRelaxed] {
        must_fail_with(mutant, NOT_ONE, || {
            with_plain_peeks(|| check(1, None, || exactly_one_is_new(false)));
        });
    }
}

#[test]
fn mutant_without_the_lock_two_are_new() {
    must_fail_with(Mutant::NoLock, NOT_ONE, || check(1, None, || exactly_one_is_new(false)));
}
