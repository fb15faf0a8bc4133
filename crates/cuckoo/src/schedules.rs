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
                            table.buckets().hold(class).remove(),
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
        assert_eq!(table.buckets().hold(class(number)).count(), 1);
    }
    assert_eq!(table.len(), RESIDENTS);
}

#[test]
fn residents_are_found_in_a_storm() {
    check(50_000, 6, || a_storm(|table, class| table.buckets().contains(class)));
}

#[test]
fn mutant_a_reader_that_does_not_look_again() {
    must_fail(MISSED, 10_000, 6, || a_storm(|table, class| table.buckets().look(class)));
}

/// Of five racing inserts of an item one is first, though others make room and move it.
#[test]
fn one_of_five_is_first() {
    check(50_000, 6, || {
        let geometry = Geometry::for_buckets(BUCKETS, 2, 32).unwrap();
        let table = Arc::new(Table::with_stripes(geometry, 2).unwrap());
        let racers: Vec<_> = (0..5)
            .map(|_| {
                let table = Arc::clone(&table);
                spawn(move || {
                    let outcomes =
                        (0..4).map(|number| evict::insert_once(table.buckets(), class(number)));
                    outcomes.map(|outcome| outcome == Ok(true)).collect::<Vec<_>>()
                })
            })
            .collect();
        let told: Vec<Vec<bool>> = racers.into_iter().map(|racer| racer.join().unwrap()).collect();
        for number in 0..4 {
            assert_eq!(told.iter().filter(|told| told[number]).count(), 1, "item {number}");
            assert_eq!(table.buckets().hold(class(number as u64)).count(), 1);
        }
    });
}
