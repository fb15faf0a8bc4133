//! Removals: the removal of one copy hides no other copy.

use super::*;

// An item is inserted while another one of its class is inserted and removed. So the removal finds
// copies in both buckets, or in one only, and the reader reads either bucket first. A copy may be
// added to one bucket after the reader read it, and the first item's own copy be cleared from the
// other bucket before the reader reads it.

fn an_item_inserted_during_a_removal_is_found(query: Query, remove: Change) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    let other = Arc::clone(&table);
    let thread = spawn(move || {
        add(&other, mirrored(x));
        assert!(remove(&other.buckets().lock_stripe(x)), "nothing to remove");
    });
    add(&table, x);
    assert!(query(&table, x), "{MISSED}");
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 1, "{COPIES}");
}

#[test]
fn model_an_item_inserted_during_a_removal_is_found() {
    check(6800, None, || an_item_inserted_during_a_removal_is_found(contains, remove));
    check(14_000, None, || an_item_inserted_during_a_removal_is_found(mirrored_contains, remove));
    check(3600, Some(3), || an_item_inserted_during_a_removal_is_found(contains_in_batch, remove));
    check(4400, Some(3), || {
        an_item_inserted_during_a_removal_is_found(mirrored_contains_in_batch, remove);
    });
}

/// Removes a copy and never advances the version.
fn remove_quietly(guard: &StripeGuard<'_>) -> bool {
    let [one, other] = guard.class.buckets;
    guard.clear_slot(if guard.contains_in(one) { one } else { other });
    true
}

#[test]
fn mutant_a_removal_that_does_not_advance_the_version() {
    for query in [mirrored_contains, mirrored_contains_in_batch] {
        must_fail(MISSED, None, move || {
            an_item_inserted_during_a_removal_is_found(query, remove_quietly);
        });
    }
}

#[test]
fn mutant_a_removal_that_advances_the_version_too_late() {
    fn remove(guard: &StripeGuard<'_>) -> bool {
        remove_quietly(guard);
        guard.advance_version();
        true
    }
    for query in [mirrored_contains, mirrored_contains_in_batch] {
        must_fail(MISSED, None, move || an_item_inserted_during_a_removal_is_found(query, remove));
    }
}

/// A batch query with another check of the versions: `sum` combines them, and `late` loads the
/// first ones too late.
fn batch_by(table: &Table, class: Class, sum: fn(u64, u64) -> u64, late: bool) -> bool {
    let classes = batch(class);
    let versions =
        |order| classes.keys.iter().fold(0, |all, &key| sum(all, table.version(key).load(order)));
    let mut read = BatchRead::NONE;
    // ORDERING: Acquire, and Relaxed after the reads, as in the real batch query. The planted bugs
    // are the sum and the place of the first load.
    let mut before = versions(Ordering::Acquire);
    table.buckets().read_batch(&classes, &mut read);
    if late {
        before = versions(Ordering::Acquire);
    }
    read.changed = versions(Ordering::Relaxed) != before;
    table.buckets().contains_batch(&classes, &read)[0]
}

#[test]
fn mutants_of_a_batch_during_a_removal() {
    let [ignores, late, cancels]: [Query; 3] = [
        |table, x| batch_by(table, mirrored(x), |_, _| 0, false),
        |table, x| batch_by(table, mirrored(x), u64::wrapping_add, true),
        // Both classes are in one stripe, so the two versions cancel out.
        |table, x| batch_by(table, mirrored(x), |all, version| all ^ version, false),
    ];
    for query in [ignores, late, cancels] {
        must_fail(MISSED, Some(3), move || {
            an_item_inserted_during_a_removal_is_found(query, remove);
        });
    }
}

// The read by which a removal decides whether to advance the version is a plain load. It may miss a
// copy that another thread adds meanwhile. The remover is the first thread here, so loom runs it
// first: a reader's load that comes before the read and an update of another thread is hidden from
// loom's reduction by the read; one that comes after it is not.

fn a_removal_with_plain_reads(query: Query, remove: Change) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    let other = Arc::clone(&table);
    let thread = spawn(move || {
        add(&other, x);
        assert!(query(&other, x), "{MISSED}");
    });
    add(&table, mirrored(x));
    assert!(remove(&table.buckets().lock_stripe(x)), "nothing to remove");
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 1, "{COPIES}");
}

#[test]
fn model_a_removal_with_plain_reads() {
    for query in [contains, mirrored_contains] {
        with_plain_looks(|| {
            check(1800, None, move || a_removal_with_plain_reads(query, remove));
            check(2000, None, move || an_item_inserted_during_a_removal_is_found(query, remove));
        });
    }
}

#[test]
fn mutants_of_a_removal_with_plain_reads() {
    with_plain_looks(|| {
        must_fail(MISSED, None, || a_removal_with_plain_reads(mirrored_contains, remove_quietly));
    });
    with_plain_looks(|| {
        must_fail(MISSED, None, || {
            an_item_inserted_during_a_removal_is_found(mirrored_contains, remove_quietly);
        });
    });
}

// Exactly one of two removals of one copy finds it, and a removal finds a copy that was just
// relocated. A plain read sees the writes of an earlier holder of the lock only if the lock orders
// them.

const NOT_ONE: &str = "not exactly one removal found the copy";

type Remove = fn(&Table, Class) -> bool;

fn exactly_one_removes_it(remove: Remove) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    add(&table, x);
    let other = Arc::clone(&table);
    let thread = spawn(move || remove(&other, x));
    let mine = remove(&table, x);
    assert!(mine != thread.join().unwrap(), "{NOT_ONE}");
    assert_eq!(copies(&table, x), 0, "{COPIES}");
}

fn a_relocated_copy_is_removed(remove: Remove) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    add(&table, x);
    let relocator = Arc::clone(&table);
    let thread = spawn(move || {
        relocator.buckets().lock_stripe(x).relocate();
    });
    assert!(remove(&table, x), "{NOT_ONE}");
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 0, "{COPIES}");
}

fn remove_locked(table: &Table, class: Class) -> bool {
    table.buckets().lock_stripe(class).remove()
}

#[test]
fn model_exactly_one_removes_it() {
    with_plain_looks(|| {
        check(5, None, || exactly_one_removes_it(remove_locked));
        check(5, None, || a_relocated_copy_is_removed(remove_locked));
    });
}

#[test]
fn mutants_of_the_lock_of_a_removal() {
    for mutant in [Mutant::LockRelaxed, Mutant::UnlockRelaxed, Mutant::NoLock] {
        with_plain_looks(|| {
            must_fail_with(mutant, NOT_ONE, None, || exactly_one_removes_it(remove_locked));
        });
    }
    for mutant in [Mutant::LockRelaxed, Mutant::UnlockRelaxed] {
        with_plain_looks(|| {
            must_fail_with(mutant, COPIES, None, || a_relocated_copy_is_removed(remove_locked));
        });
    }
}

/// The reads come before the lock.
#[test]
fn mutant_a_removal_that_reads_before_it_locks() {
    fn remove(table: &Table, class: Class) -> bool {
        let [one, other] = class.buckets;
        let [in_one, in_other] = class.buckets.map(|bucket| {
            table.geometry.shape().contains(table.buckets().peek(bucket), class.fingerprint)
        });
        let guard = table.buckets().lock_stripe(class);
        if in_one & in_other {
            guard.advance_version();
        }
        if in_one | in_other {
            guard.clear_slot(if in_one { one } else { other });
        }
        in_one | in_other
    }
    must_fail(NOT_ONE, None, || exactly_one_removes_it(remove));
    must_fail(COPIES, None, || a_relocated_copy_is_removed(remove));
}

// One thread removes a copy while another relocates one, and a third queries.

fn a_relocation_during_a_removal(inserted: u32, query: Query) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    (0..inserted).for_each(|_| add(&table, x));
    let [relocator, remover] = [Arc::clone(&table), Arc::clone(&table)];
    let threads = [
        spawn(move || relocator.buckets().lock_stripe(x).relocate()),
        spawn(move || remover.buckets().lock_stripe(x).remove()),
    ];
    if inserted > 1 {
        assert!(query(&table, x), "{MISSED}");
    }
    let [_, removed] = threads.map(|thread| thread.join().unwrap());
    assert!(removed);
    assert_eq!(copies(&table, x), inserted - 1, "{COPIES}");
}

#[test]
fn model_a_relocation_during_a_removal() {
    check(30, None, || a_relocation_during_a_removal(1, contains));
    check(1200, Some(2), || a_relocation_during_a_removal(2, contains));
    check(1600, Some(2), || a_relocation_during_a_removal(2, mirrored_contains));
}

/// Both clear the same copy.
#[test]
fn mutant_a_relocation_during_a_removal_without_the_lock() {
    must_fail_with(Mutant::NoLock, COPIES, Some(2), || a_relocation_during_a_removal(1, contains));
}

#[test]
fn mutants_of_the_lock() {
    for mutant in [Mutant::LockRelaxed, Mutant::UnlockRelaxed] {
        must_fail_with(mutant, "Causality violation", Some(2), || {
            a_relocation_during_a_removal(2, contains);
        });
    }
}
