//! loom models of growth (L6): inserts that cross from one slice to the next, and queries meanwhile.
//!
//! As in the models of the bits, a property is a function that takes the operation under test, and a mutant is one with
//! a planted bug. A slice is one line and takes one item. The minimum of executions that a model must explore is about
//! half of what it explores now.

use alloc::vec::Vec;

use tamis_hash::split;
use tamis_sync::model::{Mutant, check, must_fail, must_fail_with};
use tamis_sync::thread::{Arc, spawn};

use super::claim::{self, AnyWinner, Claim, OneWinner};
use super::plan::Plan;
use super::slices::Slices;
use crate::array::Array;
use crate::probe::line::Shape;

const MISSED: &str = "an inserted item was missed";
const NONE_NEW: &str = "no insert returned that the item is new";
const NOT_ONE: &str = "not exactly one insert returned that the item is new";
const UNSET: &str = "is set";

/// The filter of a model: each slice is one line with one bit per item, and takes one item.
struct Filter<C> {
    slices: Slices,
    claim: C,
}

impl<C: Claim> Filter<C> {
    /// A filter with the item `A`, so that the next slice is reserved and the next insert publishes it.
    fn with_a() -> Arc<Self> {
        let filter = Self::empty();
        assert!(insert(&filter, hash(A)));
        assert_eq!((filter.slices.len(), filter.slices.get(1).is_some()), (1, true));
        filter
    }

    fn empty() -> Arc<Self> {
        let plan = Plan { tiny: Some(1), ..Plan::new(1, 0.01, u64::MAX) };
        Arc::new(Self { slices: Slices::new(plan).unwrap(), claim: C::new().unwrap() })
    }
}

/// Items whose bits differ.
const A: usize = 0;
const B: usize = 1;
const X: usize = 2;

/// Returns the hash of an item. No two items have the same bit.
fn hash(item: usize) -> u64 {
    let shape = Shape { words: 1, probes: 1 };
    let bit = |hash: u64| shape.pattern(&shape.tables(), hash).next().unwrap();
    let mut hashes: Vec<u64> = Vec::new();
    for hash in (1_u64..).map(|number| split::pattern(number) ^ number) {
        if hashes.iter().all(|&other| bit(other) != bit(hash)) {
            hashes.push(hash);
        }
        if hashes.len() > item {
            break;
        }
    }
    hashes[item]
}

type Insert<C> = fn(&Filter<C>, u64) -> bool;
type Query = fn(&Slices, u64) -> bool;

fn insert<C: Claim>(filter: &Filter<C>, hash: u64) -> bool {
    claim::insert(&filter.claim, &filter.slices, hash)
}

// An old item is found at any time, no insert is lost, and one slice is published.

fn crossing<C: Claim + Send + Sync + 'static>(insert: Insert<C>, query: Query) {
    let filter = Filter::<C>::with_a();
    let threads = [B, X].map(|item| {
        let filter = Arc::clone(&filter);
        spawn(move || {
            assert!(insert(&filter, hash(item)), "{NONE_NEW}");
            assert!(query(&filter.slices, hash(item)), "{MISSED}");
        })
    });
    assert!(query(&filter.slices, hash(A)), "{MISSED}");
    for thread in threads {
        thread.join().unwrap();
    }
    assert!([A, B, X].into_iter().all(|item| query(&filter.slices, hash(item))), "{MISSED}");
    assert_eq!(filter.slices.len(), 2, "one slice is published");
}

#[test]
fn model_two_inserts_cross_to_the_next_slice() {
    check(650, Some(2), || crossing::<AnyWinner>(insert, Slices::contains));
    check(580, Some(2), || crossing::<OneWinner>(insert, Slices::contains));
}

#[test]
fn mutant_a_query_of_the_newest_slice() {
    must_fail(MISSED, || {
        check(1, Some(2), || {
            crossing::<AnyWinner>(insert, |slices, hash| {
                slices.slice(slices.len() - 1).array().contains(hash)
            });
        });
    });
}

/// An insert writes into the next slice as soon as it is set, before it is published.
#[test]
fn mutant_an_insert_into_an_unpublished_slice() {
    fn early(filter: &Filter<AnyWinner>, hash: u64) -> bool {
        let seen = (0..).take_while(|&index| filter.slices.get(index).is_some()).count();
        !filter.slices.contains_in(seen, hash)
            && claim::insert_absent(&filter.claim, &filter.slices, seen, hash)
    }
    must_fail(MISSED, || {
        check(1, Some(2), || crossing::<AnyWinner>(early, Slices::contains));
    });
}

// A thread that sees a new number of slices finds the new slice set.

fn publishing() {
    let filter = Filter::<AnyWinner>::empty();
    let other = Arc::clone(&filter);
    let thread = spawn(move || {
        // Reserves the next slice, and publishes it.
        assert!(insert(&other, hash(A)), "{NONE_NEW}");
        assert!(insert(&other, hash(B)), "{NONE_NEW}");
    });
    // An insert, and not a query alone: a thread that only loads would hide most interleavings (tokio-rs/loom#392).
    assert!(insert(&filter, hash(X)), "{NONE_NEW}");
    thread.join().unwrap();
    assert!([A, B, X].into_iter().all(|item| filter.slices.contains(hash(item))), "{MISSED}");
}

#[test]
fn model_a_published_slice_is_set() {
    check(580, Some(3), publishing);
}

#[test]
fn mutant_a_slice_published_relaxed() {
    must_fail_with(Mutant::UpdateRelaxed, UNSET, || {
        check(1, Some(3), publishing);
    });
}

#[test]
fn mutant_the_number_of_slices_loaded_relaxed() {
    must_fail_with(Mutant::LoadRelaxed, UNSET, || {
        check(1, Some(3), publishing);
    });
}

// Two inserts race to reserve the next slice: no item is lost, and both go on.

fn reserving() {
    let filter = Filter::<AnyWinner>::empty();
    let other = Arc::clone(&filter);
    let thread = spawn(move || assert!(insert(&other, hash(A)), "{NONE_NEW}"));
    assert!(insert(&filter, hash(B)), "{NONE_NEW}");
    thread.join().unwrap();
    assert!([A, B].into_iter().all(|item| filter.slices.contains(hash(item))), "{MISSED}");
    assert!(filter.slices.get(1).is_some(), "the next slice is set");
}

#[test]
fn model_two_inserts_reserve_a_slice() {
    check(230, None, reserving);
}

// The same item inserted while the next slice is published: one insert may see one slice, and the other two.

/// Returns how many inserts of `X` returned `true`.
fn winners<C: Claim + Send + Sync + 'static>(insert: Insert<C>) -> usize {
    let filter = Filter::<C>::with_a();
    let other = Arc::clone(&filter);
    let thread = spawn(move || {
        // Publishes the next slice.
        insert(&other, hash(B));
        insert(&other, hash(X))
    });
    let mine = insert(&filter, hash(X));
    let theirs = thread.join().unwrap();
    assert!(filter.slices.contains(hash(X)), "{MISSED}");
    assert!(!insert(&filter, hash(X)), "an item was new twice");
    usize::from(mine) + usize::from(theirs)
}

fn at_least_one(insert: Insert<AnyWinner>) {
    assert!(winners(insert) >= 1, "{NONE_NEW}");
}

fn exactly_one<C: Claim + Send + Sync + 'static>(insert: Insert<C>) {
    assert_eq!(winners(insert), 1, "{NOT_ONE}");
}

#[test]
fn model_at_least_one_is_new_across_a_switch() {
    check(330, Some(3), || at_least_one(insert));
}

#[test]
fn model_exactly_one_is_new_across_a_switch() {
    check(480, Some(3), || exactly_one::<OneWinner>(insert));
}

/// Without a lock two inserts may write into different slices.
#[test]
fn mutant_a_claim_without_a_lock() {
    must_fail(NOT_ONE, || check(1, Some(3), || exactly_one::<AnyWinner>(insert)));
}

#[test]
fn mutant_a_lock_that_does_not_exclude() {
    must_fail_with(Mutant::NoLock, NOT_ONE, || {
        check(1, Some(3), || exactly_one::<OneWinner>(insert));
    });
}

/// The query before the lock decides.
#[test]
fn mutant_the_check_before_the_lock_decides() {
    fn insert(filter: &Filter<OneWinner>, hash: u64) -> bool {
        let new = !filter.slices.contains(hash);
        claim::insert_absent(&filter.claim, &filter.slices, 1, hash);
        new
    }
    must_fail(NOT_ONE, || check(1, Some(3), || exactly_one(insert)));
}

/// An insert gives way if another slice has the item after it has written it. Two may give way to each other.
#[test]
fn mutant_inserts_that_give_way() {
    fn insert(filter: &Filter<AnyWinner>, hash: u64) -> bool {
        let new = claim::insert(&filter.claim, &filter.slices, hash);
        let holders = filter.slices.iter().filter(|slice| slice.array().contains(hash));
        new && holders.count() == 1
    }
    must_fail(NONE_NEW, || check(1, Some(3), || at_least_one(insert)));
}
