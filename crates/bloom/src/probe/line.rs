//! A pattern within one 64-byte line: `probes` bits, spread over a few of its eight words.
//!
//! The eight words form `words` groups: 1, 2, 4 or 8. In each group the item picks one word and a
//! few bits in it, so it touches exactly `words` words. The price of an atomic insert is the number
//! of words, because their atomic operations do not overlap (measured at `WORD_PRICE`).
//!
//! ```text
//! words = 2   │ 0 │ 1 │ 2 │ 3 ║ 4 │ 5 │ 6 │ 7 │     one of 0..4 and one of 4..8
//! ```
//!
//! A group takes 14 bits of a 64-bit pattern for its [mask](super::masks), then up to three to pick
//! the word. Three groups share a pattern, from its top bits down.

use tamis_hash::split;
use tamis_sync::LINE_WORDS;

use super::masks::{MASK_BITS, MAX_PROBES_PER_WORD, Masks, mask, masks};

/// Groups that share a pattern: three times 17 bits fit into its good bits.
pub(super) const GROUPS_PER_PATTERN: u32 = 3;
const _: () = assert!(GROUPS_PER_PATTERN * (MASK_BITS + 3) <= split::GOOD_BITS);

/// Largest number of patterns that an item needs.
pub(super) const MAX_PATTERNS: usize = (LINE_WORDS as u32).div_ceil(GROUPS_PER_PATTERN) as usize;

/// Largest number of probes in a line.
pub(crate) const MAX_PROBES: u32 = 32;
const _: () = assert!(MAX_PROBES <= LINE_WORDS as u32 * MAX_PROBES_PER_WORD);

/// The numbers of words that an item can touch.
pub(crate) const WORDS: [u32; 4] = [1, 2, 4, 8];

/// How the bits of an item lie in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// Words that an item touches, which is the number of groups: 1, 2, 4 or 8.
    pub(crate) words: u32,
    /// Bits that an item sets: from `words` to `8 · words`.
    pub(crate) probes: u32,
}

impl Shape {
    /// The shape that the sizing chooses for the default rate.
    pub(crate) const DEFAULT: Self = Self { words: 1, probes: 5 };

    /// Returns the number of words in a group.
    #[inline]
    pub(crate) const fn group_words(self) -> u32 {
        LINE_WORDS as u32 >> self.log_words()
    }

    /// Returns the number of probes in this group: split evenly, with the remainder in the first
    /// groups.
    #[inline]
    pub(crate) const fn group_probes(self, group: u32) -> u32 {
        (self.probes + self.words - 1 - group) >> self.log_words()
    }

    /// Returns the logarithm of `words`, to divide by a shift: a division would take as long as the
    /// rest of the operation.
    #[inline]
    const fn log_words(self) -> u32 {
        self.words.trailing_zeros()
    }

    /// Returns the mask tables of all groups.
    pub(crate) const fn tables(self) -> Tables {
        let mut tables = [masks(1); LINE_WORDS];
        let mut group = 0;
        while group < self.words {
            tables[group as usize] = masks(self.group_probes(group));
            group += 1;
        }
        Tables(tables)
    }

    /// Returns the words of the line, and the bits in each, that an item with this hash sets.
    #[inline(always)]
    pub(crate) const fn pattern(self, tables: &Tables, hash: u64) -> Pattern<'_> {
        Pattern { shape: self, tables, group: 0, bits: split::pattern(hash) }
    }

    /// Computes all parts of a pattern before the first is used: for inserts that use them twice,
    /// and before a lock is taken, since work under the lock delays the next item.
    ///
    /// MEASURED: an insert of 16 bits in 4 words takes 23 ns, instead of 34 with parts computed
    /// under the lock (with masks computed bit by bit, Zen 4).
    #[inline(always)]
    pub(crate) fn at_once(
        self,
        pattern: impl Iterator<Item = (usize, u64)>,
    ) -> impl Iterator<Item = (usize, u64)> + Clone {
        let mut parts = [(0, 0); LINE_WORDS];
        for (to, part) in parts.iter_mut().zip(pattern) {
            *to = part;
        }
        parts.into_iter().take(self.words as usize)
    }

    /// Returns the word of the line, and the bits in it, that an item with this pattern sets in a
    /// group.
    #[inline(always)]
    pub(super) const fn part(self, tables: &Tables, group: u32, pattern: u64) -> (usize, u64) {
        let log_words = self.log_group_words();
        // Shift away the parts of the groups that share the pattern.
        let bits = pattern << (group % GROUPS_PER_PATTERN * (MASK_BITS + log_words));
        // The bits below the mask's pick the word of the group.
        let word = bits >> (64 - MASK_BITS - log_words) & (self.group_words() - 1) as u64;
        let word = (group * self.group_words()) as usize + word as usize;
        // The remainders change nothing, and save bounds checks.
        (word % LINE_WORDS, mask(tables.0[group as usize % LINE_WORDS], bits))
    }

    /// Returns the number of patterns that the groups need.
    #[inline]
    pub(super) const fn patterns(self) -> usize {
        self.words.div_ceil(GROUPS_PER_PATTERN) as usize
    }

    #[inline]
    const fn log_group_words(self) -> u32 {
        self.group_words().trailing_zeros()
    }
}

/// The mask tables of each group of a shape, looked up once for a filter.
///
/// MEASURED (ns per hit in L2, item by item): on two words 3.5, and 4.0 with the tables looked up
/// for each item; on four words 5.8 and 6.5 (Zen 5).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tables([&'static Masks; LINE_WORDS]);

impl Tables {
    /// The tables of [`Shape::DEFAULT`].
    pub(crate) const DEFAULT: Self = Shape::DEFAULT.tables();
}

/// Evaluates an expression in which the number of words of a shape is a constant, so that the code
/// has no loops.
///
/// MEASURED: a query for 16 bits in 4 words of a line in L2 takes 10.7 ns, instead of 19.7 with
/// loops (Zen 4).
macro_rules! with_words {
    ($all:expr, $shape:ident => $value:expr) => {
        with_words!($all, $shape => $value, 1 2 4; 8)
    };
    ($all:expr, $shape:ident => $value:expr, $($words:literal)*; $most:literal) => {
        match $all.words {
            $($words => {
                let $shape = Shape { words: $words, ..$all };
                $value
            })*
            _ => {
                let $shape = Shape { words: $most, ..$all };
                $value
            }
        }
    };
}
pub(crate) use with_words;

/// The words and bits of an item, from [`Shape::pattern`].
///
/// A type of its own, not a `map`, so that `next` is always inlined. Where the compiler did not
/// inline the loop, a query took 11 ns instead of 4 (Zen 4).
#[derive(Clone, Debug)]
pub(crate) struct Pattern<'t> {
    shape: Shape,
    tables: &'t Tables,
    group: u32,
    /// The pattern that the current groups share.
    bits: u64,
}

impl Iterator for Pattern<'_> {
    type Item = (usize, u64);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, u64)> {
        let Self { shape, tables, group, .. } = *self;
        if group == shape.words {
            return None;
        }
        // After every third group the next pattern follows.
        if group > 0 && group % GROUPS_PER_PATTERN == 0 {
            self.bits = split::next_pattern(self.bits);
        }
        self.group += 1;
        Some(shape.part(tables, group, self.bits))
    }
}

#[cfg(test)]
mod tests {
    //! The rate test of `tests/rate.rs` on exchangeable patterns: the real pattern passes, and
    //! planted wrong ones fail.

    use std::vec;
    use std::vec::Vec;

    use statrs::distribution::{Binomial, DiscreteCDF};
    use tamis_hash::{Rapid, split};

    use super::*;
    use crate::probe::masks::{SAME, masks};
    use crate::sizing::line::chance_in_word;
    use crate::sizing::solve;

    const ITEMS: u64 = 50_000;
    /// 20 bits per item: there, repeated patterns change the rate most.
    const LINES: u64 = ITEMS * 20 / 512;

    /// The pattern of an item, as a whole line.
    type Pattern = fn(Shape, u64) -> [u64; LINE_WORDS];

    /// The rate that follows from the contents of a line.
    type Implied = fn(Shape, &[u64]) -> f64;

    fn real(shape: Shape, hash: u64) -> [u64; LINE_WORDS] {
        let mut line = [0; LINE_WORDS];
        shape.pattern(&shape.tables(), hash).for_each(|(index, mask)| line[index] |= mask);
        line
    }

    /// Masks rotated by the bits that picked them, so that there are 256 instead of 16384.
    fn rotated_by_the_picking_bits(shape: Shape, hash: u64) -> [u64; LINE_WORDS] {
        let (mut line, mut pattern) = ([0; LINE_WORDS], split::pattern(hash));
        for group in 0..shape.words {
            let (picks, words) = (pattern >> 56, u64::from(shape.group_words()));
            let word = u64::from(group) * words + (pattern >> 32) % words;
            let bits = picks << 56 | (picks % 64) << 50;
            line[word as usize] = mask(masks(shape.group_probes(group)), bits);
            pattern = split::next_pattern(pattern);
        }
        line
    }

    /// The classic mistake: double hashing over the 512 bits of the line.
    fn double_hashing_in_the_line(shape: Shape, hash: u64) -> [u64; LINE_WORDS] {
        let mut line = [0; LINE_WORDS];
        let bits = split::pattern(hash);
        let (a, b) = (bits >> 55, bits >> 46 & 511);
        for i in 0..u64::from(shape.probes) {
            let position = (a + i * b) % 512;
            line[position as usize / 64] |= 1 << (position % 64);
        }
        line
    }

    fn hash(item: u64) -> u64 {
        Rapid::with_seed(2).hash_bytes(&item.to_le_bytes())
    }

    fn filled(shape: Shape, pattern: Pattern, items: u64) -> Vec<[u64; LINE_WORDS]> {
        let mut lines = vec![[0_u64; LINE_WORDS]; LINES as usize];
        for hash in (0..items).map(hash) {
            let line = &mut lines[split::place(hash, LINES) as usize];
            line.iter_mut().zip(pattern(shape, hash)).for_each(|(word, mask)| *word |= mask);
        }
        lines
    }

    /// Returns whether the rate measured with this pattern is the rate that follows from the
    /// contents, by exact binomial bounds at alpha = 1e-6.
    fn keeps_the_rate(shape: Shape, pattern: Pattern, implied: Implied) -> bool {
        let lines = filled(shape, pattern, ITEMS);
        let rate = lines.iter().map(|line| implied(shape, line)).sum::<f64>() / LINES as f64;
        let queries = (2000.0 / rate) as u64;
        let hits = (ITEMS..ITEMS + queries).map(hash).filter(|&hash| {
            let line = &lines[split::place(hash, LINES) as usize];
            line.iter().zip(pattern(shape, hash)).all(|(word, mask)| word & mask == mask)
        });
        let binomial = Binomial::new(rate, queries).unwrap();
        let bounds = binomial.inverse_cdf(0.5e-6)..=binomial.inverse_cdf(1.0 - 0.5e-6);
        bounds.contains(&(hits.count() as u64))
    }

    /// Returns the probability that a word has a random mask, by testing every mask at every place.
    fn of_all_masks(probes: u32, word: u64) -> f64 {
        let places = |mask: u64| {
            let bits = (0..64).filter(|bit| mask >> bit & 1 == 1);
            bits.fold(u64::MAX, |places, bit| places & word.rotate_right(bit)).count_ones()
        };
        masks(probes).iter().map(|&mask| f64::from(places(mask))).sum::<f64>() * SAME
    }

    fn in_words(shape: Shape, line: &[u64], chance: fn(u32, u64) -> f64) -> f64 {
        let words = shape.group_words() as usize;
        let groups = line.chunks(words).zip(0..);
        groups
            .map(|(group, number)| {
                let chances = group.iter().map(|&word| chance(shape.group_probes(number), word));
                chances.sum::<f64>() / words as f64
            })
            .product()
    }

    fn in_the_line(shape: Shape, line: &[u64]) -> f64 {
        let ones: u32 = line.iter().map(|word| word.count_ones()).sum();
        (f64::from(ones) / 512.0).powi(shape.probes as i32)
    }

    #[test]
    fn masks_keep_the_rate_and_other_patterns_do_not() {
        let implied: Implied = |shape, line| in_words(shape, line, of_all_masks);
        for (words, probes) in [(1, 4), (1, 5), (2, 8), (4, 11), (4, 16), (8, 16)] {
            let shape = Shape { words, probes };
            assert!(keeps_the_rate(shape, real, implied), "{shape:?}");
        }
        for (words, probes) in [(1, 5), (2, 8), (4, 16)] {
            let shape = Shape { words, probes };
            let mutant = keeps_the_rate(shape, rotated_by_the_picking_bits, implied);
            assert!(!mutant, "{shape:?}: the mutant must fail");
        }
        let shape = Shape { words: 1, probes: 11 };
        assert!(!keeps_the_rate(shape, double_hashing_in_the_line, in_the_line));
    }

    /// A filter reports the rate that follows from its contents, mask by mask: to a few thousandths
    /// at the loads that the sizing chooses, to a hundredth in nearly empty filters. (With one bit
    /// per word the two are the same.)
    #[test]
    fn the_reported_rate_is_that_of_the_contents() {
        for (words, probes) in [(1, 2), (1, 3), (1, 5), (1, 8), (2, 8), (4, 11), (4, 16)] {
            for (items, most) in [(LINES * 10, 0.01), (ITEMS, 0.003), (LINES * 70, 0.002)] {
                let shape = Shape { words, probes };
                let lines = filled(shape, real, items);
                let mean = |chance: fn(u32, u64) -> f64| {
                    lines.iter().map(|line| in_words(shape, line, chance)).sum::<f64>()
                };
                let reported = mean(|probes, word| chance_in_word(probes, word.count_ones()));
                let ratio = reported / mean(of_all_masks);
                assert!((ratio - 1.0).abs() < most, "{shape:?}, {items} items: {ratio}");
            }
        }
    }

    /// The values come from a program in another language, written from the description: no change
    /// of the layout goes unnoticed.
    #[test]
    fn patterns_are_pinned() {
        let pattern = |words, probes| {
            let shape = Shape { words, probes };
            shape.pattern(&shape.tables(), 0x0123_4567_89AB_CDEF).collect::<Vec<_>>()
        };
        assert_eq!(pattern(1, 5), [(5, 0x2000_5001_0000_4000)]);
        assert_eq!(pattern(2, 8), [(2, 0x2000_5001_0000_0000), (7, 0x0200_4000_8001_0000)]);
        assert_eq!(pattern(2, 10), [(2, 0x2000_5001_0000_4000), (7, 0x8200_4000_8001_0000)]);
        let four = [
            (1, 0x2000_5001_0000_0000),
            (2, 0x0240_0000_0008_1000),
            (4, 0x0000_0800_4004_1000),
            (7, 0x0200_0200_4000_0002),
        ];
        assert_eq!(pattern(4, 16), four);
        let eight = [
            (0, 0x2000_4001_0000_0000),
            (1, 0x0010_0000_0100_0010),
            (2, 0x0000_0900_0000_0004),
            (3, 0x0200_0200_0000_0002),
            (4, 0x0010_3000_0000_0000),
            (5, 0x0010_0000_8000_0800),
            (6, 0x8040_0080_0000_0000),
            (7, 0x0000_0020_0004_0000),
        ];
        assert_eq!(pattern(8, 23), eight);
    }

    #[test]
    fn the_constant_shape_is_that_of_the_default_rate() {
        assert_eq!(solve::line(1_000_000, 0.01, false, None).unwrap().1, Shape::DEFAULT);
    }

    #[test]
    fn a_pattern_touches_the_words_of_its_shape() {
        for words in [1, 2, 4, 8] {
            for probes in words..=8 * words {
                let shape = Shape { words, probes };
                let groups: u32 = (0..words).map(|group| shape.group_probes(group)).sum();
                assert_eq!(groups, probes);
                for hash in (0..200).map(|i: u64| i.wrapping_mul(0x1234_5678_9ABC_DEF1)) {
                    let parts: Vec<_> = shape.pattern(&shape.tables(), hash).collect();
                    assert_eq!(parts.len() as u32, words);
                    assert!(parts.iter().zip(0..).all(|(&(index, mask), group)| {
                        index as u32 / shape.group_words() == group
                            && mask.count_ones() == shape.group_probes(group)
                    }));
                }
            }
        }
    }
}
