//! shuttle models of growth: four threads insert and query while slices of a few items fill up one after another.

use std::vec::Vec;

use tamis_hash::{HashItem, Rapid};
use tamis_sync::schedule::{check, must_fail};
use tamis_sync::thread::{Arc, spawn};

use super::claim::{self, AnyWinner, Claim, OneWinner};
use super::plan::Plan;
use super::slices::Slices;

/// Threads, and items of which each thread inserts half.
const THREADS: usize = 4;
const ITEMS: u64 = 24;

const MISSED: &str = "an inserted item was missed";
const NONE_NEW: &str = "no insert returned that the item is new";
const NOT_ONE: &str = "not exactly one insert returned that the item is new";

struct Filter<C> {
    slices: Slices,
    claim: C,
}

type Insert<C> = fn(&Filter<C>, u64) -> bool;

fn insert<C: Claim>(filter: &Filter<C>, hash: u64) -> bool {
    claim::insert(&filter.claim, &filter.slices, hash)
}

fn hash(item: u64) -> u64 {
    Rapid::with_seed(2).hash_item(&item)
}

/// All threads insert overlapping items into slices of three items each; each finds what it has inserted, at once and
/// in the end. Returns the numbers of inserts that returned `true`, item by item.
fn growth<C: Claim + Send + Sync + 'static>(insert: Insert<C>) -> Vec<usize> {
    // 32 lines for 3 items: a false positive would need an equal bit of 16,384.
    let plan = Plan { tiny: Some(32), ..Plan::new(3, 0.01, u64::MAX) };
    let filter = Filter { slices: Slices::new(plan).unwrap(), claim: C::new().unwrap() };
    let filter = Arc::new(filter);
    let threads: Vec<_> = (0..THREADS as u64)
        .map(|thread| {
            let filter = Arc::clone(&filter);
            spawn(move || {
                // Every item is inserted by two threads, in different orders.
                let own = (0..ITEMS / 2).map(|at| (thread * ITEMS / 4 + at) % ITEMS);
                let own: Vec<u64> =
                    if thread % 2 == 0 { own.collect() } else { own.rev().collect() };
                let mut won = Vec::new();
                for (at, &item) in own.iter().enumerate() {
                    if insert(&filter, hash(item)) {
                        won.push(item);
                    }
                    // Some of them, since each look is a step of every schedule.
                    let mut before = own[at.saturating_sub(3)..=at].iter();
                    assert!(before.all(|&item| filter.slices.contains(hash(item))), "{MISSED}");
                }
                won
            })
        })
        .collect();
    let won: Vec<Vec<u64>> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!((0..ITEMS).all(|item| filter.slices.contains(hash(item))), "{MISSED}");
    assert!(filter.slices.len() > 1, "the filter did not grow");
    (0..ITEMS).map(|item| won.iter().flatten().filter(|&&won| won == item).count()).collect()
}

#[test]
fn items_are_found_while_four_threads_grow_a_filter() {
    check(2000, || {
        assert!(growth::<AnyWinner>(insert).iter().all(|&winners| winners >= 1), "{NONE_NEW}");
    });
}

#[test]
fn exactly_one_of_four_threads_wins_while_a_filter_grows() {
    check(2000, || {
        assert!(growth::<OneWinner>(insert).iter().all(|&winners| winners == 1), "{NOT_ONE}");
    });
}

#[test]
fn mutant_claims_without_a_lock_while_a_filter_grows() {
    must_fail(NOT_ONE, 2000, || {
        assert!(growth::<AnyWinner>(insert).iter().all(|&winners| winners == 1), "{NOT_ONE}");
    });
}

/// An insert goes into the slice that comes next, before it is published.
#[test]
fn mutant_an_insert_into_an_unpublished_slice() {
    fn early(filter: &Filter<AnyWinner>, hash: u64) -> bool {
        let seen = (0..).take_while(|&index| filter.slices.get(index).is_some()).count();
        !filter.slices.contains_in(seen, hash)
            && claim::insert_absent(&filter.claim, &filter.slices, seen, hash)
    }
    must_fail(MISSED, 2000, || {
        growth::<AnyWinner>(early);
    });
}
