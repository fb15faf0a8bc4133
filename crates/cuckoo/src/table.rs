//! The buckets that all threads share: the one file of this crate that names a memory ordering.
//!
//! [`protocol`](crate::protocol) states the rules and proves the claims; this is their summary:
//!
//! * Any thread adds a copy to an empty slot at any time, by one compare-exchange.
//! * Only the holder of a class's stripe clears a copy of the class, by a method of [`StripeGuard`]. It advances the
//!   version of the stripe before, unless a removal found no copy in the other bucket.
//! * A relocation adds in the other bucket before it clears, so a copy in relocation is in both buckets.
//! * A reader takes no lock. It loads the version, both buckets, and the version again. A hit is always valid, a miss
//!   only if the version is unchanged: a reader that sees a cleared slot also sees the new version, and a reader that
//!   started from the new version sees the copy that was added before.
//! * Under the lock of its stripe, one read of both buckets of a class is exact.
//!
//! Each `ORDERING:` comment names the step of the proof that needs it.

use tamis_sync::{AllocError, LINE_WORDS, Lines, Ordering, SimdLevel, Word};

use crate::batch::Classes;
use crate::bucket::Shape;
use crate::geometry::Geometry;
use crate::place::Class;

#[cfg(all(test, tamis_loom))]
#[path = "models/mod.rs"]
mod models;
#[cfg(all(test, tamis_shuttle))]
#[path = "schedules.rs"]
mod schedules;

/// The lock, in the first word of a stripe's line.
const LOCK: u64 = 1;

/// How often a reader looks, and finds that something was moved meanwhile, before it takes the stripe. A look
/// is two loads and a stripe one of up to a thousand, so hardly any meets a move, and next to none eight in
/// a row. (In the models, where few moves are made, once: what follows is to be explored, too.)
const MAX_ATTEMPTS: u32 = if cfg!(tamis_loom) { 1 } else { 8 };

/// Buckets, and the stripes that guard moves between them.
#[derive(Debug)]
pub(crate) struct Table {
    words: Lines,
    /// One line a stripe.
    locks: Lines,
    /// One line a stripe.
    versions: Lines,
    geometry: Geometry,
    simd: SimdLevel,
}

impl Table {
    pub(crate) fn zeroed(geometry: Geometry) -> Result<Self, AllocError> {
        Self::with_stripes(geometry, geometry.stripes())
    }

    /// With so many stripes, a power of two.
    pub(crate) fn with_stripes(geometry: Geometry, stripes: u64) -> Result<Self, AllocError> {
        Ok(Self {
            words: Lines::zeroed(geometry.lines())?,
            locks: Lines::zeroed(stripes)?,
            versions: Lines::zeroed(stripes)?,
            geometry,
            simd: SimdLevel::detect(),
        })
    }

    #[inline]
    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// The vectors of this processor.
    #[inline]
    pub(crate) fn simd(&self) -> SimdLevel {
        self.simd
    }

    /// The buckets, cut as they are.
    #[inline]
    pub(crate) fn buckets(&self) -> Buckets<'_> {
        self.buckets_of(self.geometry.shape())
    }

    /// The buckets, cut as the caller knows that they are: with a constant, all that is derived from it is
    /// computed by the compiler.
    #[inline(always)]
    pub(crate) fn buckets_of(&self, shape: Shape) -> Buckets<'_> {
        debug_assert_eq!(shape, self.geometry.shape());
        Buckets { table: self, shape }
    }

    #[inline]
    fn stripe(&self, class: Class) -> usize {
        // A power of two of them.
        class.key() as usize & (self.locks.len() - 1)
    }

    /// The move count of the classes with this key.
    #[inline(always)]
    fn version(&self, key: u64) -> &Word {
        // As many as locks; by the length of the very array, which spares the check of a bound.
        &self.versions[key as usize & (self.versions.len() - 1)].words[0]
    }

    #[inline]
    fn lock(&self, stripe: usize) {
        // ORDERING: Acquire pairs with the Release of `unlock`: holders of a stripe are totally ordered.
        let _ = self.locks[stripe].words[0].lock(LOCK, Ordering::Acquire);
    }

    #[inline]
    fn unlock(&self, stripe: usize) {
        // ORDERING: Release pairs with the Acquire of `lock`.
        self.locks[stripe].words[0].unlock(0, Ordering::Release);
    }

    /// Holds all stripes, in order: nothing is taken from any bucket. Copies are still added.
    fn lock_all_stripes(&self) -> AllStripesGuard<'_> {
        (0..self.locks.len()).for_each(|stripe| self.lock(stripe));
        AllStripesGuard { table: self }
    }

    /// A copy of all buckets, and the fingerprints in it: each copy whose insert happened before and
    /// whose remove did not begin is in it exactly once, wherever it is being moved meanwhile.
    pub(crate) fn copy(&self) -> Result<(Self, u64), AllocError> {
        let geometry = self.geometry;
        // Allocated first: an allocator is another's code, and may take its time.
        let mut copy = Self::with_stripes(geometry, self.locks.len() as u64)?;
        {
            let _guard = self.lock_all_stripes();
            for (to, from) in copy.words.iter_mut().zip(&*self.words) {
                for (to, from) in to.words.iter_mut().zip(&from.words) {
                    // ORDERING: Relaxed: with all stripes held, coherence shows all that happened before.
                    let bits = from.load(Ordering::Relaxed);
                    to.update(|to| *to = bits);
                }
            }
        }
        let len = copy.len();
        Ok((copy, len))
    }

    /// Whether a copy of the class is in, which something was moved beside when it was first looked for.
    #[cold]
    fn contains_contended(&self, fingerprint: u64, bucket: u64) -> bool {
        let class = Class::of(fingerprint, bucket, self.geometry.buckets());
        let result = (1..MAX_ATTEMPTS).find_map(|_| self.buckets().try_contains(class));
        result.unwrap_or_else(|| self.buckets().lock_stripe(class).contains())
    }

    /// BatchRead again for what was not found, since something was moved beside.
    #[cold]
    fn retry_misses<const ITEMS: usize>(
        &self,
        classes: &Classes<ITEMS>,
        found: &mut [bool; ITEMS],
    ) {
        for (item, found) in found.iter_mut().enumerate() {
            *found = *found || self.buckets().contains(classes.class(item));
        }
    }

    /// Fingerprints in all buckets. Beside movers, one on its way may be counted twice or not at all.
    pub(crate) fn len(&self) -> u64 {
        let buckets = self.buckets();
        let len = |bucket| u64::from(buckets.shape.len(buckets.read(bucket)));
        (0..self.geometry.buckets()).map(len).sum()
    }

    pub(crate) fn clear(&mut self) {
        for word in self.words.iter_mut().flat_map(|line| &mut line.words) {
            word.update(|bits| *bits = 0);
        }
    }
}

/// What was seen in the buckets of many classes.
#[derive(Debug)]
pub(crate) struct BatchRead<const ITEMS: usize> {
    /// The words that the buckets are in.
    words: [[u64; ITEMS]; 2],
    /// Whether something was moved meanwhile in the stripe of any of them.
    moved: bool,
}

impl<const ITEMS: usize> BatchRead<ITEMS> {
    pub(crate) const NONE: Self = Self { words: [[0; ITEMS]; 2], moved: false };
}

/// The buckets of a table, and how they are cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buckets<'t> {
    table: &'t Table,
    shape: Shape,
}

impl<'t> Buckets<'t> {
    #[inline]
    pub(crate) fn table(self) -> &'t Table {
        self.table
    }

    pub(crate) fn geometry(self) -> Geometry {
        self.table.geometry
    }

    /// The class of a hash.
    #[inline(always)]
    pub(crate) fn class(self, hash: u64) -> Class {
        Class::of_hash(hash, self.table.geometry.buckets(), self.shape.width())
    }

    /// The word of a bucket, and how far the bucket lies from its bottom.
    #[inline(always)]
    fn word(self, bucket: u64) -> (&'t Word, u32) {
        (self.table.words.word(self.shape.word(bucket)), self.shape.offset(bucket))
    }

    /// A bucket, as it is or was a moment ago.
    #[inline(always)]
    pub(crate) fn read(self, bucket: u64) -> u64 {
        let (word, at) = self.word(bucket);
        // ORDERING: Acquire pairs with the Release of `StripeGuard::clear_slot`: who sees that a copy is gone sees the
        // copy that replaces it, and the advance if there was one. See "A miss is a miss".
        self.shape.cut(word.load(Ordering::Acquire), at)
    }

    /// A bucket, for who goes on to add to it or take from it, or looks for a way through it: whatever is
    /// seen is checked again by the update. Under the stripe of a class, exact for that class.
    #[inline(always)]
    pub(crate) fn peek(self, bucket: u64) -> u64 {
        let (word, at) = self.word(bucket);
        self.shape.cut(word.peek(), at)
    }

    /// Asks for the memory of a class ahead of the access to it.
    #[inline(always)]
    pub(crate) fn prefetch(self, class: Class) {
        class.buckets.iter().for_each(|&bucket| self.prefetch_bucket(bucket));
    }

    #[inline(always)]
    fn prefetch_bucket(self, bucket: u64) {
        self.table.words.prefetch_word(self.shape.word(bucket));
    }

    /// The same ahead of an insert or a removal, which writes to the first bucket, if not to the second.
    #[inline(always)]
    pub(crate) fn prefetch_to_write(self, class: Class) {
        let [one, other] = class.buckets;
        self.table.words[self.shape.word(one) / LINE_WORDS].prefetch_to_write();
        self.prefetch_bucket(other);
    }

    /// One look into both buckets.
    #[inline(always)]
    fn contains_unvalidated(self, class: Class) -> bool {
        // Written out, as in `add`.
        let [one, other] = class.buckets;
        let (one, other) = (self.read(one), self.read(other));
        // Both, without a branch in between: which of them has it cannot be guessed.
        self.shape.contains(one, class.fingerprint) | self.shape.contains(other, class.fingerprint)
    }

    /// One look, if it can be believed: a hit always, a miss if nothing moved meanwhile.
    #[inline(always)]
    fn try_contains(self, class: Class) -> Option<bool> {
        let version = self.table.version(class.key());
        // ORDERING: Acquire pairs with the Release of the advance whose number it reads: what the mover
        // had added before is seen by the looks that follow.
        let before = version.load(Ordering::Acquire);
        let found = self.contains_unvalidated(class);
        // ORDERING: Relaxed: the Acquire loads of the look keep it behind them.
        let moved = version.load(Ordering::Relaxed) != before;
        // One branch, which is hardly ever taken: whether an item is in cannot be guessed. MEASURED: with
        // one on the answer, queries of which half hit take 23 ns instead of 12.
        if moved & !found { None } else { Some(found) }
    }

    /// Whether a copy of the class is in.
    #[inline(always)]
    pub(crate) fn contains(self, class: Class) -> bool {
        match self.try_contains(class) {
            Some(found) => found,
            // In numbers, not in structures, which would be spilled to the stack on the way here.
            None => self.table.contains_contended(class.fingerprint, class.buckets[0]),
        }
    }

    /// One look into both buckets of each class; what it found, [`contains_batch`](Self::contains_batch) tells.
    #[inline(always)]
    pub(crate) fn read_batch<const ITEMS: usize>(
        self,
        classes: &Classes<ITEMS>,
        read: &mut BatchRead<ITEMS>,
    ) {
        let table = self.table;
        let mut before = 0_u64;
        for key in classes.keys {
            // ORDERING: Acquire, as in `try_contains`.
            before = before.wrapping_add(table.version(key).load(Ordering::Acquire));
        }
        for (words, buckets) in read.words.iter_mut().zip(&classes.buckets) {
            for (to, &bucket) in words.iter_mut().zip(buckets) {
                // ORDERING: Acquire, as in `read`.
                *to = self.word(bucket).0.load(Ordering::Acquire);
            }
        }
        let mut after = 0_u64;
        for key in classes.keys {
            // ORDERING: Relaxed: the Acquire loads of all looks keep it behind them.
            after = after.wrapping_add(table.version(key).load(Ordering::Relaxed));
        }
        // Sums are enough: no count falls, so they are the same if and only if each count is.
        read.moved = after != before;
    }

    /// Whether a copy of each class is in, of which these are the looks. Misses are believed if nothing moved in
    /// the stripe of any.
    #[inline(always)]
    pub(crate) fn contains_batch<const ITEMS: usize>(
        self,
        classes: &Classes<ITEMS>,
        read: &BatchRead<ITEMS>,
    ) -> [bool; ITEMS] {
        let mut found = classes.are_in(&read.words, self.shape, self.table.simd);
        if read.moved {
            self.table.retry_misses(classes, &mut found);
        }
        found
    }

    /// Adds a copy to an empty slot of the bucket; whether there was one.
    #[inline(always)]
    fn add_to(self, bucket: u64, fingerprint: u64) -> bool {
        let (word, at) = self.word(bucket);
        // ORDERING: Relaxed: an RMW disturbs nobody, and what comes to rely on the copy is ordered after
        // it by its caller, or by the advance of a mover.
        let added = word.try_update(Ordering::Relaxed, |bits| {
            let slot = self.shape.find_empty(self.shape.cut(bits, at))?;
            Some(bits | fingerprint << (at + slot))
        });
        added.is_ok()
    }

    /// Adds a copy to the first of the two buckets that has an empty slot; whether one had.
    #[inline(always)]
    pub(crate) fn add(self, class: Class) -> bool {
        // Written out: `any` over the two is not inlined. MEASURED: an insert takes 139 instructions by it, not 87.
        let [one, other] = class.buckets;
        self.add_to(one, class.fingerprint) || self.add_to(other, class.fingerprint)
    }

    /// Waits for the stripe of the class and holds it: nobody else takes copies of the class from their
    /// buckets, for good or to move them, until it is dropped.
    #[inline(always)]
    pub(crate) fn lock_stripe(self, class: Class) -> StripeGuard<'t> {
        let stripe = self.table.stripe(class);
        self.table.lock(stripe);
        StripeGuard { buckets: self, stripe, class }
    }
}

/// A stripe, held for one class of those that belong to it.
#[derive(Debug)]
pub(crate) struct StripeGuard<'t> {
    buckets: Buckets<'t>,
    stripe: usize,
    class: Class,
}

impl StripeGuard<'_> {
    /// Copies of the class.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        let count =
            |bucket| self.buckets.shape.count(self.buckets.peek(bucket), self.class.fingerprint);
        self.class.buckets.map(count).iter().sum()
    }

    /// Whether there is a copy of the class.
    #[inline(always)]
    pub(crate) fn contains(&self) -> bool {
        let [one, other] = self.class.buckets;
        self.contains_in(one) | self.contains_in(other)
    }

    #[inline(always)]
    fn contains_in(&self, bucket: u64) -> bool {
        self.buckets.shape.contains(self.buckets.peek(bucket), self.class.fingerprint)
    }

    /// Takes a copy out of this bucket, which has one. What is to replace it has been added before.
    #[inline(always)]
    fn clear_slot(&self, bucket: u64) {
        let Self { buckets, class, .. } = *self;
        let (word, at) = buckets.word(bucket);
        // ORDERING: Release pairs with the Acquire of `read`: who misses the copy sees what came before.
        let taken = word.try_update(Ordering::Release, |bits| {
            let slot =
                buckets.shape.find_fingerprint(buckets.shape.cut(bits, at), class.fingerprint)?;
            Some(bits & !(buckets.shape.mask() << (at + slot)))
        });
        debug_assert!(taken.is_ok(), "a copy vanished under its stripe");
    }

    /// Removes one copy; whether there was one.
    ///
    /// Readers are told only if there is one in each bucket: the one that goes may have been there before
    /// they looked, and the one that stays have come after.
    #[inline(always)]
    pub(crate) fn remove(&self) -> bool {
        let [one, other] = self.class.buckets;
        let [in_one, in_other] = [self.contains_in(one), self.contains_in(other)];
        if in_one & in_other {
            self.advance_version();
        }
        // A choice of addresses, not a branch: where it lies cannot be guessed.
        let found = in_one | in_other;
        if found {
            self.clear_slot(if in_one { one } else { other });
        }
        found
    }

    /// Moves a copy from the first bucket to the second; whether there was one, and room for it.
    ///
    /// It is added before it is taken: a reader may see it twice, never not at all.
    #[inline]
    pub(crate) fn relocate(&self) -> bool {
        let Class { fingerprint, buckets: [from, to] } = self.class;
        let copied = self.contains_in(from) && self.buckets.add_to(to, fingerprint);
        if copied {
            self.advance_version();
            self.clear_slot(from);
        }
        copied
    }

    /// Tells readers that a copy is about to be taken whose place another one, added before, has in the other
    /// bucket.
    #[inline(always)]
    fn advance_version(&self) {
        // ORDERING: Release: who reads this number sees what was added before. Before the copy goes, so
        // that who misses the copy sees the number.
        self.buckets.table.versions[self.stripe].words[0].advance(Ordering::Release);
    }
}

impl Drop for StripeGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.buckets.table.unlock(self.stripe);
    }
}

/// All stripes, held.
struct AllStripesGuard<'t> {
    table: &'t Table,
}

impl Drop for AllStripesGuard<'_> {
    fn drop(&mut self) {
        (0..self.table.locks.len()).for_each(|stripe| self.table.unlock(stripe));
    }
}
