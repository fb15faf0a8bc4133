//! Once inserts: exactly one of two concurrent inserts returns `Ok(true)`.

use super::super::guard::LOCK;
use super::*;

// Exactly one of two concurrent inserts returns `Ok(true)`, even if the item is relocated
// meanwhile.

const NOT_ONE: &str = "not exactly one insert returned true";

fn exactly_one_is_new(relocated: bool) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    let other = Arc::clone(&table);
    let thread = spawn(move || {
        let new = evict::insert_once(other.buckets(), x);
        assert!(
            !relocated || other.buckets().lock_stripe(x).relocate(),
            "no copy to relocate, or no empty slot"
        );
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

/// A read under the lock may be stale if the lock does not order it.
#[test]
fn mutants_of_the_lock_with_two_winners() {
    with_plain_looks(|| check(12, None, || exactly_one_is_new(false)));
    for mutant in [Mutant::LockRelaxed, Mutant::UnlockRelaxed] {
        with_plain_looks(|| must_fail_with(mutant, NOT_ONE, None, || exactly_one_is_new(false)));
    }
}

#[test]
fn mutant_without_the_lock() {
    must_fail_with(Mutant::NoLock, NOT_ONE, None, || exactly_one_is_new(false));
}

// After `Ok(false)`, a query finds the item, even if it is relocated and back. The insert that
// returned `Ok(false)` saw a copy, but the insert of that copy need not happen before the query.

const KNOWN: &str = "an item was missed after its insert returned false";

fn a_known_item_is_found(relocations: usize, query: Query) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    let relocator = Arc::clone(&table);
    let thread = spawn(move || {
        if evict::insert_once(relocator.buckets(), x) == Ok(true) {
            for class in [x, mirrored(x)].into_iter().take(relocations) {
                assert!(
                    relocator.buckets().lock_stripe(class).relocate(),
                    "no copy to relocate, or no empty slot"
                );
            }
        }
    });
    match evict::insert_once(table.buckets(), x) {
        Ok(false) => assert!(query(&table, x), "{KNOWN}"),
        Ok(true) => assert!(query(&table, x), "{MISSED}"),
        Err(error) => panic!("{error}"),
    }
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 1, "{COPIES}");
}

#[test]
fn model_a_known_item_is_found() {
    for query in [contains, mirrored_contains] {
        check(8200, None, move || a_known_item_is_found(1, query));
        check(500, Some(3), move || a_known_item_is_found(2, query));
    }
}

#[test]
fn mutants_that_miss_a_known_item() {
    must_fail(KNOWN, None, || {
        a_known_item_is_found(1, |table, class| {
            table.buckets().contains_unvalidated(mirrored(class))
        });
    });
    let mutants: [(_, _, Query); 4] = [
        (Mutant::NoAdvance, 1, mirrored_contains),
        (Mutant::UpdateRelaxed, 1, contains),
        (Mutant::LoadRelaxed, 1, contains),
        // Relocated and back: a reader that loads the last version must see what was added before
        // it.
        (Mutant::AdvanceRelaxed, 2, contains),
    ];
    for (mutant, relocations, query) in mutants {
        must_fail_with(mutant, KNOWN, Some(3), move || a_known_item_is_found(relocations, query));
    }
}

/// The insert returns `false` for a copy that the holder of the lock has not added yet.
#[test]
fn mutant_an_item_known_before_it_is_added() {
    /// Returns `false` if the stripe is locked, as if the holder had already added this item.
    fn insert_once(table: &Table, class: Class) -> bool {
        let stripe = &table.locks[table.stripe(class)].words[0];
        // ORDERING: Acquire pairs with the Release in `unlock`, as in the real lock. The planted
        // bug is the result.
        if stripe.fetch_or(LOCK, Ordering::Acquire) & LOCK != 0 {
            return false;
        }
        let added = !table.buckets().contains_unvalidated(class) && table.buckets().add(class);
        table.unlock(table.stripe(class));
        added
    }
    must_fail(KNOWN, None, || {
        let table = table(4, 1);
        let x = class(NEAR[0], 0);
        let other = Arc::clone(&table);
        let thread = spawn(move || insert_once(&other, x));
        if !insert_once(&table, x) {
            assert!(contains(&table, x), "{KNOWN}");
        }
        thread.join().unwrap();
    });
}
