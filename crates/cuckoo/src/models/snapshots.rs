//! A copy of the whole table.

use tamis_sync::Word;

use super::*;

// L12, L14: a snapshot beside a mover has each item once; and two of them do not wait for each other.

fn a_snapshot_has_each_item_once(copy: fn(&Table, Class) -> u32) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    add(&table, x);
    let mover = Arc::clone(&table);
    let thread = spawn(move || assert!(mover.buckets().lock_stripe(x).relocate()));
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
        a_snapshot_has_each_item_once(|table, class| table.buckets().lock_stripe(class).count());
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
    drop(table.lock_all_stripes());
    thread.join().unwrap();
}

#[test]
fn model_those_who_take_all_stripes_do_not_wait_for_each_other() {
    check(10, Some(3), || all_stripes_are_taken_by_two(|table| drop(table.lock_all_stripes())));
    check(5, Some(3), || {
        all_stripes_are_taken_by_two(|table| drop(table.buckets().lock_stripe(class(NEAR[0], 0))));
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

// L14: a snapshot while copies are added, which no stripe prevents, and removed.

/// A colliding item comes to the one bucket, and a copy goes from the other: one is in all the time.
fn a_snapshot_beside_an_add_and_a_remove(copy: fn(&Table, Class) -> u32) {
    let table = table(4, 1);
    let x = class(NEAR[0], 1);
    add(&table, x);
    let other = Arc::clone(&table);
    let thread = spawn(move || {
        add(&other, mirrored(x));
        assert!(other.buckets().lock_stripe(x).remove(), "nothing to remove");
    });
    let copies = copy(&table, x);
    assert!((1..=2).contains(&copies), "{COPIES}: {copies}");
    thread.join().unwrap();
}

/// What comes and goes in other classes: one that came before is in it, one that went before is not, and one that
/// stays is in it once, wherever it is moved meanwhile.
fn a_snapshot_has_what_is_in(stripes: u64, publish: Ordering, copy: fn(&Table) -> (Table, u64)) {
    let table = table(4, stripes);
    // The first in a stripe of its own, if there are two.
    let [stays, comes, goes] = [class(FAR[0], 1), class(NEAR[0], 2), class(NEAR[1], 0)];
    add(&table, stays);
    add(&table, goes);
    let flag = Arc::new(Word::new(0));
    let (other, published) = (Arc::clone(&table), Arc::clone(&flag));
    let thread = spawn(move || {
        assert!(other.buckets().lock_stripe(goes).remove(), "nothing to remove");
        // Last, since no stripe orders it.
        add(&other, comes);
        published.store(1, publish);
        assert!(other.buckets().lock_stripe(stays).relocate(), "nothing to move, or no room");
    });
    // ORDERING: Acquire pairs with `publish`: where it reads 1, the remove and the add happen before the copy.
    let after = flag.load(Ordering::Acquire) == 1;
    let (copy, len) = copy(&table);
    let [stays, comes, goes] = [stays, comes, goes].map(|class| copies(&copy, class));
    assert_eq!(stays, 1, "{COPIES} of what stays");
    assert!(comes <= 1 && (comes == 1 || !after), "{COPIES} of what came: {comes}");
    assert!(goes <= 1 && (goes == 0 || !after), "{COPIES} of what went: {goes}");
    assert_eq!(len, u64::from(stays + comes + goes), "{COPIES} in all");
    thread.join().unwrap();
}

fn copy(table: &Table) -> (Table, u64) {
    table.copy().unwrap()
}

#[test]
fn model_a_snapshot_beside_an_add_and_a_remove() {
    check(40, None, || a_snapshot_beside_an_add_and_a_remove(copies_in_a_snapshot));
    check(260, None, || a_snapshot_has_what_is_in(1, Ordering::Release, copy));
    check(330, None, || a_snapshot_has_what_is_in(2, Ordering::Release, copy));
}

/// A copy of the table made while the stripes are held that `lock_stripe` takes.
fn copy_under(table: &Table, stripes: usize) -> (Table, u64) {
    (0..stripes).for_each(|stripe| table.lock(stripe));
    let mut copy = Table::with_stripes(table.geometry(), 1).unwrap();
    for (to, from) in copy.words[0].words.iter_mut().zip(&table.words[0].words) {
        // ORDERING: Relaxed, as `Table::copy`: the stripes order it, which is what the mutants take away.
        let bits = from.load(Ordering::Relaxed);
        to.update(|to| *to = bits);
    }
    (0..stripes).for_each(|stripe| table.unlock(stripe));
    let len = copy.len();
    (copy, len)
}

#[test]
fn mutant_a_snapshot_without_stripes() {
    must_fail(COPIES, || {
        check(1, None, || {
            a_snapshot_beside_an_add_and_a_remove(|table, class| {
                copies(&copy_under(table, 0).0, class)
            });
        });
    });
    must_fail(COPIES, || {
        check(1, None, || {
            a_snapshot_has_what_is_in(1, Ordering::Release, |table| copy_under(table, 0));
        });
    });
}

/// The first stripe alone, which is all that a small filter has.
#[test]
fn mutant_a_snapshot_under_the_first_stripe() {
    must_fail(COPIES, || {
        check(1, None, || {
            a_snapshot_has_what_is_in(2, Ordering::Release, |table| copy_under(table, 1));
        });
    });
}

/// The items are counted in the table, not in the copy.
#[test]
fn mutant_a_snapshot_with_the_count_of_the_table() {
    must_fail(COPIES, || {
        check(1, None, || {
            a_snapshot_has_what_is_in(1, Ordering::Release, |table| {
                let (copy, _) = table.copy().unwrap();
                (copy, table.len())
            });
        });
    });
}

#[test]
fn mutants_of_the_orders_of_a_snapshot() {
    must_fail(COPIES, || {
        check(1, None, || a_snapshot_has_what_is_in(1, Ordering::Relaxed, copy));
    });
    for mutant in [Mutant::LockRelaxed, Mutant::UnlockRelaxed] {
        must_fail_with(mutant, COPIES, || {
            check(1, None, || a_snapshot_beside_an_add_and_a_remove(copies_in_a_snapshot));
        });
    }
}
