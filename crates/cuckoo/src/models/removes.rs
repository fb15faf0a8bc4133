//! A copy that is removed takes no other along.

use super::*;

// L10: a colliding item comes and goes: its copy appears in the one bucket after the reader has passed, and
// the first item's own copy is taken from the other before the reader comes there.

fn an_item_beside_a_remove_is_found(query: Query, remove: Change) {
    let table = table(4, 1);
    let x = class(NEAR[0], 1);
    add(&table, x);
    let other = Arc::clone(&table);
    let thread = spawn(move || {
        let y = mirrored(x);
        add(&other, y);
        assert!(remove(&other.buckets().lock_stripe(x)), "nothing to remove");
    });
    assert!(query(&table, x), "{MISSED}");
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 1, "{COPIES}");
}

#[test]
fn model_an_item_beside_a_remove_is_found() {
    check(2300, None, || an_item_beside_a_remove_is_found(mirrored_contains, remove));
    check(5000, Some(3), || {
        an_item_beside_a_remove_is_found(mirrored_contains_beside, remove);
    });
}

// L10: likewise, but the first item comes meanwhile, too: now the remove finds copies in both buckets, and
// now in one only, and the reader looks into either first.

fn an_item_that_comes_beside_a_remove_is_found(query: Query, remove: Change) {
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
fn model_an_item_that_comes_beside_a_remove_is_found() {
    check(6800, None, || an_item_that_comes_beside_a_remove_is_found(contains, remove));
    check(14_000, None, || an_item_that_comes_beside_a_remove_is_found(mirrored_contains, remove));
    check(3600, Some(3), || an_item_that_comes_beside_a_remove_is_found(contains_beside, remove));
    check(4400, Some(3), || {
        an_item_that_comes_beside_a_remove_is_found(mirrored_contains_beside, remove);
    });
}

/// Removes a copy and never tells.
fn remove_quietly(guard: &StripeGuard<'_>) -> bool {
    let [one, other] = guard.class.buckets;
    guard.clear_slot(if guard.contains_in(one) { one } else { other });
    true
}

#[test]
fn mutant_a_remove_does_not_advance_the_count() {
    for query in [mirrored_contains, mirrored_contains_beside] {
        must_fail(MISSED, || {
            check(1, None, move || an_item_beside_a_remove_is_found(query, remove_quietly));
        });
        must_fail(MISSED, || {
            check(1, None, move || {
                an_item_that_comes_beside_a_remove_is_found(query, remove_quietly);
            });
        });
    }
}

#[test]
fn mutant_a_remove_advances_the_count_too_late() {
    fn remove(guard: &StripeGuard<'_>) -> bool {
        remove_quietly(guard);
        guard.advance_version();
        true
    }
    for query in [mirrored_contains, mirrored_contains_beside] {
        must_fail(MISSED, || {
            check(1, None, move || an_item_beside_a_remove_is_found(query, remove));
        });
    }
}

/// A batch with other ways to see that something moved: the sums of the counts before and after it.
fn batch_by(table: &Table, class: Class, sum: fn(u64, u64) -> u64, late: bool) -> bool {
    let classes = batch(class);
    let counts =
        |order| classes.keys.iter().fold(0, |all, &key| sum(all, table.version(key).load(order)));
    let mut read = BatchRead::NONE;
    // ORDERING: Acquire, and Relaxed after the looks, as the real batch query: the bugs planted here are the sum and the
    // place of the first load.
    let mut before = counts(Ordering::Acquire);
    table.buckets().read_batch(&classes, &mut read);
    if late {
        before = counts(Ordering::Acquire);
    }
    read.moved = counts(Ordering::Relaxed) != before;
    table.buckets().contains_batch(&classes, &read)[0]
}

#[test]
fn mutants_of_a_batch_beside_a_remove() {
    let [ignores, late, cancels]: [Query; 3] = [
        |table, x| batch_by(table, mirrored(x), |_, _| 0, false),
        |table, x| batch_by(table, mirrored(x), u64::wrapping_add, true),
        // Both are of one stripe.
        |table, x| batch_by(table, mirrored(x), |all, count| all ^ count, false),
    ];
    for query in [ignores, late, cancels] {
        must_fail(MISSED, || {
            check(1, Some(3), move || an_item_beside_a_remove_is_found(query, remove));
        });
    }
}

// L10: the look by which a remove decides whether to tell is a plain load: it may miss a copy that another adds
// meanwhile. The remover is the first thread here, and so is run first: a reader's load that comes before a look
// and an update of another is hidden from the reduction by the look, and one that comes after is not.

fn a_remove_by_plain_looks(query: Query, remove: Change) {
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
fn model_a_remove_by_plain_looks() {
    for query in [contains, mirrored_contains] {
        with_plain_looks(|| {
            check(1800, None, move || a_remove_by_plain_looks(query, remove));
            check(2000, None, move || an_item_that_comes_beside_a_remove_is_found(query, remove));
        });
    }
    with_plain_looks(|| {
        check(540, None, || an_item_beside_a_remove_is_found(mirrored_contains, remove));
    });
}

#[test]
fn mutants_of_a_remove_by_plain_looks() {
    must_fail(MISSED, || {
        with_plain_looks(|| {
            check(1, None, || a_remove_by_plain_looks(mirrored_contains, remove_quietly));
        });
    });
    must_fail(MISSED, || {
        with_plain_looks(|| {
            check(1, None, || an_item_beside_a_remove_is_found(mirrored_contains, remove_quietly));
        });
    });
}

// L10: of two removes of one copy one finds it, and one that a mover has just moved is found where it is. A look
// that is no RMW sees what another holder of the stripe did only if the stripe orders them.

const NOT_ONE: &str = "not exactly one has removed the copy";

type Remove = fn(&Table, Class) -> bool;

fn one_removes_it(remove: Remove) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    add(&table, x);
    let other = Arc::clone(&table);
    let thread = spawn(move || remove(&other, x));
    let mine = remove(&table, x);
    assert!(mine != thread.join().unwrap(), "{NOT_ONE}");
    assert_eq!(copies(&table, x), 0, "{COPIES}");
}

fn a_moved_copy_is_removed(remove: Remove) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    add(&table, x);
    let mover = Arc::clone(&table);
    let thread = spawn(move || {
        mover.buckets().lock_stripe(x).relocate();
    });
    assert!(remove(&table, x), "{NOT_ONE}");
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 0, "{COPIES}");
}

fn remove_held(table: &Table, class: Class) -> bool {
    table.buckets().lock_stripe(class).remove()
}

#[test]
fn model_one_removes_it() {
    with_plain_looks(|| {
        check(5, None, || one_removes_it(remove_held));
        check(5, None, || a_moved_copy_is_removed(remove_held));
    });
}

#[test]
fn mutants_of_the_lock_of_a_remove() {
    for mutant in [Mutant::LockRelaxed, Mutant::UnlockRelaxed, Mutant::NoLock] {
        must_fail_with(mutant, NOT_ONE, || {
            with_plain_looks(|| check(1, None, || one_removes_it(remove_held)));
        });
    }
    for mutant in [Mutant::LockRelaxed, Mutant::UnlockRelaxed] {
        must_fail_with(mutant, COPIES, || {
            with_plain_looks(|| check(1, None, || a_moved_copy_is_removed(remove_held)));
        });
    }
}

/// The looks come before the stripe.
#[test]
fn mutant_a_remove_looks_before_it_holds_the_stripe() {
    fn remove(table: &Table, class: Class) -> bool {
        let [one, other] = class.buckets;
        let [in_one, in_other] = class.buckets.map(|bucket| {
            table.geometry().shape().contains(table.buckets().peek(bucket), class.fingerprint)
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
    must_fail(NOT_ONE, || check(1, None, || one_removes_it(remove)));
    must_fail(COPIES, || check(1, None, || a_moved_copy_is_removed(remove)));
}

// L10: one removes a copy while another moves one, and a third asks.

fn a_move_beside_a_remove(inserted: u32, query: Query) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    (0..inserted).for_each(|_| add(&table, x));
    let [mover, remover] = [Arc::clone(&table), Arc::clone(&table)];
    let threads = [
        spawn(move || mover.buckets().lock_stripe(x).relocate()),
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

#[test]
fn mutants_of_the_lock() {
    for mutant in [Mutant::LockRelaxed, Mutant::UnlockRelaxed] {
        must_fail_with(mutant, "Causality violation", || {
            check(1, Some(2), || a_move_beside_a_remove(2, contains));
        });
    }
}
