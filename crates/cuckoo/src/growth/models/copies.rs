//! Copies of the table while buckets split and copies are relocated: each copy is in it once.

use super::*;
use crate::growth::words::Words;

const NOT_ONCE: &str = "an item is not once in a copy of the table";

/// Returns how often the class is in a copy of the table.
type Copy = fn(&Table, Class) -> u32;

fn copy(table: &Table, class: Class) -> u32 {
    let (copy, len) = table.copy().unwrap();
    let count = copies(&copy, class);
    assert_eq!(len, u64::from(count), "{NOT_ONCE}");
    count
}

fn an_item_is_once_in_a_copy(item: Class, copy: Copy, swapped: bool) {
    let copy = move |table: &Table| assert_eq!(copy(table, item), 1, "{NOT_ONCE}");
    let relocate = move |table: &Table| {
        split(table);
        relocate(table, item);
        split(table);
    };
    in_order(swapped, table_with(PLAN, &[item]), copy, relocate);
}

/// An item of the upper and one of the lower child, relocated in the order of a copy's reads and
/// against it.
fn items() -> [Class; 4] {
    [(1, 0), (0, 0), (1, 1), (0, 1)].map(|(kind, position)| class(KINDS[kind], position))
}

#[test]
fn model_an_item_is_once_in_a_copy() {
    for item in items() {
        check_both([200, 2100], bound(3, None), move |swapped| {
            an_item_is_once_in_a_copy(item, copy, swapped);
        });
        check_both([80, 840], bound(3, None), move |swapped| {
            an_item_is_once_in_a_copy(item, |table, x| copy_by(table, x, true, true), swapped);
        });
    }
}

/// Counts the class in the buckets that the pointer shows, with the stripe or not, and looks at
/// tags or not.
fn copy_by(table: &Table, class: Class, locks: bool, looks: bool) -> u32 {
    let placed = table.placed(class);
    let _guard = locks.then(|| table.lock_stripe(&placed));
    let (pointer, plan, mut count) = (table.pointer(), &table.plan, 0);
    // ORDERING: Acquire, as in `normal`.
    let load = |place| table.words.load(place, Ordering::Acquire);
    for place in 0..plan.places(pointer) {
        let (layout, level) = (table.layout(), pointer.level_at(plan, place));
        let position = layout.position(place);
        let folded = layout.folded_at(class.fingerprint, position);
        let is_of_class = |level| layout.number(position, folded, level) == place;
        let count_in = |bucket, level| table.shape(level).count(bucket, folded >> level);
        if !class.buckets.contains(&position) || !is_of_class(level) {
            continue;
        }
        let bucket = load(place);
        let tag = tag(bucket, *table.shape(level));
        count += if !looks || tag == tag_of_level(level) || tag == FROZEN {
            count_in(bucket, level)
        } else if is_of_class(level + 1) {
            count_in(bucket, level + 1)
        } else {
            count_in(load((plan.positions() << level) + place), level + 1)
        };
    }
    count
}

#[test]
fn mutant_a_copy_without_the_stripes() {
    must_break(NOT_ONCE, Some(2), |swapped| {
        an_item_is_once_in_a_copy(items()[2], |table, x| copy_by(table, x, false, true), swapped);
    });
}

/// A thread splits a full bucket and stops before it moves the pointer. Then an item is added to a
/// child: both children hold more than their parent can. Every item is once in a copy.
fn all_are_once_in_a_copy_beside_an_add_to_a_child(copy: fn(&Table) -> (Table, u64)) {
    let residents = [0, 1].map(|position| KINDS.map(|kind| class(kind | position << 6, position)));
    let table = table_with(PLAN, residents.as_flattened());
    let add = |table: &Table| {
        split_bucket(table, 0, 0, SPLITTING);
        add(table, class(KINDS[0] << 2, 0));
    };
    let copy = move |table: &Table| {
        let (copy, len) = copy(table);
        // First the number: in a copy that is wrong, the methods may wait for a split.
        assert!([8, 9].contains(&len), "{NOT_ONCE}");
        let once = |&class: &Class| copies(&copy, class) == 1;
        assert!(residents.as_flattened().iter().all(once), "{NOT_ONCE}");
    };
    let table = at_once(table, add, copy);
    let (copied, len) = table.copy().unwrap();
    assert_eq!((copied.places(), len), (3, 9), "{NOT_ONCE}");
}

#[test]
fn model_all_are_once_in_a_copy_beside_an_add_to_a_child() {
    check(400, None, || {
        all_are_once_in_a_copy_beside_an_add_to_a_child(|table| table.copy().unwrap());
    });
}

/// One bucket of a portion is split, and a thread splits the other one beside a copy, in which both
/// are split. The upper children hold less than the lower ones, so a copy may not confuse them.
fn all_are_once_in_a_copy_beside_the_rest_of_a_portion(copy: fn(&Table) -> (Table, u64)) {
    let residents = [0, 1].map(|at| [0, 1, 2].map(|kind| class(KINDS[kind] | at << 6, at)));
    let table = Table::with_sizes(PLAN, 1, PLAN.buckets).unwrap();
    residents.as_flattened().iter().for_each(|&class| add_at(&table, class));
    split_bucket(&table, 0, 0, SPLITTING);
    let copy = move |table: &Table| {
        let (copy, len) = copy(table);
        assert_eq!((copy.places(), len), (4, 6), "{NOT_ONCE}");
        let once = |&class: &Class| copies(&copy, class) == 1;
        assert!(residents.as_flattened().iter().all(once), "{NOT_ONCE}");
    };
    at_once(table, |table| split_bucket(table, 0, 1, SPLITTING), copy);
}

#[test]
fn model_all_are_once_in_a_copy_beside_the_rest_of_a_portion() {
    check(200, None, || {
        all_are_once_in_a_copy_beside_the_rest_of_a_portion(|table| table.copy().unwrap());
    });
}

/// Returns a copy at a pointer: `choose` gets that of the table, loaded before the stripe is taken
/// if `early`.
fn copy_at(
    table: &Table,
    early: bool,
    choose: impl FnOnce(&Table, Pointer) -> Pointer,
    fill: impl FnOnce(&Table, Pointer, Pointer, &mut Words) -> u64,
) -> (Table, u64) {
    let mut words = Words::reserved(&PLAN, PLAN.last_places(), table.places()).unwrap();
    let before = table.pointer();
    table.lock(0);
    let from = if early { before } else { table.pointer() };
    let pointer = choose(table, from);
    let len = fill(table, from, pointer, &mut words);
    table.unlock(0);
    let mut copy = Table::of_words(PLAN, words, 1, 1).unwrap();
    copy.restart(pointer);
    (copy, len)
}

fn fill(table: &Table, from: Pointer, pointer: Pointer, words: &mut Words) -> u64 {
    table.copy_into(from.level, pointer, words)
}

/// A copy at the pointer of the table, whatever is split behind it.
#[test]
fn mutant_a_copy_that_puts_all_children_together() {
    must_fail(NOT_ONCE, None, || {
        all_are_once_in_a_copy_beside_an_add_to_a_child(|table| {
            copy_at(table, false, |_, pointer| pointer, fill)
        });
    });
}

/// A copy that loads each child once: it may be born after that, and before its parent is loaded.
#[test]
fn mutant_a_copy_that_loads_a_child_once() {
    fn fill_once(table: &Table, from: Pointer, pointer: Pointer, words: &mut Words) -> u64 {
        let (shape, next) = (*table.shape(from.level), *table.shape(from.level + 1));
        let mut len = 0;
        for place in 0..PLAN.places(pointer) {
            let mut bucket = table.bucket(place);
            let number = place & (PLAN.positions() - 1);
            let parent = table.bucket(number);
            if tag(bucket, next) != tag_of_level(from.level + 1)
                && tag(parent, shape) != tag_of_level(from.level + 1)
            {
                bucket = halves(parent, from.level, shape, next)[usize::from(place != number)];
            }
            len += u64::from(next.slots - next.count(bucket, 0));
            words.set(place, bucket);
        }
        len
    }
    must_fail(NOT_ONCE, None, || {
        all_are_once_in_a_copy_beside_the_rest_of_a_portion(|table| {
            copy_at(table, false, Table::pointer_of_copy, fill_once)
        });
    });
}

#[test]
fn mutant_a_copy_that_ignores_the_tag() {
    must_break(NOT_ONCE, Some(2), |swapped| {
        an_item_is_once_in_a_copy(items()[0], |table, x| copy_by(table, x, true, false), swapped);
    });
}

/// As above, where the pointer has moved before the bucket that is split: the copy has the pointer
/// that it loads when it has the stripes.
fn all_are_once_in_a_copy_beside_a_move_and_an_add(copy: fn(&Table) -> (Table, u64)) {
    let residents = [0, 1].map(|position| KINDS.map(|kind| class(kind | position << 6, position)));
    let table = table_with(PLAN, residents.as_flattened());
    let add = |table: &Table| {
        split(table);
        split_bucket(table, 0, 1, SPLITTING);
        add(table, class(KINDS[0] << 2, 1));
    };
    let copy = move |table: &Table| {
        let (copy, len) = copy(table);
        assert!([8, 9].contains(&len), "{NOT_ONCE}");
        let once = |&class: &Class| copies(&copy, class) == 1;
        assert!(residents.as_flattened().iter().all(once), "{NOT_ONCE}");
    };
    at_once(table, add, copy);
}

#[test]
fn model_a_copy_has_the_pointer_under_the_stripes() {
    check(1500, Some(2), || {
        all_are_once_in_a_copy_beside_a_move_and_an_add(|table| table.copy().unwrap());
    });
}

#[test]
fn mutant_a_copy_has_a_pointer_from_before_the_stripes() {
    must_fail(NOT_ONCE, Some(2), || {
        all_are_once_in_a_copy_beside_a_move_and_an_add(|table| {
            copy_at(table, true, Table::pointer_of_copy, fill)
        });
    });
}
