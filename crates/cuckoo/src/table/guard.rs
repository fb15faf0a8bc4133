//! Locked stripes, and what only the holder of a stripe does: exact reads, clears, relocations.

use tamis_sync::Ordering;

use super::Table;
use super::buckets::Buckets;
use crate::place::Class;

/// The lock bit, in the first word of a stripe's cache line.
pub(super) const LOCK: u64 = 1;

impl Table {
    /// Returns the number of the class's stripe.
    #[inline]
    pub(super) fn stripe(&self, class: Class) -> usize {
        // The number of stripes is a power of two.
        class.key() as usize & (self.locks.len() - 1)
    }

    #[inline]
    pub(super) fn lock(&self, stripe: usize) {
        // ORDERING: Acquire pairs with the Release of `unlock`: the holders of a stripe are totally
        // ordered (proof: (a), step 3.1, claim 2).
        let _ = self.locks[stripe].words[0].lock(LOCK, Ordering::Acquire);
    }

    #[inline]
    pub(super) fn unlock(&self, stripe: usize) {
        // ORDERING: Release pairs with the Acquire of `lock` (proof: (a), step 3.1, claim 2).
        self.locks[stripe].words[0].unlock(0, Ordering::Release);
    }

    /// Locks all stripes, in ascending order. Until the guard is dropped, no copy is cleared.
    /// Copies may still be added.
    pub(super) fn lock_all_stripes(&self) -> AllStripesGuard<'_> {
        (0..self.locks.len()).for_each(|stripe| self.lock(stripe));
        AllStripesGuard { table: self }
    }
}

impl<'t> Buckets<'t> {
    /// Locks the stripe of the class, and waits for it if necessary. Until the guard is dropped, no
    /// other thread clears a copy of the class.
    #[inline(always)]
    pub(crate) fn lock_stripe(self, class: Class) -> StripeGuard<'t> {
        let stripe = self.table.stripe(class);
        self.table.lock(stripe);
        StripeGuard { buckets: self, stripe, class }
    }
}

/// A locked stripe, for one of the classes that belong to it.
#[derive(Debug)]
pub(crate) struct StripeGuard<'t> {
    pub(super) buckets: Buckets<'t>,
    stripe: usize,
    pub(super) class: Class,
}

impl StripeGuard<'_> {
    /// Counts the copies of the class.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        let count =
            |bucket| self.buckets.shape.count(self.buckets.peek(bucket), self.class.fingerprint);
        self.class.buckets.map(count).iter().sum()
    }

    /// Returns whether there is a copy of the class.
    #[inline(always)]
    pub(crate) fn contains(&self) -> bool {
        let [one, other] = self.class.buckets;
        self.contains_in(one) | self.contains_in(other)
    }

    /// Returns whether there is a copy of the class in this bucket.
    #[inline(always)]
    pub(super) fn contains_in(&self, bucket: u64) -> bool {
        self.buckets.shape.contains(self.buckets.peek(bucket), self.class.fingerprint)
    }

    /// Clears a copy of the class in this bucket, which must contain one. If another copy replaces
    /// it, that one must have been added, and the version advanced, before.
    #[inline(always)]
    pub(super) fn clear_slot(&self, bucket: u64) {
        let Self { buckets, class, .. } = *self;
        // ORDERING: Release pairs with the Acquire of `read`: a reader that sees the cleared slot
        // also sees the advance and the add before it (proof: step 2.1).
        let cleared = buckets.replace(bucket, class.fingerprint, 0, Ordering::Release);
        debug_assert!(cleared, "a copy vanished while its stripe was locked");
    }

    /// Removes one copy. Returns `false` if there is none.
    #[inline(always)]
    pub(crate) fn remove(&self) -> bool {
        let [one, other] = self.class.buckets;
        let [in_one, in_other] = [self.contains_in(one), self.contains_in(other)];
        // Advance the version only if each bucket has a copy: the copy that stays may have been
        // added after a reader read its bucket, and the other may be cleared before the reader
        // reads there (proof: step 3).
        if in_one & in_other {
            self.advance_version();
        }
        let found = in_one | in_other;
        if found {
            // Select an address instead of branching: the processor cannot predict which bucket
            // holds the copy.
            self.clear_slot(if in_one { one } else { other });
        }
        found
    }

    /// Relocates a copy from the first bucket of the class to the second. Returns `false` if the
    /// first bucket has no copy, or the second no empty slot.
    #[inline]
    pub(crate) fn relocate(&self) -> bool {
        let Class { fingerprint, buckets: [from, to] } = self.class;
        // Add before clearing, so that the copy is always in at least one bucket. A reader that
        // reads one bucket before the add and the other after the clear sees no copy, but then the
        // version has changed.
        let copied = self.contains_in(from) && self.buckets.add_to(to, fingerprint);
        if copied {
            self.advance_version();
            self.clear_slot(from);
        }
        copied
    }

    /// Advances the version, before a copy is cleared whose replacement has been added to the other
    /// bucket.
    #[inline(always)]
    pub(super) fn advance_version(&self) {
        // ORDERING: Release: a reader that loads this version also sees the copy that was added
        // before (proof: step 2.2). The clear follows the advance, so a reader that sees the
        // cleared slot also sees this version (step 2.1).
        self.buckets.table.versions[self.stripe].words[0].advance(Ordering::Release);
    }
}

impl Drop for StripeGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.buckets.table.unlock(self.stripe);
    }
}

/// All stripes, locked.
pub(super) struct AllStripesGuard<'t> {
    table: &'t Table,
}

impl Drop for AllStripesGuard<'_> {
    fn drop(&mut self) {
        (0..self.table.locks.len()).for_each(|stripe| self.table.unlock(stripe));
    }
}
