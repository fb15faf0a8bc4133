//! Inserts, claims, removals, queries and splits of a small table that grows, by five threads
//! under random schedules of shuttle: searches that sleep through splits, waiting loops, several
//! levels.

use std::vec::Vec;

use tamis_sync::schedule::{check, must_fail};
use tamis_sync::thread::{Arc, spawn};

use crate::error::InsertError;
use crate::growth::classifier::Classifier;
use crate::growth::insert;
use crate::growth::plan::Plan;
use crate::growth::table::{Resolved, Table};
use crate::place::Class;

/// Four buckets of two slots, up to sixteen. So inserts have to relocate other items, or to
/// split.
const PLAN: Plan = Plan { buckets: 4, width: 31, doublings: 2, paired: false };

/// The items that stay; others are inserted and removed.
const RESIDENTS: u64 = 6;

/// The items that are claimed by two threads.
const CLAIMED: u64 = 3;

const MISSED: &str = "a resident item was missed";
const COPIES: &str = "wrong number of copies";

fn class(number: u64) -> Class {
    let hash = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    Classifier::new(&PLAN).class(hash ^ hash >> 29)
}

type Query = fn(&Table, Class) -> bool;
type Claim = fn(&Table, Class) -> Result<bool, InsertError>;

fn insert(table: &Table, class: Class) -> Result<(), InsertError> {
    insert::insert(table, &table.placed(class))
}

fn insert_once(table: &Table, class: Class) -> Result<bool, InsertError> {
    insert::insert_once(table, &table.placed(class), None)
}

fn growth_beside_readers(query: Query, claim: Claim) {
    let table = Arc::new(Table::with_sizes(PLAN, 2, 2).unwrap());
    for number in 0..RESIDENTS {
        insert(&table, class(number)).unwrap();
    }
    let claimed = RESIDENTS..RESIDENTS + CLAIMED;
    let claimers = (0..2).map(|_| {
        let (table, claimed) = (Arc::clone(&table), claimed.clone());
        spawn(move || {
            claimed.map(|number| u32::from(claim(&table, class(number)) == Ok(true))).collect()
        })
    });
    let claimers: Vec<_> = claimers.collect();
    let [churner, splitter, reader] = [0; 3].map(|_| Arc::clone(&table));
    let others = [
        spawn(move || {
            for number in RESIDENTS + CLAIMED..RESIDENTS + CLAIMED + 6 {
                match insert(&churner, class(number)) {
                    Ok(()) => assert!(query(&churner, class(number)), "{MISSED}"),
                    // The last size is too small, or others hold the locks for a while.
                    Err(InsertError::Full | InsertError::Stalled) => continue,
                    Err(error) => panic!("{error}"),
                }
                let placed = churner.placed(class(number));
                let removed = churner.lock_stripe(&placed).remove();
                assert!(removed, "an inserted item was not removed");
            }
        }),
        // Splits and sweeps up to the end of the second level, if the others let it.
        spawn(move || (0..14).for_each(|_| _ = splitter.split_portion())),
        spawn(move || {
            for number in (0..4).flat_map(|_| 0..RESIDENTS) {
                assert!(query(&reader, class(number)), "{MISSED}");
            }
        }),
    ];
    let won: Vec<Vec<u32>> = claimers.into_iter().map(|thread| thread.join().unwrap()).collect();
    others.into_iter().for_each(|thread| thread.join().unwrap());
    let mut expected = RESIDENTS;
    for (at, number) in claimed.enumerate() {
        let winners: u32 = won.iter().map(|won| won[at]).sum();
        // Nobody won if there was no room.
        assert!(winners <= 1, "{COPIES}");
        assert_eq!(table.lock_stripe(&table.placed(class(number))).count(), winners, "{COPIES}");
        expected += u64::from(winners);
    }
    for number in 0..RESIDENTS {
        assert_eq!(table.lock_stripe(&table.placed(class(number))).count(), 1, "{COPIES}");
    }
    let all: usize = table.buckets(0, 1).map(|(_, bucket)| bucket.fingerprints().count()).sum();
    assert_eq!(all as u64, expected, "{COPIES}");
}

/// 500 schedules find the mutants below.
#[test]
fn nothing_is_missed_while_a_table_grows() {
    check(2000, || growth_beside_readers(Table::contains_class, insert_once));
}

/// Reads both buckets once, whatever happens meanwhile.
#[test]
fn mutant_a_reader_that_does_not_read_again() {
    const ONCE: Query = |table, class| {
        let pointer = table.pointer();
        class.buckets.into_iter().any(|position| {
            match table.resolve_by(pointer, position, class.fingerprint) {
                Resolved::At { contents, .. } | Resolved::Frozen { contents, .. } => {
                    contents.contains(class)
                }
                Resolved::Stale => false,
            }
        })
    };
    must_fail(MISSED, 2000, || growth_beside_readers(ONCE, insert_once));
}

#[test]
fn mutant_a_claim_that_checks_without_the_lock() {
    const RACY: Claim = |table, class| {
        if table.contains_class(class) {
            return Ok(false);
        }
        insert(table, class).map(|()| true)
    };
    must_fail(COPIES, 2000, || growth_beside_readers(Table::contains_class, RACY));
}
