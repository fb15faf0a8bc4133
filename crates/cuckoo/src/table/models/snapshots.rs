//! Snapshots: a copy of the whole table while other threads write.

use tamis_sync::Word;

use super::super::pass::Pass;
use super::*;

// A snapshot during a relocation contains each item once, and two snapshots do not deadlock.

fn a_snapshot_contains_each_item_once(copy: fn(&Table, Class) -> u32) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    add(&table, x);
    let relocator = Arc::clone(&table);
    let thread = spawn(move || assert!(relocator.buckets().lock_stripe(x).relocate()));
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
fn model_a_snapshot_contains_each_item_once() {
    check(5, None, || a_snapshot_contains_each_item_once(copies_in_a_snapshot));
    check(5, None, || {
        a_snapshot_contains_each_item_once(|table, class| {
            table.buckets().lock_stripe(class).count()
        });
    });
}

#[test]
fn mutant_copies_counted_without_the_lock() {
    must_fail(COPIES, None, || a_snapshot_contains_each_item_once(copies));
}

fn two_threads_lock_all_stripes(second: fn(&Table)) {
    let table = table(4, 2);
    let other = Arc::clone(&table);
    let thread = spawn(move || second(&other));
    drop(table.lock_all_stripes());
    thread.join().unwrap();
}

#[test]
fn model_two_threads_that_lock_all_stripes_do_not_deadlock() {
    check(10, Some(3), || two_threads_lock_all_stripes(|table| drop(table.lock_all_stripes())));
    check(5, Some(3), || {
        two_threads_lock_all_stripes(|table| drop(table.buckets().lock_stripe(class(NEAR[0], 0))));
    });
}

#[test]
fn mutant_all_stripes_locked_in_another_order() {
    fn backwards(table: &Table) {
        (0..table.locks.len()).rev().for_each(|stripe| table.lock(stripe));
        (0..table.locks.len()).for_each(|stripe| table.unlock(stripe));
    }
    must_fail("exceeded maximum number of branches", Some(3), || {
        two_threads_lock_all_stripes(backwards);
    });
}

// A snapshot while copies are added, which no lock prevents, and removed.

/// An item of the same class is added to one bucket, and a copy is removed from the other: one is
/// present all the time.
fn a_snapshot_during_an_add_and_a_removal(copy: fn(&Table, Class) -> u32) {
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

/// Adds and removals in other classes. A copy that was added before the snapshot is in it; a copy
/// that was removed before is not; and a copy that stays is in it once, wherever it is relocated
/// meanwhile.
fn a_snapshot_contains_what_is_present(
    stripes: u64,
    publish: Ordering,
    copy: fn(&Table) -> (Table, u64),
) {
    let table = table(4, stripes);
    // The first is in a stripe of its own, if there are two.
    let [stays, added, removed] = [class(FAR[0], 1), class(NEAR[0], 2), class(NEAR[1], 0)];
    add(&table, stays);
    add(&table, removed);
    let flag = Arc::new(Word::new(0));
    let (other, published) = (Arc::clone(&table), Arc::clone(&flag));
    let thread = spawn(move || {
        assert!(other.buckets().lock_stripe(removed).remove(), "nothing to remove");
        // Last, because no lock orders it.
        add(&other, added);
        published.store(1, publish);
        assert!(
            other.buckets().lock_stripe(stays).relocate(),
            "no copy to relocate, or no empty slot"
        );
    });
    // ORDERING: Acquire pairs with `publish`: where it reads 1, the remove and the add happen
    // before the copy.
    let after = flag.load(Ordering::Acquire) == 1;
    let (copy, len) = copy(&table);
    let [stays, added, removed] = [stays, added, removed].map(|class| copies(&copy, class));
    assert_eq!(stays, 1, "{COPIES} of the copy that stays");
    assert!(added <= 1 && (added == 1 || !after), "{COPIES} of the added copy: {added}");
    assert!(removed <= 1 && (removed == 0 || !after), "{COPIES} of the removed copy: {removed}");
    assert_eq!(len, u64::from(stays + added + removed), "{COPIES} in total");
    thread.join().unwrap();
}

fn copy(table: &Table) -> (Table, u64) {
    table.copy().unwrap()
}

#[test]
fn model_a_snapshot_during_an_add_and_a_removal() {
    check(40, None, || a_snapshot_during_an_add_and_a_removal(copies_in_a_snapshot));
    // ORDERING: Release publishes the add and the removal to the snapshot's Acquire load of the
    // flag.
    check(260, None, || a_snapshot_contains_what_is_present(1, Ordering::Release, copy));
    check(330, None, || a_snapshot_contains_what_is_present(2, Ordering::Release, copy));
}

/// Copies the table under the locks of the first `stripes` stripes.
fn copy_under(table: &Table, stripes: usize) -> (Table, u64) {
    (0..stripes).for_each(|stripe| table.lock(stripe));
    let mut copy = Table::with_stripes(table.geometry, 1).unwrap();
    for (to, from) in copy.words[0].words.iter_mut().zip(&table.words[0].words) {
        // ORDERING: Relaxed, as in `Table::copy`: the locks order it, and the mutants omit locks.
        let bits = from.load(Ordering::Relaxed);
        to.update(|to| *to = bits);
    }
    (0..stripes).for_each(|stripe| table.unlock(stripe));
    let len = copy.len();
    (copy, len)
}

#[test]
fn mutant_a_snapshot_without_locks() {
    must_fail(COPIES, None, || {
        a_snapshot_during_an_add_and_a_removal(|table, class| {
            copies(&copy_under(table, 0).0, class)
        });
    });
    must_fail(COPIES, None, || {
        // ORDERING: Release, as in the model: the planted defect is the missing lock.
        a_snapshot_contains_what_is_present(1, Ordering::Release, |table| copy_under(table, 0));
    });
}

/// Locks only the first stripe, which would suffice in a filter with one stripe.
#[test]
fn mutant_a_snapshot_under_the_first_lock() {
    must_fail(COPIES, None, || {
        // ORDERING: Release, as in the model: the planted defect is the missing second lock.
        a_snapshot_contains_what_is_present(2, Ordering::Release, |table| copy_under(table, 1));
    });
}

/// Counts the items in the table instead of the copy.
#[test]
fn mutant_a_snapshot_with_the_length_of_the_table() {
    must_fail(COPIES, None, || {
        // ORDERING: Release, as in the model: the planted defect is the length.
        a_snapshot_contains_what_is_present(1, Ordering::Release, |table| {
            let (copy, _) = table.copy().unwrap();
            (copy, table.len())
        });
    });
}

#[test]
fn mutants_of_the_orderings_of_a_snapshot() {
    must_fail(COPIES, None, || {
        // ORDERING: Relaxed is the planted defect: it publishes neither the add nor the removal.
        a_snapshot_contains_what_is_present(1, Ordering::Relaxed, copy);
    });
    for mutant in [Mutant::LockRelaxed, Mutant::UnlockRelaxed] {
        must_fail_with(mutant, COPIES, None, || {
            a_snapshot_during_an_add_and_a_removal(copies_in_a_snapshot);
        });
    }
}

// A pass without a copy. Where it reports that its lines were read at different moments, its user
// takes a snapshot.

/// Copies the table in a pass, and returns the number that the pass reports.
fn copy_in_a_pass(table: &Table, pass: fn(&Table) -> Pass<'_>) -> Option<(Table, u64)> {
    let mut pass = pass(table);
    let mut copy = Table::with_stripes(table.geometry, 1).unwrap();
    pass.read(0..1, |line| {
        for (to, bits) in copy.words[0].words.iter_mut().zip(*line) {
            to.update(|to| *to = bits);
        }
    });
    pass.finish().map(|len| (copy, len))
}

fn pass_or_copy(table: &Table) -> (Table, u64) {
    copy_in_a_pass(table, Table::pass).unwrap_or_else(|| table.copy().unwrap())
}

fn copies_in_a_pass(table: &Table, class: Class) -> u32 {
    let (copy, len) = pass_or_copy(table);
    let copies = copies(&copy, class);
    assert_eq!(u64::from(copies), len);
    copies
}

/// Two copies of a class are in one bucket, and one of them is removed, which advances no version.
/// Then one is added to the other bucket, and one removed. One copy is never removed.
fn a_pass_during_a_quiet_removal(copy: fn(&Table, Class) -> u32) {
    let table = table(4, 1);
    let x = class(NEAR[0], 1);
    add(&table, x);
    add(&table, x);
    let other = Arc::clone(&table);
    let thread = spawn(move || {
        assert!(other.buckets().lock_stripe(x).remove(), "nothing to remove");
        add(&other, mirrored(x));
        assert!(other.buckets().lock_stripe(x).remove(), "nothing to remove");
    });
    let copies = copy(&table, x);
    assert!((1..=3).contains(&copies), "{COPIES}: {copies}");
    thread.join().unwrap();
}

#[test]
fn model_a_pass() {
    check(5, None, || a_snapshot_contains_each_item_once(copies_in_a_pass));
    check(40, None, || a_snapshot_during_an_add_and_a_removal(copies_in_a_pass));
    check(180, bound(2, None), || a_pass_during_a_quiet_removal(copies_in_a_pass));
    // Bounded: unbounded, these take minutes.
    // ORDERING: Release publishes the add and the removal, as in the model of a snapshot.
    let publish = Ordering::Release;
    check(5, Some(2), move || a_snapshot_contains_what_is_present(1, publish, pass_or_copy));
    check(5, Some(2), move || a_snapshot_contains_what_is_present(2, publish, pass_or_copy));
}

/// A pass without a concurrent relocation is valid, and its user needs no copy.
#[test]
fn model_a_pass_during_an_add_is_valid() {
    check(2, None, || {
        let table = table(4, 2);
        let x = class(NEAR[0], 0);
        add(&table, x);
        let other = Arc::clone(&table);
        let thread = spawn(move || add(&other, class(FAR[0], 1)));
        let (copy, len) = copy_in_a_pass(&table, Table::pass).expect("no copy was relocated");
        assert!(copies(&copy, x) == 1 && (1..=2).contains(&len), "{COPIES}: {len}");
        thread.join().unwrap();
    });
}

/// Checks no version at the end.
#[test]
fn mutant_a_pass_without_a_check() {
    fn unchecked(table: &Table, class: Class) -> u32 {
        let mut pass = table.pass();
        let mut count = 0;
        pass.read(0..1, |words| {
            let copy = Table::with_stripes(table.geometry, 1).unwrap();
            for (to, bits) in copy.words[0].words.iter().zip(words) {
                // ORDERING: Relaxed: one thread has this copy.
                to.store(*bits, Ordering::Relaxed);
            }
            count = copies(&copy, class);
        });
        count
    }
    must_fail(COPIES, None, || a_snapshot_contains_each_item_once(unchecked));
    must_fail(COPIES, None, || a_snapshot_during_an_add_and_a_removal(unchecked));
}

/// Reads the versions without the locks: a relocation between its advance and its clear is not
/// noticed.
#[test]
fn mutant_a_pass_that_begins_without_the_locks() {
    fn copies_in(table: &Table, class: Class) -> u32 {
        copy_in_a_pass(table, |table| Pass { table, before: table.unlocked_versions(), len: 0 })
            .map_or_else(|| copies_in_a_snapshot(table, class), |(copy, _)| copies(&copy, class))
    }
    must_fail(COPIES, None, || a_snapshot_contains_each_item_once(copies_in));
}

/// The same at the end: a relocation between its add and its advance is not noticed.
#[test]
fn mutant_a_pass_that_ends_without_the_locks() {
    fn copies_in(table: &Table, class: Class) -> u32 {
        let mut pass = table.pass();
        let copy = Table::with_stripes(table.geometry, 1).unwrap();
        pass.read(0..1, |words| {
            for (to, bits) in copy.words[0].words.iter().zip(words) {
                // ORDERING: Relaxed: one thread has this copy.
                to.store(*bits, Ordering::Relaxed);
            }
        });
        if pass.is_torn() { copies_in_a_snapshot(table, class) } else { copies(&copy, class) }
    }
    must_fail(COPIES, None, || a_snapshot_contains_each_item_once(copies_in));
}
