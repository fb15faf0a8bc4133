//! Inserts of which one is told that it was first.

use super::super::LOCK;
use super::*;

// Once: of racing inserts exactly one is told that it was first, though the item is moved meanwhile.

const NOT_ONE: &str = "not exactly one was told that the item is new";

fn exactly_one_is_new(moved: bool) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    let other = Arc::clone(&table);
    let thread = spawn(move || {
        let new = evict::insert_once(other.buckets(), x);
        assert!(!moved || other.buckets().lock_stripe(x).relocate(), "nothing to move, or no room");
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
    with_plain_looks(|| check(12, None, || exactly_one_is_new(false)));
    for mutant in [Mutant::LockRelaxed, Mutant::UnlockRelaxed] {
        must_fail_with(mutant, NOT_ONE, || {
            with_plain_looks(|| check(1, None, || exactly_one_is_new(false)));
        });
    }
}

#[test]
fn mutant_without_the_lock_two_are_new() {
    must_fail_with(Mutant::NoLock, NOT_ONE, || check(1, None, || exactly_one_is_new(false)));
}

// Who is told that the item is in, and did not bring it, finds it, though it is moved away and back: the insert that
// told so saw a copy, whose own insert need not happen before the query.

const TOLD: &str = "an item of which it was told that it is in was missed";

fn an_item_told_to_be_in_is_found(moves: usize, query: Query) {
    let table = table(4, 1);
    let x = class(NEAR[0], 0);
    let mover = Arc::clone(&table);
    let thread = spawn(move || {
        if evict::insert_once(mover.buckets(), x) == Ok(true) {
            for class in [x, mirrored(x)].into_iter().take(moves) {
                assert!(
                    mover.buckets().lock_stripe(class).relocate(),
                    "nothing to move, or no room"
                );
            }
        }
    });
    match evict::insert_once(table.buckets(), x) {
        Ok(false) => assert!(query(&table, x), "{TOLD}"),
        Ok(true) => assert!(query(&table, x), "{MISSED}"),
        Err(error) => panic!("{error}"),
    }
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 1, "{COPIES}");
}

#[test]
fn model_an_item_told_to_be_in_is_found() {
    for query in [contains, mirrored_contains] {
        check(8200, None, move || an_item_told_to_be_in_is_found(1, query));
        check(500, Some(3), move || an_item_told_to_be_in_is_found(2, query));
    }
}

#[test]
fn mutants_that_miss_an_item_told_to_be_in() {
    must_fail(TOLD, || {
        check(1, None, || {
            an_item_told_to_be_in_is_found(1, |table, class| {
                table.buckets().contains_unvalidated(mirrored(class))
            });
        });
    });
    let mutants: [(_, _, Query); 4] = [
        (Mutant::NoAdvance, 1, mirrored_contains),
        (Mutant::UpdateRelaxed, 1, contains),
        (Mutant::LoadRelaxed, 1, contains),
        // There and back: who reads the last number must see what was added before.
        (Mutant::AdvanceRelaxed, 2, contains),
    ];
    for (mutant, moves, query) in mutants {
        must_fail_with(mutant, TOLD, || {
            check(1, Some(3), move || an_item_told_to_be_in_is_found(moves, query));
        });
    }
}

/// The insert returns `Ok(false)` for a copy that its holder has not added yet.
#[test]
fn mutant_told_to_be_in_since_another_is_at_it() {
    /// Returns `false` when the stripe is held, as if its holder had already added this item.
    fn insert_once(table: &Table, class: Class) -> bool {
        let stripe = &table.locks[table.stripe(class)].words[0];
        // ORDERING: Acquire pairs with the Release in `unlock`, as the real lock's does: the planted bug is the answer.
        if stripe.fetch_or(LOCK, Ordering::Acquire) & LOCK != 0 {
            return false;
        }
        let added = !table.buckets().contains_unvalidated(class) && table.buckets().add(class);
        table.unlock(table.stripe(class));
        added
    }
    must_fail(TOLD, || {
        check(1, None, || {
            let table = table(4, 1);
            let x = class(NEAR[0], 0);
            let other = Arc::clone(&table);
            let thread = spawn(move || insert_once(&other, x));
            if !insert_once(&table, x) {
                assert!(contains(&table, x), "{TOLD}");
            }
            thread.join().unwrap();
        });
    });
}
