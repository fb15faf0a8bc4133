//! Whole inserts, removals and queries of a small filter by five threads, under random schedules of
//! shuttle: the waiting loops of the locks, searches whose path another thread changes, and readers
//! that read again. A child module of `table`, as the models are.

use std::vec::Vec;

use tamis_sync::schedule::{check, must_fail};
use tamis_sync::thread::{Arc, spawn};

use super::Table;
use crate::error::InsertError;
use crate::evict;
use crate::geometry::Geometry;
use crate::place::Class;

/// With this few buckets of two slots each, inserts have to relocate other items, and some fail.
const BUCKETS: u64 = 4;

/// The items that stay; others are inserted and removed.
const RESIDENTS: u64 = 6;

type Query = fn(&Table, Class) -> bool;

fn class(number: u64) -> Class {
    let hash = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    Class::of_hash(hash ^ hash >> 29, BUCKETS, 32)
}

const MISSED: &str = "a resident item was missed";

fn concurrent_churn(query: Query) {
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
fn residents_are_found_during_churn() {
    check(5000, || concurrent_churn(|table, class| table.buckets().contains(class)));
}

#[test]
fn mutant_a_reader_that_does_not_read_again() {
    must_fail(MISSED, 5000, || {
        concurrent_churn(|table, class| table.buckets().contains_unvalidated(class));
    });
}

const NOT_ONE: &str = "not exactly one insert returned true";

type Insert = fn(&Table, Class) -> Result<bool, InsertError>;

/// Five threads insert the same items into a filter that barely has room for them, so that they
/// relocate other items, and each other's.
fn concurrent_inserts(insert: Insert) {
    let geometry = Geometry::for_buckets(BUCKETS, 2, 32).unwrap();
    let table = Arc::new(Table::with_stripes(geometry, 2).unwrap());
    let residents = 0..RESIDENTS - 2;
    for number in residents.clone() {
        assert_eq!(evict::insert_once(table.buckets(), class(number)), Ok(true));
    }
    let items = RESIDENTS..RESIDENTS + 4;
    let threads: Vec<_> = (0..5)
        .map(|_| {
            let (table, items) = (Arc::clone(&table), items.clone());
            spawn(move || items.map(|number| insert(&table, class(number))).collect::<Vec<_>>())
        })
        .collect();
    let results: Vec<Vec<_>> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    for (at, number) in items.enumerate() {
        let first = results.iter().filter(|results| results[at] == Ok(true)).count() as u32;
        // No insert returned `true` if there was no room for the item.
        assert!(first <= 1, "{NOT_ONE}");
        assert_eq!(table.buckets().lock_stripe(class(number)).count(), first, "{NOT_ONE}");
    }
    for number in residents {
        assert_eq!(table.buckets().lock_stripe(class(number)).count(), 1);
    }
}

#[test]
fn exactly_one_of_five_inserts_returns_true() {
    check(5000, || concurrent_inserts(|table, class| evict::insert_once(table.buckets(), class)));
}

#[test]
fn mutant_an_insert_that_checks_and_then_acts() {
    must_fail(NOT_ONE, 2000, || {
        concurrent_inserts(|table, class| {
            if table.buckets().contains(class) {
                return Ok(false);
            }
            evict::insert(table.buckets(), class).map(|()| true)
        });
    });
}
