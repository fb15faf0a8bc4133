//! loom models of growth (L6): inserts that cross from one slice to the next, and queries
//! meanwhile.
//!
//! As in the models of the bits, a property is a function that takes the operation under test, and
//! a mutant is one with a planted bug. A slice is one line and takes one item. The minimum of
//! executions that a model must explore is about half of what it explores now.
//!
//! That a published slice is set, and set by one thread, is modelled in `tamis_sync::slots`.

use alloc::vec::Vec;

use tamis_hash::split;
use tamis_sync::model::{Mutant, check, must_fail, must_fail_with};
use tamis_sync::thread::{Arc, spawn};

use super::claim::{self, Claim, View};
use super::mutants::{Insert, MISSED, NONE_NEW, NOT_ONE, early, without_visits};
use super::plan::Plan;
use super::slices::Slices;
use crate::array::Array;
use crate::array::line::InLine;
use crate::bits::{Free, LOCK, Locked};
use crate::probe::line::Shape;

/// loom's message for a load under a lock that is not ordered after a store under the lock.
const RACE: &str = "Causality violation";

/// An empty filter: each slice has one bit per item, or two in two words if it has locks, and takes
/// one item.
fn empty<W: Claim>(lines: u64) -> Arc<Slices<W>> {
    let plan = Plan { tiny: Some(lines), ..Plan::new(InLine::<W>::KIND, 1, 0.01, u64::MAX) };
    Arc::new(Slices::new(plan).unwrap())
}

/// A filter of one line per slice with the item `A`, so that the next slice is reserved and the
/// next insert publishes it.
fn with_a<W: Claim>() -> Arc<Slices<W>> {
    let slices = empty(1);
    assert!(claim::insert(&slices, hash(A)));
    assert_eq!((slices.len(), slices.get(1).is_some()), (1, true));
    slices
}

/// Items whose bits differ.
const A: usize = 0;
const B: usize = 1;
const X: usize = 2;

/// Returns the hash of an item. No two items have a bit in common, and none has the bit of the
/// lock.
fn hash(item: usize) -> u64 {
    let bits = |hash: u64| {
        [1, 2].map(|words| {
            let shape = Shape { words, probes: words };
            shape.pattern(&shape.tables(), hash).collect::<Vec<_>>()
        })
    };
    let mut hashes: Vec<u64> = Vec::new();
    for hash in (1_u64..).map(|number| split::pattern(number) ^ number) {
        let [one, two] = bits(hash);
        let differs = hashes.iter().all(|&other| {
            let [other_one, other_two] = bits(other);
            one != other_one && two.iter().all(|part| !other_two.contains(part))
        });
        if differs && !two.contains(&(0, LOCK)) {
            hashes.push(hash);
        }
        if hashes.len() > item {
            break;
        }
    }
    hashes[item]
}

type Query<W> = fn(&Slices<W>, u64) -> bool;

// An old item is found at any time, no insert is lost, and one slice is published.

fn crossing<W: Claim + Send + Sync + 'static>(insert: Insert<W>, query: Query<W>) {
    let filter = with_a();
    let threads = [B, X].map(|item| {
        let filter = Arc::clone(&filter);
        spawn(move || {
            assert!(insert(&filter, hash(item)), "{NONE_NEW}");
            assert!(query(&filter, hash(item)), "{MISSED}");
        })
    });
    assert!(query(&filter, hash(A)), "{MISSED}");
    for thread in threads {
        thread.join().unwrap();
    }
    assert!([A, B, X].into_iter().all(|item| query(&filter, hash(item))), "{MISSED}");
    assert_eq!(filter.len(), 2, "one slice is published");
}

#[test]
fn model_two_inserts_cross_to_the_next_slice() {
    check(650, Some(2), || crossing::<Free>(claim::insert, Slices::contains));
    check(650, Some(2), || crossing::<Locked>(claim::insert, Slices::contains));
}

#[test]
fn mutant_a_query_of_the_newest_slice() {
    must_fail(MISSED, Some(2), || {
        crossing::<Free>(claim::insert, |slices, hash| {
            slices.slice(slices.len() - 1).array().contains(hash)
        });
    });
}

#[test]
fn mutant_an_insert_into_an_unpublished_slice() {
    must_fail(MISSED, Some(2), || crossing::<Free>(early, Slices::contains));
}

// The same item inserted while the next slice is published: one insert may see one slice, and the
// other two.

/// Returns how many inserts of `X` returned `true`.
fn winners<W: Claim + Send + Sync + 'static>(insert: Insert<W>) -> usize {
    let filter = with_a();
    let other = Arc::clone(&filter);
    let thread = spawn(move || {
        // Publishes the next slice.
        insert(&other, hash(B));
        insert(&other, hash(X))
    });
    let mine = insert(&filter, hash(X));
    let theirs = thread.join().unwrap();
    assert!(filter.contains(hash(X)), "{MISSED}");
    assert!(!insert(&filter, hash(X)), "an item was new twice");
    usize::from(mine) + usize::from(theirs)
}

fn at_least_one(insert: Insert<Free>) {
    assert!(winners(insert) >= 1, "{NONE_NEW}");
}

fn exactly_one<W: Claim + Send + Sync + 'static>(insert: Insert<W>) {
    assert_eq!(winners(insert), 1, "{NOT_ONE}");
}

#[test]
fn model_at_least_one_is_new_across_a_switch() {
    check(330, Some(3), || at_least_one(claim::insert));
}

#[test]
fn model_exactly_one_is_new_across_a_switch() {
    check(850, Some(3), || exactly_one::<Locked>(claim::insert));
}

/// Without a lock two inserts may write into different slices.
#[test]
fn mutant_a_claim_without_a_lock() {
    must_fail(NOT_ONE, Some(3), || exactly_one::<Free>(claim::insert));
}

#[test]
fn mutant_a_lock_that_does_not_exclude() {
    must_fail_with(Mutant::NoLock, RACE, Some(3), || exactly_one::<Locked>(claim::insert));
}

#[test]
fn mutant_a_claim_without_visits() {
    must_fail(NOT_ONE, Some(3), || exactly_one(without_visits));
}

/// The query before the visits decides.
#[test]
fn mutant_no_query_after_the_visits() {
    fn insert(slices: &Slices<Locked>, hash: u64) -> bool {
        let view = View::of(slices);
        if slices.contains_in(view.seen, hash) {
            return false;
        }
        if view.closed + 1 < view.seen {
            slices.visit(view.closed, view.seen, hash);
        }
        claim::insert_absent(slices, View { closed: view.seen, ..view }, hash)
    }
    must_fail(NOT_ONE, Some(3), || exactly_one(insert));
}

/// Under the lock the number of slices is not loaded again.
#[test]
fn mutant_a_claim_in_a_slice_that_is_not_the_newest() {
    fn insert(slices: &Slices<Locked>, hash: u64) -> bool {
        let View { seen, closed } = View::of(slices);
        if slices.contains_in(seen, hash) {
            return false;
        }
        if closed + 1 < seen {
            slices.visit(closed, seen, hash);
            if slices.contains_in(seen, hash) {
                return false;
            }
        }
        let new = slices.slice(seen - 1).array().insert(hash);
        if new {
            slices.added(seen - 1, hash);
        }
        new
    }
    must_fail(NOT_ONE, Some(3), || exactly_one(insert));
}

#[test]
fn mutant_a_line_locked_relaxed() {
    must_fail_with(Mutant::LockRelaxed, RACE, Some(3), || exactly_one::<Locked>(claim::insert));
}

#[test]
fn mutant_a_line_freed_relaxed() {
    must_fail_with(Mutant::UnlockRelaxed, RACE, Some(3), || exactly_one::<Locked>(claim::insert));
}

/// An insert gives way if another slice has the item after it has written it. Two may give way to
/// each other.
#[test]
fn mutant_inserts_that_give_way() {
    fn insert(slices: &Slices<Free>, hash: u64) -> bool {
        let new = claim::insert(slices, hash);
        let holders = slices.iter().filter(|slice| slice.array().contains(hash));
        new && holders.count() == 1
    }
    must_fail(NONE_NEW, Some(3), || at_least_one(insert));
}

// A slice that other threads have closed needs no visit.

/// One thread writes x into slice 0. Others publish slice 1, visit all lines of slice 0, and so
/// close it. An insert of x that sees the closed slice relies on their visits.
fn closing(lines: u64) {
    let filter = empty::<Locked>(lines);
    assert!(claim::insert(&filter, hash(A)));
    // The first line that is visited is that of the item. The others visit the last line for items
    // of their own.
    let x = (X..).map(hash).find(|&hash| split::place(hash, lines) == 0).unwrap();
    let y = (1..).map(split::pattern).find(|&hash| split::place(hash, lines) == lines - 1).unwrap();
    let old = Arc::clone(&filter);
    let old = spawn(move || claim::insert(&old, x));
    let other = Arc::clone(&filter);
    let other = spawn(move || {
        other.publish(1);
        other.visit(0, 2, y);
    });
    if lines > 1 && filter.len() == 2 {
        filter.visit(0, 2, y);
    }
    let mine = filter.closed() == 1 && claim::insert(&filter, x);
    let theirs = old.join().unwrap();
    other.join().unwrap();
    assert!(filter.contains(x), "{MISSED}");
    assert_eq!(usize::from(mine) + usize::from(theirs), 1, "{NOT_ONE}");
}

#[test]
fn model_a_closed_slice_needs_no_visit() {
    check(600, Some(2), || closing(1));
}

#[test]
fn model_a_slice_closed_by_two_threads_needs_no_visit() {
    check(800, Some(2), || closing(2));
}

/// The number of closed slices is stored Relaxed.
#[test]
fn mutant_a_slice_closed_relaxed() {
    must_fail_with(Mutant::StoreRelaxed, NOT_ONE, Some(2), || closing(1));
}

#[test]
fn mutant_closed_slices_loaded_relaxed() {
    must_fail_with(Mutant::LoadRelaxed, NOT_ONE, Some(2), || closing(1));
}

/// The visits of other threads are counted Relaxed.
#[test]
fn mutant_visits_counted_relaxed() {
    must_fail_with(Mutant::AddRelaxed, NOT_ONE, Some(2), || closing(2));
}
