//! The lines and patterns of many items, computed side by side: the arithmetic of [`line`](super::line)
//! in loops that the compiler makes vector instructions of.

use tamis_hash::{narrow_range, split};
use tamis_sync::{LINE_WORDS, Loop, Width};

use super::line::{Shape, with_bit};

/// Items of a batch: as many as fill the widest vectors four times, and as there are lines on their way
/// from memory at a time.
pub(crate) const BATCH: usize = 32;

/// A number for each item of a batch.
type Lanes = [u64; BATCH];

/// Where the bits of some items lie.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) hashes: Lanes,
    lines: Lanes,
    /// For each group of words: which of them, and the bits in it.
    words: [Lanes; LINE_WORDS],
    masks: [Lanes; LINE_WORDS],
}

impl Batch {
    pub(crate) const EMPTY: Self = Self {
        hashes: [0; BATCH],
        lines: [0; BATCH],
        words: [[0; BATCH]; LINE_WORDS],
        masks: [[0; BATCH]; LINE_WORDS],
    };

    /// Computes all that follows from the hashes in a filter of so many lines.
    pub(crate) fn spread(&mut self, lines: u64, shape: Shape, width: Width) {
        width.run(Spread { batch: self, lines, shape });
    }

    /// The line of an item.
    #[inline(always)]
    pub(crate) fn line(&self, item: usize) -> u64 {
        // The remainders, here and below, change nothing, and spare the check of a bound.
        self.lines[item % BATCH]
    }

    /// As [`Shape::pattern`] of an item, where the shape has so many words.
    #[inline(always)]
    pub(crate) fn pattern<const WORDS: usize>(
        &self,
        item: usize,
    ) -> impl Iterator<Item = (usize, u64)> + Clone {
        let item = item % BATCH;
        (0..WORDS).map(move |group| {
            (self.words[group][item] as usize % LINE_WORDS, self.masks[group][item])
        })
    }
}

struct Spread<'a> {
    batch: &'a mut Batch,
    lines: u64,
    shape: Shape,
}

impl Loop for Spread<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        self.place();
        if self.shape == Shape::OFTEN {
            self.patterns(Shape::OFTEN);
        } else {
            self.patterns(self.shape);
        }
    }
}

// By index, a constant number of times, several arrays at once: so the compiler sees what it can do.
impl Spread<'_> {
    /// As [`split::place`].
    #[inline(always)]
    fn place(&mut self) {
        let Batch { hashes, lines: to, .. } = self.batch;
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

    #[inline(always)]
    fn patterns(&mut self, shape: Shape) {
        let Batch { hashes, words, masks, .. } = self.batch;
        let (mut patterns, mut cut) = ([0; BATCH], shape.cut());
        for item in 0..BATCH {
            patterns[item] = split::pattern(hashes[item]);
        }
        for (group, (words, masks)) in (0..shape.words).zip(words.iter_mut().zip(masks)) {
            if !cut.has_room() {
                cut = shape.cut();
                for pattern in &mut patterns {
                    *pattern = split::next_pattern(*pattern);
                }
            }
            *masks = [0; BATCH];
            for _ in 0..shape.group_probes(group) {
                let shift = cut.take(6);
                for item in 0..BATCH {
                    masks[item] = with_bit(masks[item], patterns[item] >> shift);
                }
            }
            let shift = cut.take(shape.log_group_words());
            for item in 0..BATCH {
                words[item] = shape.word(group, patterns[item] >> shift);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn is_as_one_by_one<const WORDS: usize>(batch: &Batch, lines: u64, shape: Shape) {
        for (item, &hash) in batch.hashes.iter().enumerate() {
            assert_eq!(batch.line(item), split::place(hash, lines));
            let pattern: Vec<_> = batch.pattern::<WORDS>(item).collect();
            assert_eq!(pattern, shape.pattern(hash).collect::<Vec<_>>(), "{shape:?}");
        }
    }

    proptest! {
        /// In vectors of every width, and in filters that 32 bits can and cannot count.
        #[test]
        fn a_batch_is_as_one_by_one(
            hashes in any::<[u64; BATCH]>(),
            lines in prop_oneof![1..=u64::from(u32::MAX), 1_u64 << 32..1 << 55],
            log_words in 0..4_u32,
            more in 0..8_u32,
        ) {
            let words = 1 << log_words;
            let shape = Shape { words, probes: words + more * words };
            for shape in [shape, Shape::OFTEN] {
                for &width in Width::all() {
                    let mut batch = Batch { hashes, ..Batch::EMPTY };
                    batch.spread(lines, shape, width);
                    match shape.words {
                        1 => is_as_one_by_one::<1>(&batch, lines, shape),
                        2 => is_as_one_by_one::<2>(&batch, lines, shape),
                        4 => is_as_one_by_one::<4>(&batch, lines, shape),
                        _ => is_as_one_by_one::<8>(&batch, lines, shape),
                    }
                }
            }
        }
    }
}
