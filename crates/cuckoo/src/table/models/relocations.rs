//! Relocations: an item is found while it is relocated.

use super::*;

// An item is found while it is relocated, and relocated back.

fn a_relocated_item_is_found(relocations: usize, stripes: u64, query: Query, relocate: Change) {
    let table = table(4, stripes);
    // The copy goes from the bucket that the reader reads second to the one that it reads first. So
    // the relocation may happen between the two reads.
    let x = class(NEAR[0], 0);
    let back = mirrored(x);
    add(&table, back);
    let relocator = Arc::clone(&table);
    let thread = spawn(move || {
        for class in [back, x].into_iter().take(relocations) {
            assert!(
                relocate(&relocator.buckets().lock_stripe(class)),
                "no copy to relocate, or no empty slot"
            );
        }
    });
    assert!(query(&table, x), "{MISSED}");
    thread.join().unwrap();
    assert_eq!(copies(&table, x), 1, "{COPIES}");
}

#[test]
fn model_a_relocated_item_is_found() {
    check(1300, None, || a_relocated_item_is_found(1, 2, contains, relocate));
    check(12_000, None, || a_relocated_item_is_found(1, 2, contains_in_batch, relocate));
}

/// The locked read of a reader whose attempts were all disturbed.
#[test]
fn model_a_relocated_item_is_found_under_the_lock() {
    check(5, None, || {
        a_relocated_item_is_found(
            1,
            1,
            |table, class| table.contains_contended(class.fingerprint, class.buckets[0]),
            relocate,
        );
    });
}

/// The first relocation alone is a part of these executions.
#[test]
fn model_an_item_relocated_and_back_is_found() {
    check(42_000, None, || a_relocated_item_is_found(2, 1, contains, relocate));
    check(19_000, None, || a_relocated_item_is_found(2, 1, mirrored_contains, relocate));
    check(20_000, Some(2), || a_relocated_item_is_found(2, 1, contains_in_batch, relocate));
}

fn a_relocation_with(mutant: Mutant, relocations: usize, query: Query) {
    must_fail_with(mutant, MISSED, None, move || {
        a_relocated_item_is_found(relocations, 1, query, relocate);
    });
}

#[test]
fn mutant_a_query_without_the_version() {
    must_fail(MISSED, None, || a_relocated_item_is_found(1, 1, contains_without_version, relocate));
}

/// A query with other orderings of its loads.
fn contains_by(table: &Table, class: Class, first: Ordering, bucket: Ordering) -> bool {
    let (buckets, version) = (table.buckets(), &table.versions[table.stripe(class)].words[0]);
    let before = version.load(first);
    let found = class.buckets.map(|number| {
        let (word, at) = buckets.word(number);
        let slots = buckets.shape.cut(word.load(bucket), at);
        buckets.shape.contains(u128::from(slots), class.fingerprint)
    });
    // ORDERING: Relaxed, as the second load of the version in `try_contains`: the Acquire loads of
    // the buckets precede it.
    found != [false; 2]
        || version.load(Ordering::Relaxed) != before
            && table.contains_contended(class.fingerprint, class.buckets[0])
}

#[test]
fn mutants_of_the_loads_of_a_query() {
    use Ordering::{Acquire, Relaxed};
    check(550, None, || {
        a_relocated_item_is_found(
            1,
            1,
            |table, x| contains_by(table, x, Acquire, Acquire),
            relocate,
        );
    });
    let version: Query = |table, x| contains_by(table, x, Relaxed, Acquire);
    let bucket: Query = |table, x| contains_by(table, x, Acquire, Relaxed);
    for query in [version, bucket] {
        must_fail(MISSED, None, move || a_relocated_item_is_found(1, 1, query, relocate));
    }
}

#[test]
fn mutant_a_version_that_is_never_advanced() {
    a_relocation_with(Mutant::NoAdvance, 1, contains);
    a_relocation_with(Mutant::NoAdvance, 1, contains_in_batch);
}

#[test]
fn mutant_a_version_advanced_after_the_clear() {
    fn relocate(guard: &StripeGuard<'_>) -> bool {
        let Class { fingerprint, buckets: [from, to] } = guard.class;
        let added = guard.buckets.add_to(to, fingerprint);
        guard.clear_slot(from);
        guard.advance_version();
        added
    }
    must_fail(MISSED, None, || a_relocated_item_is_found(1, 1, contains, relocate));
}

#[test]
fn mutant_a_clear_before_the_add() {
    fn relocate(guard: &StripeGuard<'_>) -> bool {
        let Class { fingerprint, buckets: [from, to] } = guard.class;
        guard.advance_version();
        guard.clear_slot(from);
        guard.buckets.add_to(to, fingerprint)
    }
    must_fail(MISSED, None, || a_relocated_item_is_found(1, 1, contains, relocate));
}

#[test]
fn mutant_a_clear_without_release() {
    a_relocation_with(Mutant::UpdateRelaxed, 1, mirrored_contains);
}

#[test]
fn mutant_loads_without_acquire() {
    a_relocation_with(Mutant::LoadRelaxed, 1, mirrored_contains);
    a_relocation_with(Mutant::LoadRelaxed, 1, contains_in_batch);
}

#[test]
fn mutant_an_advance_without_release() {
    a_relocation_with(Mutant::AdvanceRelaxed, 2, contains);
    must_fail_with(Mutant::AdvanceRelaxed, MISSED, Some(2), || {
        a_relocated_item_is_found(2, 1, contains_in_batch, relocate);
    });
}

// Two threads relocate different items through one bucket, and a third queries.

fn two_relocations(stripes: u64) {
    let table = table(2, stripes);
    let (x, y) = (class(NEAR[0], 0), class(FAR[0], 1));
    add(&table, x);
    add(&table, y);
    let relocators = [(x, Arc::clone(&table)), (y, Arc::clone(&table))];
    let threads = relocators
        .map(|(class, table)| spawn(move || table.buckets().lock_stripe(class).relocate()));
    assert!(table.buckets().contains(x), "{MISSED}");
    for thread in threads {
        assert!(thread.join().unwrap(), "no copy to relocate, or no empty slot");
    }
    for class in [x, y] {
        assert_eq!(copies(&table, class), 1, "{COPIES}");
    }
}

#[test]
fn model_two_relocations() {
    check(1450, Some(2), || two_relocations(1));
    check(1050, Some(2), || two_relocations(2));
}

#[test]
fn mutant_a_lossy_update_loses_a_neighbour() {
    must_fail_with(Mutant::LossyUpdate, COPIES, Some(2), || two_relocations(2));
}
