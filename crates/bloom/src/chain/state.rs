//! The shared words of a growing filter apart from its bits: every memory ordering of the chain.
//!
//! # Orderings
//!
//! The counts are Relaxed. They decide when a thread does something, never what it may rely on:
//! each claim is one read-modify-write, so exactly one thread gets it. A slice is published by
//! [`Slots`](tamis_sync::Slots), with Release and Acquire.
//!
//! The visits of lines are the exception: the number of visited portions, and that of closed
//! slices, order the visits before what relies on them ([`claim`](super::claim)).

use tamis_sync::{Ordering, Word};

/// The counts of one slice.
#[derive(Debug)]
pub(crate) struct Counts {
    /// The items that have counted.
    counted: Word,
    /// The count at which the next slice is reserved, or tried again.
    reserve: Word,
    /// The number of portions that threads have claimed to touch.
    touched: Word,
    /// The number of portions whose lines threads have claimed to visit.
    claimed: Word,
    /// The number of portions whose lines they have visited.
    visited: Word,
}

impl Counts {
    pub(crate) fn new(counted: u64, reserve: u64, touched: u64) -> Self {
        let [counted, reserve, touched] = [counted, reserve, touched].map(Word::new);
        Self { counted, reserve, touched, claimed: Word::new(0), visited: Word::new(0) }
    }

    /// Counts an item; returns the count with it.
    pub(crate) fn add(&self) -> u64 {
        // ORDERING: Relaxed: see above.
        self.counted.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn counted(&self) -> u64 {
        // ORDERING: Relaxed: see above.
        self.counted.load(Ordering::Relaxed)
    }

    /// Returns whether the caller, and no other thread, must reserve the next slice: the count has
    /// reached the step. The next time is `again` items later, in case the memory cannot be had.
    pub(crate) fn claim_reserve(&self, counted: u64, again: u64) -> bool {
        // ORDERING: Relaxed: see above.
        self.reserve
            .try_update(Ordering::Relaxed, |step| (counted >= step).then_some(counted + again))
            .is_ok()
    }

    /// Lets no thread reserve the next slice any more. A thread that has just claimed it does not
    /// matter.
    pub(crate) fn never_reserve(&self) {
        // ORDERING: Relaxed: see above.
        self.reserve.store(u64::MAX, Ordering::Relaxed);
    }

    /// Returns the number of a portion that the caller, and no other thread, must touch; `None` if
    /// all of them have been claimed.
    pub(crate) fn claim_portion(&self, portions: u64) -> Option<u64> {
        claim(&self.touched, portions)
    }

    /// Returns the number of a portion whose lines the caller, and no other thread, must visit;
    /// `None` if all of them have been claimed.
    pub(crate) fn claim_visit(&self, portions: u64) -> Option<u64> {
        claim(&self.claimed, portions)
    }

    /// Counts a portion as visited; returns the count with it.
    pub(crate) fn visited(&self) -> u64 {
        // ORDERING: Release and Acquire: the visits of all portions that are counted happen before
        // the return.
        self.visited.fetch_add(1, Ordering::AcqRel) + 1
    }
}

/// Claims the next of some portions.
fn claim(claimed: &Word, portions: u64) -> Option<u64> {
    // ORDERING: Relaxed: see above.
    claimed.try_update(Ordering::Relaxed, |next| (next < portions).then_some(next + 1)).ok()
}

/// The number of oldest slices that are closed: no insert writes into them any more.
#[derive(Debug)]
pub(crate) struct Closed(Word);

impl Closed {
    pub(crate) fn new(closed: usize) -> Self {
        Self(Word::new(closed as u64))
    }

    #[inline]
    pub(crate) fn get(&self) -> usize {
        // ORDERING: Acquire pairs with the Release in `set`: all visits of a closed slice happen
        // before what follows.
        self.0.load(Ordering::Acquire) as usize
    }

    /// For the thread that has made the last visit of the oldest slice that is not closed, and no
    /// other.
    pub(crate) fn set(&self, closed: usize) {
        // ORDERING: Release pairs with the Acquire in `get`.
        self.0.store(closed as u64, Ordering::Release);
    }
}

/// Takes one from a number, if it is not 0; returns whether it did.
#[cfg(test)]
pub(crate) fn take_one(number: &Word) -> bool {
    // ORDERING: Relaxed: a number for tests.
    number.try_update(Ordering::Relaxed, |number| number.checked_sub(1)).is_ok()
}

/// Adds to a number.
#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
pub(crate) fn add(number: &Word, more: u64) {
    // ORDERING: Relaxed: a number for tests.
    number.fetch_add(more, Ordering::Relaxed);
}
