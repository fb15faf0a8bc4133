//! shuttle models of growth: four threads insert and query while slices of a few items fill up one
//! after another.

use std::vec::Vec;

use tamis_hash::{HashItem, Rapid};
use tamis_sync::schedule::{check, must_fail};
use tamis_sync::thread::{Arc, spawn};

use super::claim::{self, Claim};
use super::mutants::{Insert, MISSED, NONE_NEW, NOT_ONE, early, without_visits};
use super::plan::Plan;
use super::slices::Slices;
use crate::array::Array as _;
use crate::array::line::InLine;
use crate::bits::{Free, Locked};

/// Threads, and items of which each thread inserts half.
const THREADS: usize = 4;
const ITEMS: u64 = 24;

fn hash(item: u64) -> u64 {
    Rapid::with_seed(2).hash_item(&item)
}

/// All threads insert overlapping items into slices of three items each; each finds what it has
/// inserted, at once and in the end. Returns the numbers of inserts that returned `true`, item by
/// item.
fn growth<W: Claim + Send + Sync + 'static>(insert: Insert<W>) -> Vec<usize> {
    // 32 lines for 3 items: a false positive would need an equal bit of 16,384.
    let plan = Plan { tiny: Some(32), ..Plan::new(InLine::<W>::KIND, 3, 0.01, u64::MAX) };
    let slices = Arc::new(Slices::new(plan).unwrap());
    let threads: Vec<_> = (0..THREADS as u64)
        .map(|thread| {
            let slices = Arc::clone(&slices);
            spawn(move || {
                // Every item is inserted by two threads, in different orders.
                let own = (0..ITEMS / 2).map(|at| (thread * ITEMS / 4 + at) % ITEMS);
                let own: Vec<u64> =
                    if thread % 2 == 0 { own.collect() } else { own.rev().collect() };
                let mut won = Vec::new();
                for (at, &item) in own.iter().enumerate() {
                    if insert(&slices, hash(item)) {
                        won.push(item);
                    }
                    // Some of them, since each look is a step of every schedule.
                    let mut before = own[at.saturating_sub(3)..=at].iter();
                    assert!(before.all(|&item| slices.contains(hash(item))), "{MISSED}");
                }
                won
            })
        })
        .collect();
    let won: Vec<Vec<u64>> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!((0..ITEMS).all(|item| slices.contains(hash(item))), "{MISSED}");
    assert!(slices.len() > 1, "the filter did not grow");
    (0..ITEMS).map(|item| won.iter().flatten().filter(|&&won| won == item).count()).collect()
}

#[test]
fn items_are_found_while_four_threads_grow_a_filter() {
    check(200, || {
        assert!(growth::<Free>(claim::insert).iter().all(|&winners| winners >= 1), "{NONE_NEW}");
    });
}

/// 250 schedules find the mutants below.
#[test]
fn exactly_one_of_four_threads_wins_while_a_filter_grows() {
    check(600, || {
        assert!(growth::<Locked>(claim::insert).iter().all(|&winners| winners == 1), "{NOT_ONE}");
    });
}

#[test]
fn mutant_claims_without_a_lock_while_a_filter_grows() {
    must_fail(NOT_ONE, 2000, || {
        assert!(growth::<Free>(claim::insert).iter().all(|&winners| winners == 1), "{NOT_ONE}");
    });
}

#[test]
fn mutant_claims_without_visits_while_a_filter_grows() {
    must_fail(NOT_ONE, 2000, || {
        assert!(growth(without_visits).iter().all(|&winners| winners == 1), "{NOT_ONE}");
    });
}

#[test]
fn mutant_an_insert_into_an_unpublished_slice() {
    must_fail(MISSED, 2000, || {
        growth::<Free>(early);
    });
}
