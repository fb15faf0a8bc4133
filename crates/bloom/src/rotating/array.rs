//! From a hash to the words of all generations: queries and inserts, one by one and in batches.

use tamis_hash::split;
use tamis_sync::{AllocError, BATCH, BatchWork, LINE_WORDS, SimdLevel};

use super::plan::Plan;
use super::state::Ring;
use crate::geometry::Geometry;
use crate::probe::batch::Batch;
use crate::probe::line::{Shape, Tables, with_words};

/// The generations of a filter, and how the bits of an item lie in one of them.
pub(crate) struct Rotating {
    pub(crate) ring: Ring,
    shape: Shape,
    tables: Tables,
    simd: SimdLevel,
}

/// Evaluates an expression in which the number of slots is a constant if it is that of the default.
macro_rules! with_slots {
    ($all:expr, $slots:ident => $value:expr) => {
        if $all == LINE_WORDS {
            let $slots = LINE_WORDS;
            $value
        } else {
            let $slots = $all;
            $value
        }
    };
}

impl Rotating {
    /// Allocates empty generations of this geometry.
    pub(crate) fn zeroed(plan: Plan, geometry: Geometry) -> Result<Self, AllocError> {
        Ring::zeroed(plan, geometry.lines()).map(|ring| Self::of_ring(ring, geometry))
    }

    /// Takes generations of this geometry.
    pub(crate) fn of_ring(ring: Ring, geometry: Geometry) -> Self {
        let shape = geometry.shape();
        Self { ring, shape, tables: shape.tables(), simd: SimdLevel::detect() }
    }

    /// Copies the generations while other threads work.
    pub(crate) fn copy(&self) -> Result<Self, AllocError> {
        let Self { shape, tables, simd, .. } = *self;
        Ok(Self { ring: self.ring.copy()?, shape, tables, simd })
    }

    /// Requests the words of a hash.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        let place = split::place(hash, self.ring.places());
        for (index, _) in self.shape.pattern(&self.tables, hash) {
            self.ring.prefetch(self.ring.slots(), place, index, false);
        }
    }

    /// Returns whether a live generation has all bits of the hash.
    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        let (ring, place) = (&self.ring, split::place(hash, self.ring.places()));
        with_words!(self.shape, shape => with_slots!(ring.slots(), slots => {
            let live = ring.state().live(slots);
            ring.holders(slots, place, shape.pattern(&self.tables, hash)) & live != 0
        }))
    }

    /// Inserts a hash into the current generation, unless a live generation has it, or, to refresh
    /// it, unless the current one has it. Returns whether no live generation had it.
    #[inline]
    pub(crate) fn insert(&self, hash: u64, refresh: bool) -> bool {
        let place = split::place(hash, self.ring.places());
        let has = with_words!(self.shape, shape => with_slots!(self.ring.slots(), slots => {
            self.has(slots, place, shape.pattern(&self.tables, hash), refresh)
        }));
        !has && self.insert_new(hash, refresh)
    }

    /// Returns whether an insert has nothing to do, by loads alone.
    #[inline(always)]
    pub(super) fn has(
        &self,
        slots: usize,
        place: u64,
        pattern: impl Iterator<Item = (usize, u64)>,
        refresh: bool,
    ) -> bool {
        let state = self.ring.state();
        let live = if refresh { 1 << state.current() } else { state.live(slots) };
        self.ring.holders(slots, place, pattern) & live != 0
    }

    /// Inserts a hash that was not found. A function of its own keeps the code for present items
    /// short.
    ///
    /// MEASURED (ns per insert of a present and of a new item, window of 100,000): 18 and 45, and
    /// in batches 12 and 44; compared with 28 and 59, and 23 and 57, in one function with the
    /// pattern computed once (Zen 5).
    #[inline(never)]
    fn insert_new(&self, hash: u64, refresh: bool) -> bool {
        let place = split::place(hash, self.ring.places());
        with_words!(self.shape, shape => with_slots!(self.ring.slots(), slots => {
            // Compute the pattern before the stripe is locked.
            let pattern = shape.at_once(shape.pattern(&self.tables, hash));
            self.ring.claim(slots, hash, place, pattern, refresh)
        }))
    }
}

/// Queries in batches.
pub(crate) struct Contains<'a>(pub(crate) &'a Rotating);

/// Inserts in batches.
pub(crate) struct Insert<'a> {
    pub(crate) array: &'a Rotating,
    pub(crate) refresh: bool,
}

impl BatchWork for Contains<'_> {
    type Batch = Batch;
    type Answer = bool;
    const EMPTY: Batch = Batch::EMPTY;
    const IDLE: bool = false;
    // A panic in the iterator loses no result.
    const PULLS_FIRST: bool = true;

    #[inline(always)]
    fn spread(&self, hashes: &[u64; BATCH], batch: &mut Batch) {
        batch.hashes = *hashes;
        batch.spread(self.0.ring.places(), self.0.shape, self.0.simd);
    }

    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        self.0.prefetch(hash);
    }

    #[inline(always)]
    fn prefetch_batch(&self, batch: &Batch) {
        batch.hashes.iter().for_each(|&hash| self.0.prefetch(hash));
    }

    #[inline(always)]
    fn one(&mut self, hash: u64) -> bool {
        self.0.contains(hash)
    }

    fn begin(&mut self, this: &Batch, next: &Batch, answers: &mut [bool; BATCH]) {
        let Rotating { ring, shape, .. } = self.0;
        with_words!(*shape, shape => with_slots!(ring.slots(), slots => {
            let tables = shape.tables();
            // One state for the batch: all its queries begin here.
            let live = ring.state().live(slots);
            for (item, answer) in answers.iter_mut().enumerate() {
                for (index, _) in next.pattern(shape, &tables, item) {
                    ring.prefetch(slots, next.line(item), index, false);
                }
                let pattern = this.pattern(shape, &tables, item);
                *answer = ring.holders(slots, this.line(item), pattern) & live != 0;
            }
        }));
    }
}

impl BatchWork for Insert<'_> {
    type Batch = Batch;
    type Answer = bool;
    const EMPTY: Batch = Batch::EMPTY;
    const IDLE: bool = false;
    const PULLS_FIRST: bool = true;

    #[inline(always)]
    fn spread(&self, hashes: &[u64; BATCH], batch: &mut Batch) {
        Contains(self.array).spread(hashes, batch);
    }

    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        self.array.ring.prefetch_stripe(hash);
        self.array.prefetch(hash);
    }

    #[inline(always)]
    fn prefetch_batch(&self, batch: &Batch) {
        batch.hashes.iter().for_each(|&hash| self.prefetch(hash));
    }

    #[inline(always)]
    fn one(&mut self, hash: u64) -> bool {
        self.array.insert(hash, self.refresh)
    }

    fn begin(&mut self, this: &Batch, next: &Batch, answers: &mut [bool; BATCH]) {
        let Rotating { ring, shape, .. } = self.array;
        with_words!(*shape, shape => with_slots!(ring.slots(), slots => {
            let tables = shape.tables();
            for (item, answer) in answers.iter_mut().enumerate() {
                ring.prefetch_stripe(next.hashes[item]);
                for (index, _) in next.pattern(shape, &tables, item) {
                    ring.prefetch(slots, next.line(item), index, true);
                }
                let pattern = this.pattern(shape, &tables, item);
                *answer = !self.array.has(slots, this.line(item), pattern, self.refresh)
                    && self.array.insert_new(this.hashes[item], self.refresh);
            }
        }));
    }
}
