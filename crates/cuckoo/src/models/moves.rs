//! An item that is moved is found all the while.

use super::*;

// L7, L8: an item that is moved, and moved back, is found all the while.

fn a_moving_item_is_found(moves: usize, stripes: u64, query: Query, relocate: Change) {
    let table = table(4, stripes);
    // It comes to the bucket that the reader looks into first, from the one after it: a reader may pass
    // between the two.
    let x = class(NEAR[0], 0);
    let back = mirrored(x);
    add(&table, back);
    let mover = Arc::clone(&table);
    let thread = spawn(move || {
        for class in [back, x].into_iter().take(moves) {
            assert!(relocate(&mover.buckets().lock_stripe(class)), "nothing to move, or no room");
        }
    });
    assert!(query(&table, x), "{MISSED}");
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 1, "{COPIES}");
}

#[test]
fn model_a_moving_item_is_found() {
    check(1300, None, || a_moving_item_is_found(1, 1, contains, relocate));
    check(1300, None, || a_moving_item_is_found(1, 2, contains, relocate));
    check(12_000, None, || a_moving_item_is_found(1, 2, contains_beside, relocate));
    check(700, None, || a_moving_item_is_found(1, 1, mirrored_contains, relocate));
}

/// What a reader does that has looked in vain too often.
#[test]
fn model_a_moving_item_is_found_under_the_stripe() {
    check(5, None, || {
        a_moving_item_is_found(
            1,
            1,
            |table, class| table.contains_contended(class.fingerprint, class.buckets[0]),
            relocate,
        );
    });
}

#[test]
fn model_an_item_moved_there_and_back_is_found() {
    check(42_000, None, || a_moving_item_is_found(2, 1, contains, relocate));
    check(19_000, None, || a_moving_item_is_found(2, 1, mirrored_contains, relocate));
    check(20_000, Some(2), || a_moving_item_is_found(2, 1, contains_beside, relocate));
}

fn a_move_with(mutant: Mutant, moves: usize, query: Query) {
    must_fail_with(mutant, MISSED, || {
        check(1, None, move || a_moving_item_is_found(moves, 1, query, relocate));
    });
}

#[test]
fn mutant_without_a_count_a_moving_item_is_missed() {
    must_fail(MISSED, || {
        check(1, None, || a_moving_item_is_found(1, 1, look, relocate));
    });
}

/// A query with other orders of its loads.
fn contains_by(table: &Table, class: Class, count: Ordering, bucket: Ordering) -> bool {
    let (buckets, version) = (table.buckets(), &table.versions[table.stripe(class)].words[0]);
    let before = version.load(count);
    let found = class.buckets.map(|number| {
        let (word, at) = buckets.word(number);
        buckets.shape.contains(buckets.shape.cut(word.load(bucket), at), class.fingerprint)
    });
    // ORDERING: Relaxed, as the last look of `contains`: the Acquire loads of the buckets come before it.
    found != [false; 2]
        || version.load(Ordering::Relaxed) != before
            && table.contains_contended(class.fingerprint, class.buckets[0])
}

#[test]
fn mutants_of_the_loads_of_a_query() {
    use Ordering::{Acquire, Relaxed};
    check(550, None, || {
        a_moving_item_is_found(1, 1, |table, x| contains_by(table, x, Acquire, Acquire), relocate);
    });
    let count: Query = |table, x| contains_by(table, x, Relaxed, Acquire);
    let bucket: Query = |table, x| contains_by(table, x, Acquire, Relaxed);
    for query in [count, bucket] {
        must_fail(MISSED, || check(1, None, move || a_moving_item_is_found(1, 1, query, relocate)));
    }
}

#[test]
fn mutant_a_count_that_nobody_advances() {
    a_move_with(Mutant::NoAdvance, 1, contains);
    a_move_with(Mutant::NoAdvance, 1, contains_beside);
}

#[test]
fn mutant_a_count_advanced_after_the_copy_is_gone() {
    fn relocate(guard: &StripeGuard<'_>) -> bool {
        let Class { fingerprint, buckets: [from, to] } = guard.class;
        let added = guard.buckets.add_to(to, fingerprint);
        guard.clear_slot(from);
        guard.advance_version();
        added
    }
    must_fail(MISSED, || {
        check(1, None, || a_moving_item_is_found(1, 1, contains, relocate));
    });
}

#[test]
fn mutant_taken_before_it_is_added() {
    fn relocate(guard: &StripeGuard<'_>) -> bool {
        let Class { fingerprint, buckets: [from, to] } = guard.class;
        guard.advance_version();
        guard.clear_slot(from);
        guard.buckets.add_to(to, fingerprint)
    }
    must_fail(MISSED, || {
        check(1, None, || a_moving_item_is_found(1, 1, contains, relocate));
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
        check(1, Some(2), || a_moving_item_is_found(2, 1, contains_beside, relocate));
    });
}

// L9: two movers of different items through one bucket, and a reader.

fn two_movers(stripes: u64) {
    let table = table(2, stripes);
    let (x, y) = (class(NEAR[0], 0), class(FAR[0], 1));
    add(&table, x);
    add(&table, y);
    let movers = [(x, Arc::clone(&table)), (y, Arc::clone(&table))];
    let threads =
        movers.map(|(class, table)| spawn(move || table.buckets().lock_stripe(class).relocate()));
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
