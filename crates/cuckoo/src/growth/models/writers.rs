//! Holders of a stripe while buckets split: relocations, removals and claims.

use super::*;
use crate::error::InsertError;
use crate::growth::insert;

/// Items of the upper and of the lower child, in the first or in the second bucket of their class.
fn items() -> [Class; 4] {
    [(1, 0), (0, 0), (1, 1), (0, 1)].map(|(kind, position)| class(KINDS[kind], position))
}

// A copy is relocated from one position to the other, while the bucket of the first position
// splits. It may go from a bucket that is split to one that is not, and back.

fn a_relocation_during_a_split(item: Class, swapped: bool) {
    let relocate = move |table: &Table| relocate(table, item);
    let table = in_order(swapped, table_with(PLAN, &[item]), relocate, split);
    assert!(contains(&table, item), "{MISSED}");
    assert_eq!(copies(&table, item), 1, "{COPIES}");
}

#[test]
fn model_a_relocation_during_a_split() {
    for item in items() {
        check_both([110, 1100], Some(3), move |swapped| a_relocation_during_a_split(item, swapped));
    }
}

/// The item is found meanwhile. `splits` are those before the threads begin, then those of the
/// relocating thread, before and after it relocates. The copy goes from the bucket that the query
/// reads second to the one that it reads first.
fn an_item_is_found_during_both(item: Class, splits: [usize; 3], query: Query) {
    let relocate = move |table: &Table| {
        (0..splits[1]).for_each(|_| split(table));
        relocate(table, item);
        (0..splits[2]).for_each(|_| split(table));
    };
    let query = move |table: &Table| assert!(query(table, mirrored(item)), "{MISSED}");
    let table = table_with(PLAN, &[item]);
    (0..splits[0]).for_each(|_| split(&table));
    let table = at_once(table, relocate, query);
    assert_eq!(copies(&table, item), 1, "{COPIES}");
}

#[test]
fn model_an_item_is_found_during_a_relocation_and_a_split() {
    for item in items() {
        for splits in [[1, 0, 0], [0, 1, 0], [0, 0, 1]] {
            check(60, bound(2, Some(3)), move || {
                an_item_is_found_during_both(item, splits, contains);
            });
        }
    }
}

fn a_relocation_with(mutant: Mutant, splits: [usize; 3]) {
    for item in items() {
        must_fail_with(mutant, MISSED, Some(2), move || {
            an_item_is_found_during_both(item, splits, contains);
        });
    }
}

#[test]
fn mutant_a_relocation_that_does_not_advance_the_version() {
    for splits in [[1, 0, 0], [0, 1, 0], [0, 0, 1]] {
        a_relocation_with(Mutant::NoAdvance, splits);
    }
}

#[test]
fn mutant_a_clear_without_release() {
    a_relocation_with(Mutant::UpdateRelaxed, [1, 0, 0]);
}

/// Three threads.
#[test]
fn model_an_item_is_found_by_a_third_thread() {
    check(9500, bound(1, Some(2)), || {
        let item = items()[0];
        let table = Arc::new(table_with(PLAN, &[item]));
        let [other, reader] = [Arc::clone(&table), Arc::clone(&table)];
        let threads = [
            spawn(move || split(&other)),
            spawn(move || assert!(contains(&reader, mirrored(item)), "{MISSED}")),
        ];
        relocate(&table, item);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(copies(&table, item), 1, "{COPIES}");
    });
}

// A removal during a split takes a copy, and one only.

type Remove = fn(&Table, Class) -> bool;

fn remove(table: &Table, class: Class) -> bool {
    table.lock_stripe(&table.placed(class)).remove()
}

fn a_removal_during_a_split(item: Class, remove: Remove, swapped: bool) {
    let remove = move |table: &Table| assert!(remove(table, item), "{COPIES}");
    let table = in_order(swapped, table_with(PLAN, &[item]), remove, split);
    assert_eq!(copies(&table, item), 0, "{COPIES}");
    assert!(!contains(&table, item), "{COPIES}");
}

#[test]
fn model_a_removal_during_a_split() {
    for item in [items()[0], items()[1]] {
        check_both([110, 1700], Some(3), move |swapped| {
            a_removal_during_a_split(item, remove, swapped);
        });
    }
}

/// Looks at what the pointer says only, and not at the tag.
fn remove_by_the_pointer(table: &Table, class: Class) -> bool {
    let placed = table.placed(class);
    let guard = table.lock_stripe(&placed);
    contains_without_tags(table, class) && guard.remove()
}

/// Returns whether the buckets that the pointer shows have the class, if the tags are ignored.
fn contains_without_tags(table: &Table, class: Class) -> bool {
    let (pointer, reading) = (table.pointer(), Reading { follow: false, ..READING });
    class
        .buckets
        .into_iter()
        .any(|position| read_by(table, pointer, position, class, reading) == Some(true))
}

#[test]
fn mutant_a_removal_that_does_not_follow_the_tag() {
    must_break(COPIES, Some(2), |swapped| {
        a_removal_during_a_split(items()[0], remove_by_the_pointer, swapped);
    });
}

/// Two items of one class are in both buckets. One is removed, and the other is found.
fn a_twin_is_found_during_a_removal_and_a_split(first: Class, splits: [usize; 2]) {
    let remove = move |table: &Table| {
        (0..splits[0]).for_each(|_| split(table));
        assert!(remove(table, first), "{COPIES}");
        (0..splits[1]).for_each(|_| split(table));
    };
    let query = move |table: &Table| assert!(contains(table, mirrored(first)), "{MISSED}");
    let table = at_once(table_with(PLAN, &[first, mirrored(first)]), remove, query);
    assert_eq!(copies(&table, first), 1, "{COPIES}");
}

/// Of two items of one class, one is inserted and then one is removed.
fn an_item_is_found_beside_a_twin(item: Class, splits: usize, query: Query) {
    let churn = move |table: &Table| {
        add(table, mirrored(item));
        (0..splits).for_each(|_| split(table));
        assert!(remove(table, item), "{COPIES}");
    };
    let query = move |table: &Table| assert!(query(table, mirrored(item)), "{MISSED}");
    let table = at_once(table_with(PLAN, &[item]), churn, query);
    assert_eq!(copies(&table, item), 1, "{COPIES}");
}

/// The first attempt of a query, in which the pointer must stay, and a later one, in which it
/// moves: the least number of executions, the splits, and the query.
const BESIDE_A_TWIN: [(usize, usize, Query); 2] = [(60, 0, contains), (100, 1, contains_contended)];

#[test]
fn model_an_item_is_found_during_a_removal_and_a_split() {
    for item in items() {
        for splits in [[1, 0], [0, 1]] {
            check(400, Some(2), move || {
                a_twin_is_found_during_a_removal_and_a_split(item, splits);
            });
        }
        for (least, splits, query) in BESIDE_A_TWIN {
            check(least, Some(2), move || an_item_is_found_beside_a_twin(item, splits, query));
        }
    }
}

/// The same, while both buckets are split and not yet published: then a removal finds them step by
/// step.
fn an_item_is_found_beside_a_twin_in_split_buckets(item: Class) {
    let churn = move |table: &Table| {
        add(table, mirrored(item));
        assert!(remove(table, item), "{COPIES}");
    };
    let query = move |table: &Table| assert!(contains(table, mirrored(item)), "{MISSED}");
    let table = table_with(PLAN, &[item]);
    (0..PLAN.buckets).for_each(|number| split_bucket(&table, 0, number, SPLITTING));
    let table = at_once(table, churn, query);
    assert_eq!(copies(&table, item), 1, "{COPIES}");
}

#[test]
fn model_an_item_is_found_during_a_removal_in_split_buckets() {
    for item in items() {
        check(50, Some(2), move || an_item_is_found_beside_a_twin_in_split_buckets(item));
    }
}

/// Checks that a property of an item fails for one item at least, with a planted bug.
fn one_item_is_missed(mutant: Mutant, property: impl Fn(Class) + Copy + Send + Sync + 'static) {
    let of_items =
        || items().into_iter().for_each(|item| check(1, Some(2), move || property(item)));
    with_planted(mutant, || must_panic(MISSED, of_items));
}

#[test]
fn mutants_of_a_removal_in_split_buckets() {
    for mutant in [Mutant::NoAdvance, Mutant::UpdateRelaxed] {
        one_item_is_missed(mutant, an_item_is_found_beside_a_twin_in_split_buckets);
    }
}

#[test]
fn mutant_a_removal_whose_clear_is_relaxed() {
    let property = |item| an_item_is_found_beside_a_twin(item, 0, contains);
    one_item_is_missed(Mutant::UpdateRelaxed, property);
}

#[test]
fn mutant_a_removal_that_does_not_advance_the_version() {
    for (_, splits, query) in BESIDE_A_TWIN {
        let property = move |item| an_item_is_found_beside_a_twin(item, splits, query);
        one_item_is_missed(Mutant::NoAdvance, property);
    }
}

// Exactly one of two claims wins.

const NOT_ONE: &str = "not exactly one insert returned true";

type Claim = fn(&Table, Class) -> Result<bool, InsertError>;

/// Two threads insert the item. One of them splits its bucket before that, after it, or not: then
/// a third thread does.
fn exactly_one_is_new(claim: Claim, item: Class, splits: [usize; 3]) {
    let table = Arc::new(table(PLAN));
    let (other, splitter) = (Arc::clone(&table), Arc::clone(&table));
    let thread = spawn(move || {
        (0..splits[0]).for_each(|_| split(&other));
        let new = claim(&other, item);
        (0..splits[1]).for_each(|_| split(&other));
        new
    });
    let third = (splits[2] > 0).then(|| spawn(move || split(&splitter)));
    // The other order of the buckets.
    let mine = claim(&table, mirrored(item));
    let theirs = thread.join().unwrap();
    if let Some(third) = third {
        third.join().unwrap();
    }
    assert_eq!([mine, theirs].iter().filter(|&&new| new == Ok(true)).count(), 1, "{NOT_ONE}");
    assert_eq!(copies(&table, item), 1, "{NOT_ONE}");
}

fn insert_once(table: &Table, class: Class) -> Result<bool, InsertError> {
    if table.contains_class(class) {
        return Ok(false);
    }
    insert::insert_once(table, &table.placed(class))
}

#[test]
fn model_exactly_one_is_new_during_a_split() {
    for item in [items()[0], items()[1]] {
        for splits in [[1, 0, 0], [0, 1, 0]] {
            check(1600, Some(3), move || exactly_one_is_new(insert_once, item, splits));
        }
    }
    check(5500, Some(1), || exactly_one_is_new(insert_once, items()[0], [0, 0, 1]));
}

/// Looks into the parent only, or into the child only if the pointer says so.
fn claim_by_the_pointer(table: &Table, class: Class) -> Result<bool, InsertError> {
    let placed = table.placed(class);
    let guard = table.lock_stripe(&placed);
    if contains_without_tags(table, class) {
        return Ok(false);
    }
    Ok(guard.add())
}

#[test]
fn mutant_a_claim_that_looks_into_one_of_parent_and_child() {
    must_fail(NOT_ONE, Some(2), || exactly_one_is_new(claim_by_the_pointer, items()[0], [0, 0, 1]));
}

/// A holder of the lock that reads Relaxed follows a tag to a child that it sees unborn: the lock
/// does not order the births of other threads.
#[test]
fn mutant_a_relaxed_load_under_the_lock() {
    use Ordering::Relaxed;
    let item = items()[0];
    for reading in [Reading { bucket: Relaxed, ..READING }, Reading { pointer: Relaxed, ..READING }]
    {
        let query = move |table: &Table| {
            let placed = table.placed(item);
            let _guard = table.lock_stripe(&placed);
            // ORDERING: the model's.
            let pointer = Pointer::of(table.pointer.load(reading.pointer));
            let read = |position| read_by(table, pointer, position, item, reading);
            assert!(item.buckets.into_iter().any(|at| read(at) == Some(true)), "{MISSED}");
        };
        must_fail(REACHED, Some(2), move || {
            at_once(table_with(PLAN, &[item]), split, query);
        });
    }
}
