//! The shared words of a growing filter apart from its bits: every memory ordering of the chain.
//!
//! # Orderings
//!
//! The counts are Relaxed. They decide when a thread does something, never what it may rely on: each claim is one
//! read-modify-write, so exactly one thread gets it. A slice is published by [`Slots`](tamis_sync::Slots), with Release
//! and Acquire.
//!
//! A key's stripe is a lock, with Acquire and Release: the bits that one holder wrote are visible to the next.

use tamis_sync::{AllocError, Ordering, StripeGuard, Stripes, Word};

/// The counts of one slice.
#[derive(Debug)]
pub(crate) struct Counts {
    /// The items that have counted.
    counted: Word,
    /// The count at which the next slice is reserved, or tried again.
    reserve: Word,
    /// The number of portions that threads have claimed to touch.
    touched: Word,
}

impl Counts {
    pub(crate) fn new(counted: u64, reserve: u64, touched: u64) -> Self {
        let [counted, reserve, touched] = [counted, reserve, touched].map(Word::new);
        Self { counted, reserve, touched }
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

    /// Returns whether the caller, and no other thread, must reserve the next slice: the count has reached the step.
    /// The next time is `again` items later, in case the memory cannot be had.
    pub(crate) fn claim_reserve(&self, counted: u64, again: u64) -> bool {
        // ORDERING: Relaxed: see above.
        self.reserve
            .try_update(Ordering::Relaxed, |step| (counted >= step).then_some(counted + again))
            .is_ok()
    }

    /// Returns the number of a portion that the caller, and no other thread, must touch; `None` if all of them have
    /// been claimed.
    pub(crate) fn claim_portion(&self, portions: u64) -> Option<u64> {
        // ORDERING: Relaxed: see above.
        self.touched
            .try_update(Ordering::Relaxed, |next| (next < portions).then_some(next + 1))
            .ok()
    }
}

/// The locks of the keys, by which one insert of an item at a time looks for it and writes it.
#[derive(Debug)]
pub(crate) struct KeyLocks(Stripes);

/// The number of locks: 32 KiB. A thread holds one for tens of nanoseconds, so that even 16 threads which do nothing
/// else seldom want the same one.
const LOCKS: u64 = if cfg!(tamis_loom) { 1 } else { 512 };

impl KeyLocks {
    pub(crate) fn new() -> Result<Self, AllocError> {
        Stripes::zeroed(LOCKS).map(Self)
    }

    /// Locks the stripe of an item by its [sample](super::plan::sample).
    #[inline]
    pub(crate) fn lock(&self, sample: u64) -> StripeGuard<'_> {
        // The low bits of a sample mix too few bits of the hash.
        let index = self.0.index(sample >> 32);
        // ORDERING: Acquire and Release: see above.
        self.0.lock(index, Ordering::Acquire, Ordering::Release)
    }

    /// Requests the line of the lock ahead of [`lock`](Self::lock).
    #[inline]
    pub(crate) fn prefetch(&self, sample: u64) {
        self.0.prefetch(self.0.index(sample >> 32));
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
