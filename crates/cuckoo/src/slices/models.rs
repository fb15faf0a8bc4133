//! Models of a filter that grows: a copy in one slice stands for a copy in any other.

use tamis_sync::model::{Mutant, check, must_fail, must_fail_with};
use tamis_sync::thread::{Arc, spawn};

use super::*;

/// The messages of the properties begin with one of these.
const MISSED: &str = "a present item was missed";
const COPIES: &str = "wrong number of copies";

/// Four buckets of four slots, then eight.
const PLAN: Plan = Plan { buckets: 4, width: 16, slices: 2 };

/// A class whose buckets are 0 and 1 in the first slice, and 0 and 2 in the second.
fn x() -> Class {
    let class = Class::of(4, 0, PLAN.buckets);
    assert_eq!((class.buckets, nested(class, 1).buckets), ([0, 1], [0, 2]));
    class
}

/// Two empty slices, the second of which takes inserts, under one lock.
fn two() -> Slices {
    let slice = |number: u32| {
        let table = Table::with_stripes(PLAN.geometry(number).unwrap(), 1).unwrap();
        Slice::of_table(table, 0).unwrap()
    };
    let mut slices = Slices::with_first(PLAN, slice(0), 1).unwrap();
    assert!(slices.push(slice(1)));
    slices
}

type Query = fn(&Slices, Class) -> bool;
type Removal = fn(&Slices, Class) -> bool;

fn contains(slices: &Slices, class: Class) -> bool {
    slices.contains(class)
}

fn remove(slices: &Slices, class: Class) -> bool {
    let _guard = slices.lock(class);
    slices.remove_locked(class)
}

/// Adds a copy to a slice, under the lock.
fn add(slices: &Slices, number: usize, class: Class) {
    let _guard = slices.lock(class);
    slices.insert_into(number, class).unwrap();
}

/// Of two items of one class, one is in the first slice. Another is inserted into the second,
/// after the reader read it, and a removal of it then takes a copy from either, before the reader
/// reads the first.
fn an_item_is_found_during_a_cross_slice_removal(query: Query, removal: Removal) {
    let slices = Arc::new(two());
    let x = x();
    add(&slices, 0, x);
    let other = Arc::clone(&slices);
    let thread = spawn(move || {
        add(&other, 1, x);
        assert!(removal(&other, x), "nothing to remove");
    });
    assert!(query(&slices, x), "{MISSED}");
    thread.join().unwrap();
    let guard = slices.lock(x);
    drop(guard);
    assert_eq!(slices.count(x), 1, "{COPIES}");
}

/// Removes the copy from the oldest slice that has one: the worst case for a reader, which
/// reads the newest first.
fn remove_oldest(slices: &Slices, class: Class) -> bool {
    remove_oldest_by(slices, class, true)
}

fn remove_oldest_by(slices: &Slices, class: Class, advance: bool) -> bool {
    let _guard = slices.lock(class);
    for (number, slice) in slices.iter().enumerate() {
        let guard = slice.table.buckets().lock_stripe(nested(class, number as u32));
        if guard.contains() {
            if advance {
                // ORDERING: Release, as in the real removal.
                slices.version(class).advance(Ordering::Release);
            }
            guard.remove();
            return true;
        }
    }
    false
}

#[test]
fn model_an_item_is_found_during_a_cross_slice_removal() {
    check(280, Some(3), || an_item_is_found_during_a_cross_slice_removal(contains, remove));
    check(520, Some(3), || {
        an_item_is_found_during_a_cross_slice_removal(contains, remove_oldest);
    });
}

#[test]
fn mutant_a_cross_slice_removal_that_does_not_advance() {
    must_fail(MISSED, || {
        check(1, Some(3), || {
            an_item_is_found_during_a_cross_slice_removal(contains, |slices, class| {
                remove_oldest_by(slices, class, false)
            });
        });
    });
}

#[test]
fn mutant_a_query_that_does_not_check_the_version() {
    must_fail(MISSED, || {
        check(1, Some(3), || {
            an_item_is_found_during_a_cross_slice_removal(
                |slices, class| slices.is_in_any(class),
                remove_oldest,
            );
        });
    });
}

#[test]
fn mutant_a_version_that_advances_relaxed() {
    must_fail_with(Mutant::AdvanceRelaxed, MISSED, || {
        check(1, Some(3), || {
            an_item_is_found_during_a_cross_slice_removal(contains, remove_oldest);
        });
    });
}

/// While an empty slice gives its pages back, an item is inserted into it, or into the other.
/// It is found afterwards.
fn an_insert_survives_a_closing(give_back: fn(&Slices)) {
    let slices = Arc::new(two());
    let other = Arc::clone(&slices);
    let thread = spawn(move || give_back(&other));
    {
        let _guard = slices.lock(x());
        // As `insert_into_any` does, with the first slice as the active one.
        if slices.insert_into(0, x()).is_err() {
            slices.insert_into(1, x()).unwrap();
        }
    }
    thread.join().unwrap();
    assert!(slices.contains(x()), "{MISSED}");
}

fn give_back_first(slices: &Slices) {
    let first = slices.list.get(0).unwrap();
    slices.give_back(first);
}

#[test]
fn model_an_insert_survives_a_closing() {
    check(18, Some(3), || an_insert_survives_a_closing(give_back_first));
}

#[test]
fn mutant_pages_given_back_without_a_grace_period() {
    must_fail(MISSED, || {
        check(1, Some(3), || {
            an_insert_survives_a_closing(|slices| {
                let first = slices.list.get(0).unwrap();
                // ORDERING: as in `give_back`, but no lock is taken.
                first.state.store(CLOSED, Ordering::Relaxed);
                if first.len.get() == 0 {
                    first.table.release();
                }
                // ORDERING: likewise.
                first.state.store(GIVEN_BACK, Ordering::Release);
            });
        });
    });
}

/// One slice more: the newest one gives nothing back.
const PLAN_OF_THREE: Plan = Plan { buckets: 4, width: 16, slices: 3 };

/// x is in the second slice. Then another item of its class is inserted into the first, a
/// removal takes the copy in the second, and the second gives its pages back. A query that reads
/// the zeros of the release sees the copy in the first, or that the version has advanced.
fn an_item_is_found_while_pages_are_given_back(give_back: fn(&Slices)) {
    let x = x();
    let slice = |number: u32| {
        let table = Table::with_stripes(PLAN_OF_THREE.geometry(number).unwrap(), 1).unwrap();
        Slice::of_table(table, 0).unwrap()
    };
    let mut slices = Slices::with_first(PLAN_OF_THREE, slice(0), 1).unwrap();
    assert!(slices.push(slice(1)) && slices.push(slice(2)));
    let slices = Arc::new(slices);
    add(&slices, 1, x);
    let other = Arc::clone(&slices);
    let thread = spawn(move || {
        add(&other, 0, x);
        assert!(remove(&other, x), "nothing to remove");
        give_back(&other);
    });
    assert!(slices.contains(x), "{MISSED}");
    thread.join().unwrap();
    assert_eq!(slices.count(x), 1, "{COPIES}");
}

#[test]
fn model_an_item_is_found_while_pages_are_given_back() {
    check(100, Some(2), || {
        an_item_is_found_while_pages_are_given_back(|slices| {
            slices.give_back(slices.list.get(1).unwrap());
        });
    });
}

/// A reader of a zero that was stored sees neither the removal before it nor what came before that.
#[test]
fn mutant_pages_given_back_by_stores() {
    must_fail(MISSED, || {
        check(1, Some(2), || {
            an_item_is_found_while_pages_are_given_back(|slices| {
                slices.list.get(1).unwrap().table.release_by_stores();
            });
        });
    });
}

// A copy is of one moment: nothing is removed from a slice that is not yet copied, nothing
// added to one that is.

type Copy = fn(&Slices) -> Slices;

fn copy(slices: &Slices) -> Slices {
    slices.copy().unwrap()
}

/// x is in the second slice. Another item of its class is inserted into the first, and a
/// removal takes the copy in the second: one is present all the time, so one is in the copy.
fn a_copy_has_a_present_item(copy: Copy) {
    let slices = Arc::new(two());
    let x = x();
    add(&slices, 1, x);
    let other = Arc::clone(&slices);
    let thread = spawn(move || {
        add(&other, 0, x);
        assert!(remove(&other, x), "nothing to remove");
    });
    let copied = copy(&slices);
    let copies = copied.count(x);
    assert!(copies > 0, "{MISSED}");
    assert_eq!(copied.len(), u64::from(copies), "{COPIES}");
    thread.join().unwrap();
}

#[test]
fn model_a_copy_has_a_present_item() {
    check(11, None, || a_copy_has_a_present_item(copy));
}

#[test]
fn mutant_a_copy_without_the_locks() {
    must_fail(MISSED, || {
        check(1, Some(2), || {
            a_copy_has_a_present_item(|slices| {
                let mut copies = Vec::new();
                slices.allocate_copies(&mut copies).unwrap();
                slices.fill_copies(&mut copies);
                slices.of_copies(copies).unwrap()
            });
        });
    });
}

/// The filter grows while memory for the copy is allocated. An item is inserted into the new
/// slice, and then another into the first: a copy that has the second has the first.
fn a_copy_has_slices_that_were_added(copy: Copy) {
    let table = Table::with_stripes(PLAN.geometry(0).unwrap(), 1).unwrap();
    let first = Slice::of_table(table, 0).unwrap();
    let slices = Arc::new(Slices::with_first(PLAN, first, 1).unwrap());
    let (x, later) = (x(), Class::of(5, 0, PLAN.buckets));
    let other = Arc::clone(&slices);
    let thread = spawn(move || {
        other.grow(1).unwrap();
        add(&other, 1, x);
        add(&other, 0, later);
    });
    let copied = copy(&slices);
    assert!(copied.count(x) >= copied.count(later), "{MISSED}");
    thread.join().unwrap();
}

#[test]
fn model_a_copy_has_slices_that_were_added() {
    check(65, Some(2), || a_copy_has_slices_that_were_added(copy));
}

#[test]
fn mutant_a_copy_of_the_slices_before_the_locks() {
    must_fail(MISSED, || {
        check(1, Some(2), || {
            a_copy_has_slices_that_were_added(|slices| {
                let (mut copies, mut guards) = (Vec::new(), slices.room_for_guards().unwrap());
                slices.allocate_copies(&mut copies).unwrap();
                slices.lock_all(&mut guards);
                slices.fill_copies(&mut copies);
                drop(guards);
                slices.of_copies(copies).unwrap()
            });
        });
    });
}
