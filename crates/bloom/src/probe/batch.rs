//! The lines and patterns of the items of a batch: the arithmetic of [`line`](super::line) in loops
//! that the compiler turns into vector instructions.

use tamis_hash::{narrow_range, split};
use tamis_sync::{BATCH, Kernel, SimdLevel, Vectors};

use super::line::{GROUPS_PER_PATTERN, MAX_PATTERNS, Shape, Tables};

/// A number for each item of a batch.
type Lanes = [u64; BATCH];

/// The hashes of a batch, and where the bits of its items lie.
#[derive(Debug)]
pub struct Batch {
    pub(crate) hashes: Lanes,
    lines: Lanes,
    /// The [first patterns](split::pattern) of the items, then the patterns that follow them.
    patterns: [Lanes; MAX_PATTERNS],
}

impl Batch {
    pub(crate) const EMPTY: Self =
        Self { hashes: [0; BATCH], lines: [0; BATCH], patterns: [[0; BATCH]; MAX_PATTERNS] };

    /// Computes the lines, in a filter of `lines` lines, and the patterns of this shape from the
    /// hashes.
    pub(crate) fn spread(&mut self, lines: u64, shape: Shape, simd: SimdLevel) {
        simd.run(Spread { batch: self, lines, shape });
    }

    /// Returns the line of an item.
    #[inline(always)]
    pub(crate) fn line(&self, item: usize) -> u64 {
        // The remainders, here and below, change nothing, and save bounds checks.
        self.lines[item % BATCH]
    }

    /// Returns the pattern of an item, as [`Shape::pattern`].
    #[inline(always)]
    pub(crate) fn pattern(
        &self,
        shape: Shape,
        tables: &Tables,
        item: usize,
    ) -> impl Iterator<Item = (usize, u64)> + Clone {
        let item = item % BATCH;
        (0..shape.words).map(move |group| {
            shape.part(tables, group, self.patterns[(group / GROUPS_PER_PATTERN) as usize][item])
        })
    }
}

struct Spread<'a> {
    batch: &'a mut Batch,
    lines: u64,
    shape: Shape,
}

impl Kernel for Spread<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self, _: Option<Vectors>) {
        self.place();
        self.patterns();
    }
}

// Loops by index, a constant number of times, over several arrays: the compiler recognizes these as
// vector code.
impl Spread<'_> {
    /// Computes the lines, as [`split::place`].
    #[inline(always)]
    fn place(&mut self) {
        let Batch { hashes, lines: to, .. } = self.batch;
        // Most filters have fewer than 2^32 lines: products of 32 bits exist as vector
        // instructions.
        if let Ok(lines) = u32::try_from(self.lines) {
            for item in 0..BATCH {
                to[item] = narrow_range(hashes[item], lines);
            }
        } else {
            for item in 0..BATCH {
                to[item] = split::place(hashes[item], self.lines);
            }
        }
    }

    /// Computes the patterns, as [`split::pattern`] and [`split::next_pattern`]: the number that
    /// the shape needs.
    #[inline(always)]
    fn patterns(&mut self) {
        let Batch { hashes, patterns, .. } = self.batch;
        let [first, others @ ..] = patterns;
        for item in 0..BATCH {
            first[item] = split::pattern(hashes[item]);
        }
        let mut last = first;
        for next in others.iter_mut().take(self.shape.patterns() - 1) {
            for item in 0..BATCH {
                next[item] = split::next_pattern(last[item]);
            }
            last = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::super::line::MAX_PROBES;
    use super::*;

    fn assert_same_as_single(batch: &Batch, lines: u64, shape: Shape) {
        for (item, &hash) in batch.hashes.iter().enumerate() {
            assert_eq!(batch.line(item), split::place(hash, lines));
            let pattern: Vec<_> = batch.pattern(shape, &shape.tables(), item).collect();
            assert_eq!(pattern, shape.pattern(&shape.tables(), hash).collect::<Vec<_>>());
        }
    }

    proptest! {
        /// In vectors of every width, and in filters of fewer and of more than 2^32 lines.
        #[test]
        fn a_batch_equals_single_items(
            hashes in any::<[u64; BATCH]>(),
            lines in prop_oneof![1..=u64::from(u32::MAX), 1_u64 << 32..1 << 55],
            log_words in 0..4_u32,
            more in 0..32_u32,
        ) {
            let words = 1 << log_words;
            let shape = Shape { words, probes: (words + more).min(8 * words).min(MAX_PROBES) };
            for &simd in SimdLevel::all() {
                let mut batch = Batch { hashes, ..Batch::EMPTY };
                batch.spread(lines, shape, simd);
                assert_same_as_single(&batch, lines, shape);
            }
        }
    }
}
