//! Queries without a lock, one at a time and in batches.

use tamis_sync::Ordering;

use super::Table;
use super::buckets::Buckets;
use crate::batch::{Classes, Words};
use crate::place::Class;
use crate::unpaired;

/// The number of times that a reader reads both buckets without a lock, before it locks the stripe.
///
/// A read is two loads, and there are up to a thousand stripes, so few reads meet a changed
/// version, and almost none meet eight in a row. The models use one attempt: they make few
/// relocations, and must explore the locked read too.
const MAX_ATTEMPTS: u32 = if cfg!(tamis_loom) { 1 } else { 8 };

/// The result of one read of the buckets of a batch of classes.
#[derive(Debug)]
pub(crate) struct BatchRead<const ITEMS: usize> {
    pub(super) words: Words<ITEMS>,
    /// Whether the version of a stripe changed during the read.
    pub(super) changed: bool,
}

impl<const ITEMS: usize> BatchRead<ITEMS> {
    /// A value to be overwritten by the first read.
    pub(crate) const NONE: Self = Self { words: Words::EMPTY, changed: false };
}

impl Buckets<'_> {
    /// Returns whether a bucket holds the fingerprint, in one read of both. A miss is not
    /// validated.
    #[inline(always)]
    pub(super) fn contains_unvalidated(self, class: Class) -> bool {
        // No iterator over the two buckets: see `add`.
        let [one, other] = class.buckets;
        let (one, other) = (self.read(one), self.read(other));
        // No branch between the two comparisons: the processor cannot predict which bucket holds
        // the copy.
        self.shape.contains(one, class.fingerprint) | self.shape.contains(other, class.fingerprint)
    }

    /// Returns whether the table contains a copy of the class, or `None` if a miss is not valid,
    /// because the version changed during the read. A hit is always valid.
    #[inline(always)]
    pub(super) fn try_contains(self, class: Class) -> Option<bool> {
        let version = self.table.version(class.key());
        // Load the version first.
        // ORDERING: Acquire pairs with the Release of `advance_version`: the reads that follow see
        // what was added before the advance (proof: step 2.2).
        let before = version.load(Ordering::Acquire);
        // Read both buckets, with Acquire loads.
        let found = self.contains_unvalidated(class);
        // Load the version again.
        // ORDERING: Relaxed: the Acquire loads of the buckets keep it behind them (proof: step
        // 2.1).
        let changed = version.load(Ordering::Relaxed) != before;
        // One branch, which is almost never taken. The processor cannot predict whether an item is
        // present. MEASURED: with a branch on the answer, queries of which half hit take 23 ns
        // instead of 12 (Sapphire Rapids).
        if changed & !found { None } else { Some(found) }
    }

    /// Returns whether any table contains a copy of the class.
    #[inline(always)]
    pub(crate) fn contains_in_any(self, class: Class) -> bool {
        if self.is_unpaired() {
            // Pass numbers, as in `contains`.
            return self.table.contains_unpaired(class.fingerprint, class.buckets[0]);
        }
        self.contains(class)
    }

    /// Returns whether the table contains a copy of the class. The table must not be unpaired.
    #[inline(always)]
    pub(crate) fn contains(self, class: Class) -> bool {
        match self.try_contains(class) {
            Some(found) => found,
            // Pass numbers, not structures: the compiler would spill those to the stack before the
            // call.
            None => self.table.contains_contended(class.fingerprint, class.buckets[0]),
        }
    }

    /// Reads both buckets of each class, for [`contains_batch`](Self::contains_batch).
    #[inline(always)]
    pub(crate) fn read_batch<const ITEMS: usize>(
        self,
        classes: &Classes<ITEMS>,
        read: &mut BatchRead<ITEMS>,
    ) {
        let table = self.table;
        if self.is_unpaired() {
            // No copy is ever cleared, so no version changes.
            read.changed = false;
            return unpaired::read_batch(&table.words, classes, &mut read.words);
        }
        // Load the versions of all items, before any bucket.
        let mut before = 0_u64;
        for key in classes.keys {
            // ORDERING: Acquire, as in `try_contains`.
            before = before.wrapping_add(table.version(key).load(Ordering::Acquire));
        }
        // Load the words of all first buckets, then of all second buckets.
        for (which, buckets) in classes.buckets.iter().enumerate() {
            let (first, second) = (&mut read.words.first[which], &mut read.words.second[which]);
            if self.shape.is_pair() {
                for (item, &bucket) in buckets.iter().enumerate() {
                    // ORDERING: Acquire, as in `read`.
                    let bits = table.pair(bucket).load(Ordering::Acquire);
                    (first[item], second[item]) = (bits as u64, (bits >> 64) as u64);
                }
            } else {
                for (item, &bucket) in buckets.iter().enumerate() {
                    // ORDERING: Acquire, as in `read`.
                    first[item] = self.word(bucket).0.load(Ordering::Acquire);
                }
            }
        }
        // Load all versions again.
        let mut after = 0_u64;
        for key in classes.keys {
            // ORDERING: Relaxed: the Acquire loads of the buckets keep it behind them, as in
            // `try_contains`.
            after = after.wrapping_add(table.version(key).load(Ordering::Relaxed));
        }
        // No version decreases, so the sums are equal if and only if every version is unchanged.
        read.changed = after != before;
    }

    /// Returns for each class whether the table contains a copy, from the words that
    /// [`read_batch`](Self::read_batch) has read.
    #[inline(always)]
    pub(crate) fn contains_batch<const ITEMS: usize>(
        self,
        classes: &Classes<ITEMS>,
        read: &BatchRead<ITEMS>,
    ) -> [bool; ITEMS] {
        // Compare all fingerprints with the slots, in vectors.
        let mut found = classes.find_in(&read.words, self.shape, self.table.simd);
        // A version changed: hits are valid, misses are not.
        if read.changed {
            classes.retry_misses(&mut found, |class| self.table.buckets().contains(class));
        }
        found
    }
}

impl Table {
    /// Returns whether an unpaired table contains a copy of the class.
    #[cold]
    fn contains_unpaired(&self, fingerprint: u64, bucket: u64) -> bool {
        let (shape, class) = (self.geometry.shape(), self.geometry.class(fingerprint, bucket));
        let [one, other] = class.buckets.map(|bucket| unpaired::read(&self.words, bucket));
        // Nothing writes, so one read is exact.
        shape.contains(one, fingerprint) | shape.contains(other, fingerprint)
    }

    /// Returns whether the table contains a copy of the class, after a first attempt whose miss was
    /// not valid.
    #[cold]
    pub(super) fn contains_contended(&self, fingerprint: u64, bucket: u64) -> bool {
        let class = self.geometry.class(fingerprint, bucket);
        // Try again without the lock, until a result is valid.
        let result = (1..MAX_ATTEMPTS).find_map(|_| self.buckets().try_contains(class));
        // Every attempt failed: read under the lock, where one read is exact (proof: claim 2).
        result.unwrap_or_else(|| self.buckets().lock_stripe(class).contains())
    }
}
