//! Queries while buckets split: a present item is found, and an absent one is not.

use super::*;

// An item is found while both buckets of the first level split.

fn an_item_is_found_during_a_split(plan: Plan, item: Class, query: Query, split: Action) {
    let query = move |table: &Table| assert!(query(table, item), "{MISSED}");
    let split = move |table: &Table| (0..2).for_each(|_| split(table));
    let table = at_once(table_with(plan, &[item]), split, query);
    assert_eq!(copies(&table, item), 1, "{COPIES}");
    assert_eq!(table.pointer(), Pointer { level: 1, next: 0 });
}

#[test]
fn model_an_item_is_found_during_a_split() {
    for (plan, preemptions) in [(PLAN, bound(2, Some(3))), (WIDENING, bound(1, Some(2)))] {
        for (kind, position) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            check(370, preemptions, move || {
                let item = class(KINDS[kind], position);
                an_item_is_found_during_a_split(plan, item, contains, split);
            });
            check(500, Some(2), move || {
                let item = class(KINDS[kind], position);
                an_item_is_found_during_a_split(plan, item, contains_contended, split);
            });
        }
    }
}

/// The query by the models' own steps, which finds an error in the reading of an unborn bucket
/// too.
fn by_steps(reading: Reading, splitting: Splitting) {
    let item = class(KINDS[1], 0);
    let query = move |table: &Table| assert!(contains_by(table, item, reading), "{MISSED}");
    let split = move |table: &Table| (0..2).for_each(|_| split_by(table, splitting));
    at_once(table_with(PLAN, &[item]), split, query);
}

#[test]
fn model_the_steps_of_a_query_and_of_a_split() {
    check(1400, Some(3), || by_steps(READING, SPLITTING));
}

#[test]
fn mutants_of_the_loads_of_a_query() {
    use Ordering::Relaxed;
    for reading in [Reading { pointer: Relaxed, ..READING }, Reading { bucket: Relaxed, ..READING }]
    {
        must_fail(REACHED, Some(3), move || by_steps(reading, SPLITTING));
    }
}

#[test]
fn mutant_a_query_that_does_not_follow_the_tag() {
    let reading = Reading { follow: false, ..READING };
    must_fail(MISSED, Some(3), move || by_steps(reading, SPLITTING));
}

#[test]
fn mutants_of_a_split_that_show_an_unborn_child() {
    use Ordering::Relaxed;
    for splitting in [
        Splitting { birth_first: false, ..SPLITTING },
        Splitting { commit: Relaxed, ..SPLITTING },
        Splitting { publish: Relaxed, ..SPLITTING },
    ] {
        must_fail(REACHED, Some(3), move || by_steps(READING, splitting));
    }
}

/// The item is found by the thread that moves the pointer, while another splits the bucket: the
/// publication shows a birth by another thread.
fn a_published_child_is_born(splitting: Splitting) {
    let item = class(KINDS[1], 0);
    let split = |table: &Table| split_bucket(table, 0, 0, SPLITTING);
    let publish = move |table: &Table| {
        split_by(table, splitting);
        assert!(contains_by(table, item, READING), "{MISSED}");
    };
    at_once(table_with(PLAN, &[item]), split, publish);
}

#[test]
fn model_a_published_child_is_born() {
    check(70, Some(3), || a_published_child_is_born(SPLITTING));
    check(500, Some(3), || {
        let item = class(KINDS[1], 0);
        let publish = move |table: &Table| {
            split(table);
            assert!(contains_by(table, item, READING), "{MISSED}");
        };
        at_once(table_with(PLAN, &[item]), split, publish);
    });
}

#[test]
fn mutant_a_publication_without_having_loaded_the_tags() {
    // ORDERING: Relaxed is the defect.
    let splitting = Splitting { tags: Ordering::Relaxed, ..SPLITTING };
    must_fail(REACHED, Some(3), move || a_published_child_is_born(splitting));
}

// A query that began at one level reads buckets of the next ones. The level has the same tag as
// the one after the next, so only the second load of the pointer tells that a bucket was read at a
// wrong width.

fn across_levels(item: Class, wanted: Class, query: Query, splitting: Splitting) {
    across_portions(1, item, wanted, query, splitting);
}

/// As [`across_levels`], where one portion of the second level is split, or both. Then both buckets
/// of a class are two levels on, with the tags that they had.
fn across_portions(portions: u64, item: Class, wanted: Class, query: Query, splitting: Splitting) {
    let query = move |table: &Table| {
        let is_present = item == wanted;
        assert_eq!(
            query(table, wanted),
            is_present,
            "{}",
            if is_present { MISSED } else { ABSENT }
        );
    };
    let grow = move |table: &Table| {
        // Publishes the first level, then sweeps.
        (0..2).for_each(|_| split(table));
        (0..portions).for_each(|_| split_by(table, splitting));
    };
    let table = at_once(table_before_publication(Some(item)), grow, query);
    let next = if portions == 1 { (1, 2) } else { (2, 0) };
    assert_eq!(table.pointer(), Pointer { level: next.0, next: next.1 });
    assert_eq!(copies(&table, item), 1, "{COPIES}");
}

const ABSENT: &str = "an absent item was found";

/// An item whose bucket splits twice and that is in the lower child each time.
fn lowest() -> Class {
    class(KINDS[0], 0)
}

/// An absent item whose fingerprint is what a slot of the present one holds after two splits.
fn look_alike() -> Class {
    let item = class(KINDS[0] << 2, 0);
    assert_eq!(item.fingerprint >> 2, KINDS[0]);
    item
}

#[test]
fn model_a_query_across_levels() {
    for item in [lowest(), look_alike()] {
        check(18_000, bound(1, Some(2)), move || {
            across_levels(item, lowest(), contains, SPLITTING);
        });
    }
    check(860, bound(1, Some(2)), || across_levels(lowest(), lowest(), right, SPLITTING));
}

/// Buckets that are two levels on have the tags that the first attempt of a query expects. Only the
/// second load of the pointer shows the change.
#[test]
fn model_a_query_across_two_levels() {
    for item in [lowest(), look_alike()] {
        check(33_000, bound(1, Some(2)), move || {
            across_portions(2, item, lowest(), contains, SPLITTING);
        });
    }
}

#[test]
fn mutant_a_first_attempt_without_a_second_load_of_the_pointer() {
    for (message, item) in [(MISSED, lowest()), (ABSENT, look_alike())] {
        must_fail(message, Some(1), move || {
            across_portions(2, item, lowest(), at_rest_or_contended, SPLITTING);
        });
    }
}

/// A query whose first attempt does not load the pointer again.
fn at_rest_or_contended(table: &Table, class: Class) -> bool {
    let (pointer, layout) = (table.pointer(), table.layout());
    let found = class.buckets.map(|position| {
        let folded = layout.folded_at(class.fingerprint, position);
        let level = pointer.level_of(layout.number(position, folded, pointer.level));
        let (at, shape) = (layout.number(position, folded, level), table.shape(level));
        // ORDERING: Acquire, as in `read_from`.
        let value = table.words.load(at, Ordering::Acquire);
        let is_at_rest = tag(value, *shape) == tag_of_level(level);
        is_at_rest.then(|| shape.contains(value, folded >> level))
    });
    match found {
        [Some(one), Some(other)] => one | other,
        _ => contains_contended(table, class),
    }
}

fn right(table: &Table, class: Class) -> bool {
    contains_by(table, class, READING)
}

#[test]
fn mutants_of_a_query_without_a_second_load_of_the_pointer() {
    const ONCE: Query =
        |table, class| contains_by(table, class, Reading { again: false, ..READING });
    must_fail(MISSED, bound(1, Some(2)), || {
        across_levels(lowest(), lowest(), ONCE, SPLITTING);
    });
    must_fail(ABSENT, bound(1, Some(2)), || {
        across_levels(look_alike(), lowest(), ONCE, SPLITTING);
    });
}

/// A query sees the bucket frozen one level later, and not that this level has begun.
#[test]
fn mutant_a_freeze_without_release() {
    // ORDERING: Relaxed is the defect.
    let splitting = Splitting { freeze: Ordering::Relaxed, ..SPLITTING };
    must_fail(MISSED, bound(1, Some(2)), move || {
        across_levels(lowest(), lowest(), contains, splitting);
    });
}
