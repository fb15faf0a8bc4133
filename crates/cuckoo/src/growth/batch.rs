//! Queries of a batch of items in a table that grows.
//!
//! MEASURED: a query in a batch takes 14 ns instead of 33 one by one (10 million items, 17 MB, on
//! an Intel Xeon, machine not recorded). With the places computed item by item, and the items
//! queried one by one after the prefetches, a batch of 1.3 million took 24 ns per item instead of
//! 13.

use tamis_sync::{BATCH, Kernel, Ordering};

use crate::batch::{Classes, Words, find_held};
use crate::growth::plan::with_known_shapes;
use crate::growth::pointer::Pointer;
use crate::growth::table::Table;

/// The classes of a batch of items, and where their buckets were when a pointer was loaded.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) classes: Classes,
    pointer: Pointer,
    /// The place of each item's buckets, by bucket and item, as all that follow.
    places: [[u64; BATCH]; 2],
    /// What a slot of the bucket would hold.
    held: [[u64; BATCH]; 2],
    /// 1 if the bucket is split at the pointer's level, otherwise 0.
    ahead: [[u64; BATCH]; 2],
}

impl Located {
    /// A value to be overwritten.
    pub(crate) const EMPTY: Self = Self {
        classes: Classes::EMPTY,
        pointer: Pointer { level: 0, next: 0 },
        places: [[0; BATCH]; 2],
        held: [[0; BATCH]; 2],
        ahead: [[0; BATCH]; 2],
    };
}

/// The loop that computes where buckets are, from the classes and the pointer of a batch.
struct Locate<'a> {
    batch: &'a mut Located,
    buckets: u64,
}

impl Kernel for Locate<'_> {
    type Output = ();

    // The loop indexes several arrays, a constant number of times, without a branch: so the
    // compiler vectorizes it.
    #[inline(always)]
    fn run(self) {
        let Self { batch, buckets } = self;
        let Pointer { level, next } = batch.pointer;
        let mask = (1_u64 << level) - 1;
        for which in 0..2 {
            for item in 0..BATCH {
                let whole = batch.classes.fingerprints[item];
                let position = batch.classes.buckets[which][item];
                // As `Pointer::level_of` and `low`.
                let ahead = u64::from((position << level | whole & mask) < next);
                let low = whole & (mask | ahead << level);
                // As `place`: the highest bit of `low`, from all bits below it.
                let mut below = low >> 1;
                for shift in [1, 2, 4, 8, 16, 32] {
                    below |= below >> shift;
                }
                let top = low & !below;
                let first = if low == 0 { position } else { 0 };
                batch.places[which][item] = first + low + top.wrapping_mul(buckets + position - 1);
                batch.held[which][item] = whole >> level >> ahead;
                batch.ahead[which][item] = ahead;
            }
        }
    }
}

/// The loop that checks that each bucket of a batch was at rest, at the level that the pointer
/// shows.
struct Tags<'a> {
    batch: &'a Located,
    words: &'a Words,
    paired: bool,
}

impl Kernel for Tags<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { batch, words, paired } = self;
        // The tag is in the highest bits. It is 1 at an even level and 2 at an odd one.
        let upper = if paired { &words.second } else { &words.first };
        let even = u64::from(batch.pointer.level.is_multiple_of(2));
        let mut others = 0;
        for (words, ahead) in upper.iter().zip(&batch.ahead) {
            for (&word, &ahead) in words.iter().zip(ahead) {
                let expected = 2 - (even ^ ahead);
                others |= word >> 62 ^ expected;
            }
        }
        others == 0
    }
}

/// What one read of the buckets of a batch of items returned.
#[derive(Debug)]
pub(crate) struct BatchRead {
    words: Words,
    /// Whether the version of a stripe changed during the read: misses are not valid.
    is_disturbed: bool,
    /// Whether the level of the pointer stayed. Otherwise nothing is valid.
    is_valid: bool,
}

impl BatchRead {
    /// A value to be overwritten by the first read.
    pub(crate) const NONE: Self =
        Self { words: Words::EMPTY, is_disturbed: false, is_valid: false };
}

impl Table {
    /// Computes the classes of these hashes, and where their buckets are now.
    #[inline]
    pub(crate) fn locate(&self, hashes: &[u64; BATCH], batch: &mut Located) {
        batch.classes.spread_grown(hashes, self.plan, self.simd);
        batch.pointer = self.pointer();
        self.simd.run(Locate { batch, buckets: self.plan.buckets });
    }

    /// Prefetches the buckets of a batch of items.
    #[inline]
    pub(crate) fn prefetch_batch(&self, batch: &Located) {
        self.words.prefetch_all(&batch.places);
    }

    /// Reads both buckets of each item.
    #[inline]
    pub(crate) fn read_batch(&self, batch: &Located, read: &mut BatchRead) {
        // 1. Load the versions of all items. The pointer was loaded before: it says where to look
        //    first, and a tag says when it is out of date.
        let versions = || batch.classes.keys.iter().map(|&key| self.version_of(key));
        // ORDERING: Acquire, as in `try_contains`.
        let before = versions().map(|version| version.load(Ordering::Acquire));
        let before = before.fold(0, u64::wrapping_add);
        // 2. Load all first buckets, then all second buckets.
        // ORDERING: Acquire, as in `read_known`.
        self.words.load_all(&batch.places, &mut read.words, Ordering::Acquire);
        // 3. Load the pointer and all versions again.
        // ORDERING: Relaxed, both: the Acquire loads of the buckets keep them behind.
        let now = Pointer::of(self.pointer.load(Ordering::Relaxed));
        let after = versions().map(|version| version.load(Ordering::Relaxed));
        // No version decreases, so the sums are equal if and only if every version is unchanged.
        read.is_disturbed = after.fold(0, u64::wrapping_add) != before;
        read.is_valid = now.level == batch.pointer.level;
    }

    /// Returns for each item whether the table contains a copy of its class, from what
    /// [`read_batch`](Self::read_batch) has read.
    #[inline]
    pub(crate) fn contains_batch(&self, batch: &Located, read: &BatchRead) -> [bool; BATCH] {
        let mut found = [false; BATCH];
        let tags = Tags { batch, words: &read.words, paired: self.plan.paired };
        let is_valid = read.is_valid & self.simd.run(tags);
        if is_valid {
            let [one, other] = self.find_in(batch, read);
            for (item, found) in found.iter_mut().enumerate() {
                *found = one[item] | other[item];
            }
        }
        if read.is_disturbed | !is_valid {
            self.retry_misses(&batch.classes, &mut found);
        }
        found
    }

    /// Returns for each bucket and each item whether a slot holds the item.
    #[inline(always)]
    fn find_in(&self, batch: &Located, read: &BatchRead) -> [[bool; BATCH]; 2] {
        let level = batch.pointer.level;
        let code = self.shapes[level as usize];
        let find = |shape| find_held(&batch.held, &read.words, shape, self.simd);
        with_known_shapes!(self.plan.paired, code / 2, code % 2 == 0, lower, upper => {
            let mut found = find(lower);
            if !lower.is(upper) {
                let upper = find(upper);
                for which in 0..2 {
                    for item in 0..BATCH {
                        let is_ahead = batch.ahead[which][item] != 0;
                        found[which][item] =
                            is_ahead & upper[which][item] | !is_ahead & found[which][item];
                    }
                }
            }
            found
        })
    }

    /// Repeats the query of each item that was not found, one item at a time.
    #[cold]
    fn retry_misses(&self, classes: &Classes, found: &mut [bool; BATCH]) {
        for (item, found) in found.iter_mut().enumerate() {
            *found = *found || self.contains(classes.class(item));
        }
    }
}
