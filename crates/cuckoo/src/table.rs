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

use crate::bucket::with_known_shape;
use crate::geometry::Geometry;
use crate::growth::table as growth;
use crate::line_len::len_of_line;

mod buckets;
mod copy;
mod guard;
#[cfg(all(test, tamis_loom))]
mod models;
pub(crate) mod pass;
mod query;
#[cfg(all(test, tamis_shuttle))]
mod schedules;

pub(crate) use buckets::Buckets;
pub(crate) use query::BatchRead;

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
    pub(crate) geometry: Geometry,
    /// The vector instructions of this processor.
    pub(crate) simd: SimdLevel,
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

    /// Returns the version of the stripe of the classes with this key.
    #[inline(always)]
    fn version(&self, key: u64) -> &Word {
        // The same number as `stripe` gives. It is masked by the length of the indexed array
        // itself, so the compiler omits the bounds check.
        &self.versions[key as usize & (self.versions.len() - 1)].words[0]
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
