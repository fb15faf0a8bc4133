//! Inserts, claims, removals, queries and splits of a small table that grows, by five threads
//! under random schedules of shuttle: searches that sleep through splits, waiting loops, several
//! levels.

use core::array;
use std::vec::Vec;

use tamis_sync::schedule::{check, must_fail};
use tamis_sync::thread::{Arc, spawn};

use crate::error::InsertError;
use crate::growth::batch::{BatchRead, Located};
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

fn hash(number: u64) -> u64 {
    let hash = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash ^ hash >> 29
}

fn class(number: u64) -> Class {
    Classifier::new(&PLAN).class(hash(number))
}

/// A query of the item with this number.
type Query = fn(&Table, u64) -> bool;
type Claim = fn(&Table, Class) -> Result<bool, InsertError>;

fn insert(table: &Table, class: Class) -> Result<(), InsertError> {
    insert::insert(table, &table.placed(class), None)
}

fn insert_once(table: &Table, class: Class) -> Result<bool, InsertError> {
    if table.contains_class(class) {
        return Ok(false);
    }
    insert::insert_once(table, &table.placed(class))
}

fn contains(table: &Table, number: u64) -> bool {
    table.contains_class(class(number))
}

/// A query of a batch of this item and of all that stay. `change` may spoil what was read.
fn contains_in_batch(table: &Table, number: u64, change: fn(&mut BatchRead)) -> bool {
    let (mut batch, mut read) = (Located::EMPTY, BatchRead::NONE);
    let mut hashes = array::from_fn(|at| hash(at as u64 % RESIDENTS));
    hashes[0] = hash(number);
    table.locate(&hashes, &mut batch);
    table.read_batch(&batch, &mut read);
    change(&mut read);
    let [found, residents @ ..] = table.contains_batch(&batch, &read);
    assert!(residents.into_iter().all(|found| found), "{MISSED}");
    found
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
                    Ok(()) => assert!(query(&churner, number), "{MISSED}"),
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
                assert!(query(&reader, number), "{MISSED}");
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
    check(2000, || growth_beside_readers(contains, insert_once));
}

/// 500 schedules find the mutant below.
#[test]
fn no_batch_misses_an_item_while_a_table_grows() {
    const IN_BATCH: Query = |table, number| contains_in_batch(table, number, |_| ());
    check(1000, || growth_beside_readers(IN_BATCH, insert_once));
}

/// Takes the misses of a batch for valid, although a version changed.
#[test]
fn mutant_a_batch_that_ignores_the_versions() {
    const BLIND: Query =
        |table, number| contains_in_batch(table, number, |read| read.is_disturbed = false);
    must_fail(MISSED, 1000, || growth_beside_readers(BLIND, insert_once));
}

/// Reads both buckets once, whatever happens meanwhile.
#[test]
fn mutant_a_reader_that_does_not_read_again() {
    const ONCE: Query = |table, number| {
        let (pointer, class) = (table.pointer(), class(number));
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
    must_fail(COPIES, 2000, || growth_beside_readers(contains, RACY));
}
