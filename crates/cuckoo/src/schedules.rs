//! The whole insert, remove and query of a small filter by five threads, under random schedules: the locks'
//! own loops, searches that are overtaken, readers that look again. A child of `table`, as the models are.

use std::vec::Vec;

use tamis_sync::schedule::{check, must_fail};
use tamis_sync::thread::{Arc, spawn};

use super::Table;
use crate::geometry::Geometry;
use crate::place::Class;
use crate::{InsertError, evict};

/// So few, of two slots each, that inserts have to move others, and are refused at times.
const BUCKETS: u64 = 4;

/// Items that are in for good; others come and go.
const RESIDENTS: u64 = 6;

type Query = fn(&Table, Class) -> bool;

fn class(number: u64) -> Class {
    let hash = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    Class::of_hash(hash ^ hash >> 29, BUCKETS, 32)
}

const MISSED: &str = "a resident item was missed";

fn a_storm(query: Query) {
    let geometry = Geometry::for_buckets(BUCKETS, 2, 32).unwrap();
    let table = Arc::new(Table::with_stripes(geometry, 2).unwrap());
    for number in 0..RESIDENTS {
        evict::insert(table.buckets(), class(number)).unwrap();
    }
    let churners = (0..3).map(|thread| {
        let table = Arc::clone(&table);
        spawn(move || {
            let own = (0..6).map(|number| class(RESIDENTS + 6 * thread + number));
            for class in own {
                match evict::insert(table.buckets(), class) {
                    Ok(()) => {
                        assert!(
                            table.buckets().lock_stripe(class).remove(),
                            "an inserted item was not removed"
                        );
                    }
                    Err(error) => assert_eq!(error, InsertError::Full),
                }
            }
        })
    });
    let readers = (0..2).map(|_| {
        let table = Arc::clone(&table);
        spawn(move || {
            for number in (0..4).flat_map(|_| 0..RESIDENTS) {
                assert!(query(&table, class(number)), "{MISSED}");
            }
        })
    });
    let threads: Vec<_> = churners.chain(readers).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    for number in 0..RESIDENTS {
        assert_eq!(table.buckets().lock_stripe(class(number)).count(), 1);
    }
    assert_eq!(table.len(), RESIDENTS);
}

#[test]
fn residents_are_found_in_a_storm() {
    check(20_000, || a_storm(|table, class| table.buckets().contains(class)));
}

#[test]
fn mutant_a_reader_that_does_not_look_again() {
    must_fail(MISSED, 20_000, || {
        a_storm(|table, class| table.buckets().contains_unvalidated(class))
    });
}

const NOT_ONE: &str = "not exactly one was told that the item is new";

type Insert = fn(&Table, Class) -> Result<bool, InsertError>;

/// Five threads insert the same items into a filter that has hardly room for them, so that they move others,
/// and each other's.
fn a_race(insert: Insert) {
    let geometry = Geometry::for_buckets(BUCKETS, 2, 32).unwrap();
    let table = Arc::new(Table::with_stripes(geometry, 2).unwrap());
    let residents = 0..RESIDENTS - 2;
    for number in residents.clone() {
        assert_eq!(evict::insert_once(table.buckets(), class(number)), Ok(true));
    }
    let items = RESIDENTS..RESIDENTS + 4;
    let racers: Vec<_> = (0..5)
        .map(|_| {
            let (table, items) = (Arc::clone(&table), items.clone());
            spawn(move || items.map(|number| insert(&table, class(number))).collect::<Vec<_>>())
        })
        .collect();
    let told: Vec<Vec<_>> = racers.into_iter().map(|racer| racer.join().unwrap()).collect();
    for (at, number) in items.enumerate() {
        let first = told.iter().filter(|told| told[at] == Ok(true)).count() as u32;
        // None if there was no room for it.
        assert!(first <= 1, "{NOT_ONE}");
        assert_eq!(table.buckets().lock_stripe(class(number)).count(), first, "{NOT_ONE}");
    }
    for number in residents {
        assert_eq!(table.buckets().lock_stripe(class(number)).count(), 1);
    }
}

#[test]
fn one_of_five_is_first() {
    check(20_000, || a_race(|table, class| evict::insert_once(table.buckets(), class)));
}

#[test]
fn mutant_a_race_of_checks_and_acts() {
    must_fail(NOT_ONE, 2000, || {
        a_race(|table, class| {
            if table.buckets().contains(class) {
                return Ok(false);
            }
            evict::insert(table.buckets(), class).map(|()| true)
        });
    });
}
