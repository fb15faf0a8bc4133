//! Claim 5 under loom: exactly one of racing inserts of an item is the first.

use tamis_sync::model::{Mutant, check, must_fail, must_fail_with};
use tamis_sync::thread::{Arc, spawn};

use super::{Pattern, Query, SLOTS, X, contains, insert, new, rotate};
use crate::rotating::array::Rotating;

/// An item of two words.
const Z: Pattern = &[(1, 0b001), (2, 0b001)];

pub(super) const NOT_ONE: &str = "not exactly one insert returned that the item is new";

// Claim 5: claim ‖ rotate ‖ claim has one winner.

fn exactly_one_claims(item: Pattern, insert: Query) {
    // The spare is clear, so that the rotation is only a store: the clearing has models of its own.
    let filter = Arc::new(new());
    let [racer, rotator] = [Arc::clone(&filter), Arc::clone(&filter)];
    let race = spawn(move || insert(&racer, item));
    let rotation = spawn(move || rotate(&rotator));
    let mine = insert(&filter, item);
    assert!(mine != race.join().unwrap(), "{NOT_ONE}");
    rotation.join().unwrap();
    assert!(!insert(&filter, item), "{NOT_ONE}");
}

#[test]
fn model_exactly_one_claims() {
    check(290, Some(2), || exactly_one_claims(X, insert));
    check(85, Some(1), || exactly_one_claims(Z, insert));
}

#[test]
fn mutant_a_claim_without_the_stripe() {
    must_fail_with(Mutant::NoLock, NOT_ONE, Some(2), || exactly_one_claims(X, insert));
}

#[test]
fn mutant_a_stripe_freed_relaxed() {
    must_fail_with(Mutant::UnlockRelaxed, NOT_ONE, Some(2), || exactly_one_claims(X, insert));
}

#[test]
fn mutant_a_stripe_locked_relaxed() {
    must_fail_with(Mutant::LockRelaxed, NOT_ONE, Some(2), || exactly_one_claims(X, insert));
}

/// The query before the stripe decides, not the one under it.
#[test]
fn mutant_the_query_before_the_stripe_decides() {
    fn insert(filter: &Rotating, pattern: Pattern) -> bool {
        let new = !contains(filter, pattern);
        filter.ring.claim(SLOTS, 0, 0, pattern.iter().copied(), false);
        new
    }
    must_fail(NOT_ONE, Some(2), move || exactly_one_claims(X, insert));
}

/// Each claim looks at its own generation only: after a rotation it finds nothing.
#[test]
fn mutant_a_claim_that_asks_one_generation() {
    fn insert(filter: &Rotating, pattern: Pattern) -> bool {
        let ring = &filter.ring;
        let held = ring.hold(0);
        let current = held.state.current();
        let new = ring.holders(SLOTS, 0, pattern.iter().copied()) >> current & 1 == 0;
        ring.write(SLOTS, 0, pattern.iter().copied(), current);
        new
    }
    must_fail(NOT_ONE, Some(2), move || exactly_one_claims(X, insert));
}
