//! The buckets that all threads share: the one file of this crate that names a memory ordering.
//!
//! # Who may write what
//!
//! * A fingerprint is **added** to an empty slot by anyone, at any time, by one compare-exchange.
//! * A fingerprint is **taken** out of a slot, for good or to move it, only by the holder of the stripe
//!   of its class, who advances the stripe's move count before: every way to do it is a method of
//!   [`Held`].
//! * Nothing else is ever written to a bucket. All writes are read-modify-writes of the bucket's word.
//!
//! A stripe is a lock and a move count, in two cache lines, since the lock is dirtied by every writer and
//! the count, which readers look at, by movers alone. A class (a fingerprint and its two buckets) belongs
//! to one stripe, and nobody ever waits for a stripe while holding another, except who takes all of them,
//! in order.
//!
//! # A miss is a miss
//!
//! Readers take no lock: load the move count, look into both buckets, and believe a miss only if the
//! count is still the same. Why an item that is in is then never missed, and which ordering each step of
//! the proof needs, is told in `ARCHITECTURE.md`, "The cuckoo filter's protocol". In short: who misses a
//! copy that was taken sees the count that was advanced before (Release and Acquire on the bucket); who saw
//! that count from the start sees the copy that was added before it (Release and Acquire on the count);
//! and of the copies of a class one more is added than taken while an item of it is in.
//!
//! Under the stripe nothing is taken from the class, so one look at both buckets is exact for what happened
//! before. After a few misses that could not be believed a reader therefore takes the stripe.

use tamis_sync::{AllocError, LINE_WORDS, Lines, Ordering, Word};

use crate::bucket::Shape;
use crate::geometry::Geometry;
use crate::place::Class;

#[cfg(all(test, tamis_loom))]
#[path = "models.rs"]
mod models;
#[cfg(all(test, tamis_shuttle))]
#[path = "schedules.rs"]
mod schedules;

/// The lock, in the first word of a stripe's line.
const LOCK: u64 = 1;

/// How often a reader that saw items move looks again before it takes the stripe. A move takes some 50 ns
/// of every few hundred that a thread needs between two, so that few looks meet one, and next to none
/// eight in a row.
/// (Two in the models, where few moves are made: all that can follow a look is to be explored.)
const LOOKS: u32 = if cfg!(tamis_loom) { 2 } else { 8 };

/// Buckets, and the stripes that guard moves between them.
#[derive(Debug)]
pub(crate) struct Table {
    words: Lines,
    /// One line a stripe.
    locks: Lines,
    /// One line a stripe.
    moves: Lines,
    geometry: Geometry,
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
            moves: Lines::zeroed(stripes)?,
            geometry,
        })
    }

    #[inline]
    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    #[inline]
    fn shape(&self) -> Shape {
        self.geometry.shape()
    }

    /// The word of a bucket, and how far the bucket lies from its bottom.
    #[inline]
    fn word(&self, bucket: u64) -> (&Word, u32) {
        // Two narrow buckets share a word.
        let narrow = u64::from(self.shape().bits() == 32);
        let word = (bucket >> narrow) as usize;
        (&self.words[word / LINE_WORDS].words[word % LINE_WORDS], 32 * (bucket & narrow) as u32)
    }

    /// A bucket, as it is or was a moment ago.
    #[inline]
    pub(crate) fn read(&self, bucket: u64) -> u64 {
        let (word, at) = self.word(bucket);
        // ORDERING: Acquire pairs with the Release of `Held::take`: who sees that a copy is gone sees
        // the advance before it, and the copy that replaces it. See "A miss is a miss".
        word.load(Ordering::Acquire) >> at & (u64::MAX >> (64 - self.shape().bits()))
    }

    /// A bucket, for who goes on to add to it or take from it, or looks for a way through it: whatever is
    /// seen is checked again by the update. Under the stripe of a class, exact for that class.
    #[inline]
    pub(crate) fn peek(&self, bucket: u64) -> u64 {
        let (word, at) = self.word(bucket);
        word.peek() >> at & (u64::MAX >> (64 - self.shape().bits()))
    }

    /// Asks for the memory of a class ahead of the access to it.
    #[inline]
    pub(crate) fn prefetch(&self, class: Class) {
        let narrow = u64::from(self.shape().bits() == 32);
        for bucket in class.buckets {
            self.words[(bucket >> narrow) as usize / LINE_WORDS].prefetch();
        }
    }

    #[inline]
    fn stripe(&self, class: Class) -> usize {
        // A power of two of them.
        class.key() as usize & (self.locks.len() - 1)
    }

    /// One look into both buckets.
    #[inline]
    fn look(&self, class: Class) -> bool {
        let [one, other] = class.buckets.map(|bucket| self.read(bucket));
        let shape = self.shape();
        // Both, without a branch in between: which of them has it cannot be guessed.
        shape.has(one, class.fingerprint) | shape.has(other, class.fingerprint)
    }

    /// One look, and whether it can be believed: a hit always, a miss if nothing moved meanwhile.
    #[inline]
    fn look_between_moves(&self, class: Class) -> Result<bool, ()> {
        let moves = &self.moves[self.stripe(class)].words[0];
        // ORDERING: Acquire pairs with the Release of the advance whose number it reads: what the mover
        // had added before is seen by the looks that follow.
        let before = moves.load(Ordering::Acquire);
        if self.look(class) {
            return Ok(true);
        }
        // ORDERING: Relaxed: the Acquire loads of the look keep it behind them.
        if moves.load(Ordering::Relaxed) == before { Ok(false) } else { Err(()) }
    }

    /// Whether a copy of the class is in.
    #[inline]
    pub(crate) fn contains(&self, class: Class) -> bool {
        self.look_between_moves(class).unwrap_or_else(|()| self.contains_in_a_storm(class))
    }

    #[cold]
    fn contains_in_a_storm(&self, class: Class) -> bool {
        let looks = (1..LOOKS).find_map(|_| self.look_between_moves(class).ok());
        looks.unwrap_or_else(|| self.hold(class).count() > 0)
    }

    /// Adds a copy to an empty slot of the bucket; whether there was one.
    #[inline]
    fn add_to(&self, bucket: u64, fingerprint: u64) -> bool {
        let shape = self.shape();
        let (word, at) = self.word(bucket);
        // ORDERING: Relaxed: an RMW disturbs nobody, and what comes to rely on the copy is ordered after
        // it by its caller, or by the advance of a mover.
        let added = word.try_update(Ordering::Relaxed, |bits| {
            let bucket = bits >> at & (u64::MAX >> (64 - shape.bits()));
            shape.find_empty(bucket).map(|slot| bits | fingerprint << (at + slot))
        });
        added.is_ok()
    }

    /// Adds a copy to the first of the two buckets that has an empty slot; whether one had.
    #[inline]
    pub(crate) fn add(&self, class: Class) -> bool {
        class.buckets.iter().any(|&bucket| self.add_to(bucket, class.fingerprint))
    }

    /// Waits for the stripe of the class and holds it: nobody else takes copies of the class from their
    /// buckets, for good or to move them, until it is dropped.
    #[inline]
    pub(crate) fn hold(&self, class: Class) -> Held<'_> {
        let stripe = self.stripe(class);
        self.lock(stripe);
        Held { table: self, stripe, class }
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
    fn hold_all(&self) -> HeldAll<'_> {
        (0..self.locks.len()).for_each(|stripe| self.lock(stripe));
        HeldAll { table: self }
    }

    /// A copy of all buckets, and the fingerprints in it: each copy whose insert happened before and
    /// whose remove did not begin is in it exactly once, wherever it is being moved meanwhile.
    pub(crate) fn copy(&self) -> Result<(Self, u64), AllocError> {
        let geometry = self.geometry;
        // Allocated first: an allocator is another's code, and may take its time.
        let mut copy = Self::with_stripes(geometry, self.locks.len() as u64)?;
        {
            let _held = self.hold_all();
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

    /// Fingerprints in all buckets. Beside movers, one on its way may be counted twice or not at all.
    pub(crate) fn len(&self) -> u64 {
        let buckets = 0..self.geometry.buckets();
        buckets.map(|bucket| u64::from(self.shape().len(self.read(bucket)))).sum()
    }

    pub(crate) fn clear(&mut self) {
        for word in self.words.iter_mut().flat_map(|line| &mut line.words) {
            word.update(|bits| *bits = 0);
        }
    }
}

/// A stripe, held for one class of those that belong to it.
#[derive(Debug)]
pub(crate) struct Held<'t> {
    table: &'t Table,
    stripe: usize,
    class: Class,
}

impl Held<'_> {
    /// Copies of the class.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        let Class { fingerprint, buckets } = self.class;
        let count = |bucket| self.table.shape().count(self.table.peek(bucket), fingerprint);
        buckets.map(count).iter().sum()
    }

    #[inline]
    fn has(&self, bucket: u64) -> bool {
        self.table.shape().has(self.table.peek(bucket), self.class.fingerprint)
    }

    /// Takes a copy out of this bucket, which has one. What is to replace it has been added before.
    #[inline]
    fn take(&self, bucket: u64) {
        let Self { table, stripe, class } = *self;
        let shape = table.shape();
        // ORDERING: Release: who reads this number sees what was added before. Before the copy goes, so
        // that who misses the copy sees the number.
        table.moves[stripe].words[0].advance(Ordering::Release);
        let (word, at) = table.word(bucket);
        // ORDERING: Release pairs with the Acquire of `read`: who misses the copy sees the advance.
        let taken = word.try_update(Ordering::Release, |bits| {
            let bucket = bits >> at & (u64::MAX >> (64 - shape.bits()));
            let slot = shape.find_fingerprint(bucket, class.fingerprint)?;
            Some(bits & !(shape.mask() << (at + slot)))
        });
        debug_assert!(taken.is_ok(), "a copy vanished under its stripe");
    }

    /// Removes one copy; whether there was one.
    #[inline]
    pub(crate) fn remove(&self) -> bool {
        let bucket = self.class.buckets.into_iter().find(|&bucket| self.has(bucket));
        bucket.map(|bucket| self.take(bucket)).is_some()
    }

    /// Moves a copy from the first bucket to the second; whether there was one, and room for it.
    ///
    /// It is added before it is taken: a reader may see it twice, never not at all.
    #[inline]
    pub(crate) fn shift(&self) -> bool {
        let Class { fingerprint, buckets: [from, to] } = self.class;
        let copied = self.has(from) && self.table.add_to(to, fingerprint);
        if copied {
            self.take(from);
        }
        copied
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        self.table.unlock(self.stripe);
    }
}

/// All stripes, held.
struct HeldAll<'t> {
    table: &'t Table,
}

impl Drop for HeldAll<'_> {
    fn drop(&mut self) {
        (0..self.table.locks.len()).for_each(|stripe| self.table.unlock(stripe));
    }
}
