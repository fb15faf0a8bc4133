//! The buckets that all threads share, with every memory ordering of their accesses.
//!
//! [`protocol`](crate::protocol) states the rules and proves the claims; this is their summary:
//!
//! * Any thread adds a copy to an empty slot at any time, by one compare-exchange.
//! * Only the holder of a class's stripe clears a copy of the class, by a method of
//!   [`StripeGuard`]. It advances the version of the stripe before, unless a removal found no copy
//!   in the other bucket.
//! * A relocation adds in the other bucket before it clears, so a copy in relocation is in both
//!   buckets.
//! * A reader takes no lock. It loads the version, both buckets, and the version again. A hit is
//!   always valid, a miss only if the version is unchanged: a reader that sees a cleared slot also
//!   sees the version that was advanced for it, and a reader that started from this version sees
//!   the copy that was added before.
//! * Under the lock of its stripe, one read of both buckets of a class is exact.
//!
//! Each `ORDERING:` comment names the step of the proof that needs it.

use alloc::boxed::Box;

use tamis_sync::{
    AllocError, LINE_WORDS, Lines, Ordering, Pair, PairAccess, PairLines, SimdLevel, Word,
};

use crate::batch::{Classes, Words};
use crate::bucket::{Shape, with_known_shape};
use crate::geometry::Geometry;
use crate::growth::table as growth;
use crate::line_len::len_of_line;
use crate::place::Class;
use crate::unpaired;

mod copy;
#[cfg(all(test, tamis_loom))]
mod models;
pub(crate) mod pass;
#[cfg(all(test, tamis_shuttle))]
mod schedules;

/// The lock bit, in the first word of a stripe's cache line.
const LOCK: u64 = 1;

/// The number of times that a reader reads both buckets without a lock, before it locks the stripe.
///
/// A read is two loads, and there are up to a thousand stripes, so few reads meet a changed
/// version, and almost none meet eight in a row. The models use one attempt: they make few
/// relocations, and must explore the locked read too.
const MAX_ATTEMPTS: u32 = if cfg!(tamis_loom) { 1 } else { 8 };

/// The buckets, and the stripes that protect relocations and removals.
#[derive(Debug)]
pub(crate) struct Table {
    /// The buckets, if they have at most 64 bits or if the table is unpaired. Otherwise one line,
    /// which is not used.
    words: Lines,
    /// The buckets, if they have 128 bits and the processor has atomics of 128 bits.
    ///
    /// If the buckets have 128 bits and this is `None`, the table is *unpaired*: `words` contains
    /// the buckets, and nothing may write. Only a frozen filter has such a table.
    pairs: Option<PairLines>,
    /// One cache line per stripe.
    locks: Lines,
    /// One cache line per stripe.
    versions: Lines,
    geometry: Geometry,
    simd: SimdLevel,
    /// The buckets, if the filter grows. Then this table is one line, and is not used.
    grown: Option<Box<growth::Table>>,
}

impl Table {
    /// Allocates an empty table with the number of stripes that its geometry gives.
    pub(crate) fn zeroed(geometry: Geometry) -> Result<Self, AllocError> {
        if let Some(plan) = geometry.plan() {
            return Self::of_grown(growth::Table::new(plan)?);
        }
        Self::with_stripes(geometry, geometry.stripes())
    }

    /// Allocates an empty table with the given number of stripes, a power of two.
    pub(crate) fn with_stripes(geometry: Geometry, stripes: u64) -> Result<Self, AllocError> {
        let lines = Lines::zeroed(geometry.lines())?;
        Self::from_lines(geometry, lines, stripes, PairAccess::detect())
    }

    /// Makes a table whose buckets are these lines, of the number that the geometry gives. Buckets
    /// of 128 bits without an access make an unpaired table.
    pub(crate) fn from_lines(
        geometry: Geometry,
        lines: Lines,
        stripes: u64,
        access: Option<PairAccess>,
    ) -> Result<Self, AllocError> {
        debug_assert_eq!(lines.len() as u64, geometry.lines());
        let (words, pairs) = match access.filter(|_| geometry.shape().is_pair()) {
            Some(access) => (Lines::zeroed(1)?, Some(PairLines::new(lines, access))),
            None => (lines, None),
        };
        Ok(Self {
            words,
            pairs,
            locks: Lines::zeroed(stripes)?,
            versions: Lines::zeroed(stripes)?,
            geometry,
            simd: SimdLevel::detect(),
            grown: None,
        })
    }

    /// Makes a table of one that grows.
    pub(crate) fn of_grown(grown: growth::Table) -> Result<Self, AllocError> {
        let geometry = Geometry::growing(grown.plan);
        let [words, locks, versions] = [Lines::zeroed(1)?, Lines::zeroed(1)?, Lines::zeroed(1)?];
        let (simd, grown) = (SimdLevel::detect(), Some(Box::new(grown)));
        Ok(Self { words, pairs: None, locks, versions, geometry, simd, grown })
    }

    /// Returns the table that grows, if the filter does. Then nothing else of this table is used.
    #[inline(always)]
    pub(crate) fn grown(&self) -> Option<&growth::Table> {
        self.grown.as_deref()
    }

    #[inline]
    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Returns the vector instructions of this processor.
    #[inline]
    pub(crate) fn simd(&self) -> SimdLevel {
        self.simd
    }

    /// Returns the buckets, with the shape read from the geometry.
    #[inline]
    pub(crate) fn buckets(&self) -> Buckets<'_> {
        self.buckets_of(self.geometry.shape())
    }

    /// Returns the buckets, with a shape that the caller knows. If it is a constant, the compiler
    /// computes everything that derives from it.
    #[inline(always)]
    pub(crate) fn buckets_of(&self, shape: Shape) -> Buckets<'_> {
        debug_assert_eq!(shape, self.geometry.shape());
        Buckets { table: self, shape }
    }

    /// Returns the number of the class's stripe.
    #[inline]
    fn stripe(&self, class: Class) -> usize {
        // The number of stripes is a power of two.
        class.key() as usize & (self.locks.len() - 1)
    }

    /// Returns the version of the stripe of the classes with this key.
    #[inline(always)]
    fn version(&self, key: u64) -> &Word {
        // The same number as `stripe` gives. It is masked by the length of the indexed array
        // itself, so the compiler omits the bounds check.
        &self.versions[key as usize & (self.versions.len() - 1)].words[0]
    }

    #[inline]
    fn lock(&self, stripe: usize) {
        // ORDERING: Acquire pairs with the Release of `unlock`: the holders of a stripe are totally
        // ordered (proof: (a), step 3.1, claim 2).
        let _ = self.locks[stripe].words[0].lock(LOCK, Ordering::Acquire);
    }

    #[inline]
    fn unlock(&self, stripe: usize) {
        // ORDERING: Release pairs with the Acquire of `lock` (proof: (a), step 3.1, claim 2).
        self.locks[stripe].words[0].unlock(0, Ordering::Release);
    }

    /// Locks all stripes, in ascending order. Until the guard is dropped, no copy is cleared.
    /// Copies may still be added.
    fn lock_all_stripes(&self) -> AllStripesGuard<'_> {
        (0..self.locks.len()).for_each(|stripe| self.lock(stripe));
        AllStripesGuard { table: self }
    }

    /// Returns the sum of all versions, read without the locks.
    fn unlocked_versions(&self) -> u64 {
        // ORDERING: Relaxed: a hint that a pass is torn; the pass decides under the locks (proof:
        // claim 3).
        let versions = self.versions.iter().map(|stripe| stripe.words[0].load(Ordering::Relaxed));
        versions.fold(0, u64::wrapping_add)
    }

    /// Returns the words of a line of buckets. While other threads write, the words may be of
    /// different times.
    #[inline]
    pub(crate) fn line(&self, number: usize) -> [u64; LINE_WORDS] {
        let mut words = [0; LINE_WORDS];
        if let Some(pairs) = &self.pairs {
            // Shared pairs are read as pairs only.
            for (at, two) in words.chunks_exact_mut(2).enumerate() {
                // ORDERING: Relaxed: a snapshot holds all locks, which order all clears, and
                // coherence shows every add that happened before. Other callers order the writes
                // before this call. Nothing else is published.
                let bits = pairs.pair(number * LINE_WORDS / 2 + at).load(Ordering::Relaxed);
                two.copy_from_slice(&[bits as u64, (bits >> 64) as u64]);
            }
        } else {
            for (word, from) in words.iter_mut().zip(&self.words[number].words) {
                // ORDERING: Relaxed, likewise.
                *word = from.load(Ordering::Relaxed);
            }
        }
        words
    }

    /// Returns the buckets of 128 bits. The table must have them, and must not be unpaired.
    #[inline(always)]
    fn pairs(&self) -> &PairLines {
        let Some(pairs) = &self.pairs else { unreachable!("the table shares no pairs of words") };
        pairs
    }

    /// Returns the bucket of 128 bits with this number.
    #[inline(always)]
    fn pair(&self, number: u64) -> Pair<'_> {
        self.pairs().pair(number as usize)
    }

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
    fn contains_contended(&self, fingerprint: u64, bucket: u64) -> bool {
        let class = self.geometry.class(fingerprint, bucket);
        // Try again without the lock, until a result is valid.
        let result = (1..MAX_ATTEMPTS).find_map(|_| self.buckets().try_contains(class));
        // Every attempt failed: read under the lock, where one read is exact (proof: claim 2).
        result.unwrap_or_else(|| self.buckets().lock_stripe(class).contains())
    }

    /// Repeats the query of each item that was not found, one item at a time.
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

    /// Counts the fingerprints in all buckets. While other threads relocate, it may count a
    /// fingerprint in relocation twice or not at all.
    pub(crate) fn len(&self) -> u64 {
        with_known_shape!(self.geometry.shape(), shape => {
            let lines = 0..self.geometry.lines() as usize;
            lines.map(|line| u64::from(len_of_line(shape, &self.line(line)))).sum()
        })
    }

    /// Empties all buckets.
    pub(crate) fn clear(&mut self) {
        if let Some(grown) = &mut self.grown {
            return grown.clear();
        }
        let words = self.pairs.as_mut().map_or(&mut self.words, PairLines::get_mut);
        for word in words.iter_mut().flat_map(|line| &mut line.words) {
            word.update(|bits| *bits = 0);
        }
    }
}

/// The result of one read of the buckets of a batch of classes.
#[derive(Debug)]
pub(crate) struct BatchRead<const ITEMS: usize> {
    words: Words<ITEMS>,
    /// Whether the version of a stripe changed during the read.
    changed: bool,
}

impl<const ITEMS: usize> BatchRead<ITEMS> {
    /// A value to be overwritten by the first read.
    pub(crate) const NONE: Self = Self { words: Words::EMPTY, changed: false };
}

/// The buckets of a table, together with their shape.
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

    /// Returns the shape of the buckets.
    #[inline(always)]
    pub(crate) const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the class of a hash.
    #[inline(always)]
    pub(crate) fn class(self, hash: u64) -> Class {
        Class::of_hash(hash, self.table.geometry.buckets(), self.shape.width())
    }

    /// Returns whether the buckets have 128 bits and there is no access to pairs of words.
    #[inline(always)]
    fn is_unpaired(self) -> bool {
        self.shape.is_pair() && self.table.pairs.is_none()
    }

    /// Returns the word that contains the bucket, and the bucket's bit offset in it. For buckets of
    /// at most 64 bits.
    #[inline(always)]
    fn word(self, bucket: u64) -> (&'t Word, u32) {
        (self.table.words.word(self.shape.word(bucket)), self.shape.offset(bucket))
    }

    /// Returns the value of a bucket of any table, for a report on its contents.
    #[inline]
    pub(crate) fn read_any(self, bucket: u64) -> u128 {
        if self.is_unpaired() {
            unpaired::read(&self.table.words, bucket)
        } else {
            self.read(bucket)
        }
    }

    /// Returns the value of a bucket, for a query. The table must not be unpaired.
    #[inline(always)]
    pub(crate) fn read(self, bucket: u64) -> u128 {
        // ORDERING: Acquire pairs with the Release of `StripeGuard::clear_slot`: a reader that sees
        // the cleared slot also sees the copy that replaces it, and the advance of the version, if
        // there was one (proof: step 2.1).
        self.load(bucket, Ordering::Acquire)
    }

    /// Returns the value of a bucket, for an update or a search. Every update checks the value
    /// again. Under the lock of a class's stripe, the value is exact for that class. The table must
    /// not be unpaired.
    #[inline(always)]
    pub(crate) fn peek(self, bucket: u64) -> u128 {
        if self.shape.is_pair() {
            return self.table.pair(bucket).peek();
        }
        let (word, at) = self.word(bucket);
        u128::from(self.shape.cut(word.peek(), at))
    }

    /// Loads a bucket, in one atomic access.
    #[inline(always)]
    fn load(self, bucket: u64, order: Ordering) -> u128 {
        if self.shape.is_pair() {
            // ORDERING: the caller's.
            return self.table.pair(bucket).load(order);
        }
        let (word, at) = self.word(bucket);
        // ORDERING: the caller's.
        u128::from(self.shape.cut(word.load(order), at))
    }

    /// Replaces `from` by `to` in the first slot that holds it, in one atomic read-modify-write.
    /// Each is a fingerprint, or 0 for an empty slot. Returns `false`, and writes nothing, if no
    /// slot holds `from`.
    #[inline(always)]
    fn replace(self, bucket: u64, from: u64, to: u64, order: Ordering) -> bool {
        let shape = self.shape;
        // Each closure is called again if another thread changed the word meanwhile, and finds the
        // slot again.
        if shape.is_pair() {
            // ORDERING: the caller's.
            let changed = self.table.pair(bucket).try_update(order, |slots| {
                Some(slots ^ u128::from(from ^ to) << shape.find(slots, from)?)
            });
            return changed.is_ok();
        }
        let (word, at) = self.word(bucket);
        // ORDERING: the caller's.
        let changed = word.try_update(order, |bits| {
            let at = at + shape.find(u128::from(shape.cut(bits, at)), from)?;
            // An empty slot has no bits to remove.
            let kept = if from == 0 { bits } else { bits & !(shape.mask() << at) };
            Some(kept | to << at)
        });
        changed.is_ok()
    }

    /// Prefetches both buckets of a class, for a query.
    #[inline(always)]
    pub(crate) fn prefetch(self, class: Class) {
        class.buckets.iter().for_each(|&bucket| self.prefetch_bucket(bucket));
    }

    #[inline(always)]
    fn prefetch_bucket(self, bucket: u64) {
        if self.shape.is_pair() {
            match &self.table.pairs {
                Some(pairs) => pairs.prefetch(bucket as usize),
                None => self.table.words.prefetch_word(2 * bucket as usize),
            }
        } else {
            self.table.words.prefetch_word(self.shape.word(bucket));
        }
    }

    /// Prefetches both buckets of a class, for an insert or a removal: the first bucket for
    /// writing, because most writes go there.
    #[inline(always)]
    pub(crate) fn prefetch_to_write(self, class: Class) {
        let [one, other] = class.buckets;
        if self.shape.is_pair() {
            self.table.pairs().prefetch_to_write(one as usize);
        } else {
            self.table.words[self.shape.word(one) / LINE_WORDS].prefetch_to_write();
        }
        self.prefetch_bucket(other);
    }

    /// Returns whether a bucket holds the fingerprint, in one read of both. A miss is not
    /// validated.
    #[inline(always)]
    fn contains_unvalidated(self, class: Class) -> bool {
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
    fn try_contains(self, class: Class) -> Option<bool> {
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
            self.table.retry_misses(classes, &mut found);
        }
        found
    }

    /// Adds a copy to an empty slot of the bucket. Returns `false` if there is none.
    #[inline(always)]
    fn add_to(self, bucket: u64, fingerprint: u64) -> bool {
        // ORDERING: Relaxed: a read-modify-write keeps the release sequences of earlier clears. The
        // caller orders its query after its insert (proof: (c)), and the Release of the advance
        // follows the add of a relocation (step 2.4).
        self.replace(bucket, 0, fingerprint, Ordering::Relaxed)
    }

    /// Adds a copy to the first of the two buckets that has an empty slot. Returns `false` if
    /// neither has one.
    #[inline(always)]
    pub(crate) fn add(self, class: Class) -> bool {
        // The compiler does not inline `any` over the two buckets. MEASURED: an insert executes 139
        // instructions with `any`, and 87 instructions written out (any machine: counted by
        // callgrind on x86-64 with AVX2).
        let [one, other] = class.buckets;
        self.add_to(one, class.fingerprint) || self.add_to(other, class.fingerprint)
    }

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
    buckets: Buckets<'t>,
    stripe: usize,
    class: Class,
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
    fn contains_in(&self, bucket: u64) -> bool {
        self.buckets.shape.contains(self.buckets.peek(bucket), self.class.fingerprint)
    }

    /// Clears a copy of the class in this bucket, which must contain one. If another copy replaces
    /// it, that one must have been added, and the version advanced, before.
    #[inline(always)]
    fn clear_slot(&self, bucket: u64) {
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
    fn advance_version(&self) {
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
struct AllStripesGuard<'t> {
    table: &'t Table,
}

impl Drop for AllStripesGuard<'_> {
    fn drop(&mut self) {
        (0..self.table.locks.len()).for_each(|stripe| self.table.unlock(stripe));
    }
}
