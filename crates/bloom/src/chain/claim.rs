//! The two kinds of insert, as types: at least one of the racing inserts of an item returns `true`, or exactly one.
//!
//! An insert first queries all slices, without a lock. Only if it finds the item in none of them, it claims the item. In
//! a batch the query of an item may come before the inserts of other items of the batch before; the proofs allow any
//! time between the query and the claim, as long as both see the same number of slices.
//!
//! # At least one (`AnyWinner`)
//!
//! A claim writes the item into slice `seen - 1`, after the insert has found it in none of the `seen` slices. It wins
//! if it changes a bit. So an insert that changes a bit returns `true`. Let x be in no slice, and let no other item
//! set its last missing bit in a slice. Then an insert of x that returns `false` has found all bits of x in one
//! slice, and the last of them was set by an insert of x: that one has returned `true`, or will. ∎ Racing inserts may
//! write into different slices, if a slice is published in between; the proof does not use that they are the same.
//!
//! # Exactly one (`OneWinner`)
//!
//! A claim holds the lock of the item's key from before it loads the number of slices until it has written the last
//! bit. It wins if no slice contains the item. All claims of x hold the same lock, so they are totally ordered. The
//! first claim that wins has written x into a slice. A later claim of x sees that, by the order of the lock, as a
//! query after an insert does ("No false negatives"), whatever was published in between; so it does not win. The
//! check before the lock returns `false` only for an item that is in a slice, where it stays. If no claim wins, each
//! found x in a slice without an insert of x that wrote it: x was a false positive. ∎ Items are counted and slices
//! are prepared after the lock is free.

use tamis_sync::AllocError;

use super::plan::sample;
use super::slices::Slices;
use super::state::KeyLocks;
use crate::array::Array;

/// How an insert claims an item that it has not found.
pub trait Claim: Sized {
    fn new() -> Result<Self, AllocError>;

    /// Writes an item that the caller has not found in the `seen` oldest slices. Returns the number of the slice, if
    /// this call claims the item.
    fn claim(&self, slices: &Slices, seen: usize, hash: u64) -> Option<usize>;

    /// Requests what [`claim`](Self::claim) needs besides the slices.
    fn prefetch(&self, hash: u64);
}

/// At least one of the racing inserts of an item returns `true`. No insert waits.
#[derive(Debug)]
pub struct AnyWinner;

impl Claim for AnyWinner {
    fn new() -> Result<Self, AllocError> {
        Ok(Self)
    }

    #[inline]
    fn claim(&self, slices: &Slices, seen: usize, hash: u64) -> Option<usize> {
        let newest = seen - 1;
        slices.slice(newest).array().insert(hash).then_some(newest)
    }

    #[inline]
    fn prefetch(&self, _hash: u64) {}
}

/// Exactly one of the racing inserts of an item returns `true`. Inserts of new items whose keys share a lock wait for
/// each other.
#[derive(Debug)]
pub struct OneWinner(KeyLocks);

impl Claim for OneWinner {
    fn new() -> Result<Self, AllocError> {
        KeyLocks::new().map(Self)
    }

    #[inline]
    fn claim(&self, slices: &Slices, _seen: usize, hash: u64) -> Option<usize> {
        let _guard = self.0.lock(sample(hash));
        // The caller's query is not enough: another insert of the item may have come in between.
        let seen = slices.len();
        if slices.contains_in(seen, hash) {
            return None;
        }
        slices.slice(seen - 1).array().insert(hash);
        Some(seen - 1)
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        self.0.prefetch(sample(hash));
    }
}

/// Inserts an item; returns whether this call claimed it.
#[inline]
pub(crate) fn insert(claim: &impl Claim, slices: &Slices, hash: u64) -> bool {
    let seen = slices.len();
    !slices.contains_in(seen, hash) && insert_absent(claim, slices, seen, hash)
}

/// Inserts an item that was not found in the `seen` oldest slices.
#[inline]
pub(crate) fn insert_absent(claim: &impl Claim, slices: &Slices, seen: usize, hash: u64) -> bool {
    let claimed = claim.claim(slices, seen, hash);
    // The lock, if any, is free here.
    if let Some(index) = claimed {
        slices.added(index, hash);
    }
    claimed.is_some()
}
