//! A pattern within one 64-byte line: `probes` bits spread over a few of its eight words.
//!
//! The eight words form `words` groups (1, 2, 4 or 8 of them). In each group the item picks one word
//! and in it a few bits, so that it touches exactly `words` words: the price of an atomic insert is
//! the number of words, whose atomic operations do not overlap (measured beside `WORD_PRICE`).
//!
//! ```text
//! words = 2   │ 0 │ 1 │ 2 │ 3 ║ 4 │ 5 │ 6 │ 7 │     one of 0..4 and one of 4..8
//! ```
//!
//! A group's part of a 64-bit pattern is six bits for each of its bits, then up to three to pick the word;
//! as many groups as find room in the top 51 bits share a pattern. Bits are drawn independently, so two may
//! fall together; the sizing knows.

use tamis_hash::split;
use tamis_sync::LINE_WORDS;

/// The bits of a pattern that are good, from its top.
const GOOD_BITS: u32 = 51;

/// Probes in one word at most: 8 · 6 + 3 bits of a pattern.
pub(crate) const MOST_PROBES_A_WORD: u32 = 8;

/// Probes in a line at most.
pub(crate) const MOST_PROBES: u32 = 32;

/// How the bits of an item lie in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// Words that an item touches, which is the number of groups: 1, 2, 4 or 8.
    pub(crate) words: u32,
    /// Bits that an item sets, some perhaps twice: from `words` to `8 · words`.
    pub(crate) probes: u32,
}

impl Shape {
    /// What the sizing chooses for the default rate.
    pub(crate) const OFTEN: Self = Self { words: 1, probes: 5 };
    /// What it chooses for 0.1 %.
    pub(crate) const FOR_1E_3: Self = Self { words: 2, probes: 8 };
    /// What it chooses for 0.01 %.
    pub(crate) const FOR_1E_4: Self = Self { words: 2, probes: 10 };
    /// What it chooses for 1e-6.
    pub(crate) const FOR_1E_6: Self = Self { words: 4, probes: 16 };

    /// Words in a group.
    #[inline]
    pub(crate) const fn group_words(self) -> u32 {
        LINE_WORDS as u32 >> self.log_words()
    }

    /// Probes in the word of this group: as even as can be, the first groups take the rest.
    #[inline]
    pub(crate) const fn group_probes(self, group: u32) -> u32 {
        (self.probes + self.words - 1 - group) >> self.log_words()
    }

    /// To divide by the words by a shift: a division would cost as much as all else.
    #[inline]
    const fn log_words(self) -> u32 {
        self.words.trailing_zeros()
    }

    /// The words of the line, and the bits in each, that an item with this hash means.
    #[inline(always)]
    pub(crate) const fn pattern(self, hash: u64) -> Pattern {
        Pattern { shape: self, group: 0, bits: split::pattern(hash), cut: self.cut() }
    }

    /// A pattern that nothing was taken from yet.
    #[inline(always)]
    pub(super) const fn cut(self) -> Cut {
        Cut { left: 64, group: 6 * self.group_probes(0) + self.log_group_words() }
    }

    /// The word of a group that the lowest of these bits pick.
    #[inline(always)]
    pub(super) const fn word(self, group: u32, bits: u64) -> u64 {
        let words = self.group_words();
        (group * words) as u64 + (bits & (words - 1) as u64)
    }

    #[inline]
    pub(super) const fn log_group_words(self) -> u32 {
        self.group_words().trailing_zeros()
    }
}

/// The words and bits of an item, from [`Shape::pattern`].
///
/// A type of its own, and not a `map`, for its `next` to be inlined come what may: where the compiler found the
/// loop too much to inline, a query took 11 ns instead of 4.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    shape: Shape,
    group: u32,
    bits: u64,
    cut: Cut,
}

impl Pattern {
    /// All at once, for who needs them twice: before a lock is taken, too, since what is computed under it keeps
    /// the next item waiting. MEASURED: an insert of 16 bits in 4 words takes 23 ns so, and 34 otherwise.
    #[inline(always)]
    pub(crate) fn parts(self) -> impl Iterator<Item = (usize, u64)> + Clone {
        let count = self.shape.words as usize;
        let mut parts = [(0, 0); LINE_WORDS];
        for (to, part) in parts.iter_mut().zip(self) {
            *to = part;
        }
        parts.into_iter().take(count)
    }
}

impl Iterator for Pattern {
    type Item = (usize, u64);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, u64)> {
        let Self { shape, group, .. } = *self;
        if group == shape.words {
            return None;
        }
        if !self.cut.has_room() {
            (self.bits, self.cut) = (split::next_pattern(self.bits), shape.cut());
        }
        let mut mask = 0;
        for _ in 0..shape.group_probes(group) {
            mask = with_bit(mask, self.bits >> self.cut.take(6));
        }
        let word = shape.word(group, self.bits >> self.cut.take(shape.log_group_words()));
        self.group += 1;
        // The remainder changes nothing, and spares the check of a bound.
        Some((word as usize % LINE_WORDS, mask))
    }
}

/// How far a pattern is used up, from its top down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Bits not yet taken.
    left: u32,
    /// Bits that a group takes, at most.
    group: u32,
}

impl Cut {
    /// Whether the good bits suffice for another group.
    #[inline(always)]
    pub(super) const fn has_room(self) -> bool {
        self.left >= self.group + (64 - GOOD_BITS)
    }

    /// Takes so many bits: by how much the pattern is to be shifted for them to be the lowest.
    #[inline(always)]
    pub(super) const fn take(&mut self, bits: u32) -> u32 {
        self.left -= bits;
        self.left
    }
}

/// The mask with one more bit: the lowest, which is then turned away, with those before it, by as many places
/// as the lowest six bits of `by` say. So each bit is as far from the next as they say, and as they are
/// independent the places are.
///
/// MEASURED: a query for 5 bits of a word in L2 takes 4.2 ns on a Zen 4, and 5.0 if each bit is a 1 shifted to
/// its own place: that needs a register for the 1, and setting a bit by its number is two operations there. (On an
/// Emerald Rapids, where it is one, 5.2 and 4.8.)
#[inline(always)]
pub(super) const fn with_bit(mask: u64, by: u64) -> u64 {
    (mask | 1).rotate_left((by % 64) as u32)
}

#[cfg(test)]
mod tests {
    //! The rate test of `tests/rate.rs`, on patterns that can be exchanged: the real one passes, and
    //! double hashing in its place is refused.

    use std::vec;

    use statrs::distribution::{Binomial, DiscreteCDF};
    use tamis_hash::{Rapid, split};

    use super::*;

    const ITEMS: u64 = 50_000;
    /// 20 bits an item, where patterns that repeat show most.
    const LINES: u64 = ITEMS * 20 / 512;

    /// An item's pattern as a whole line.
    type Pattern = fn(Shape, u64) -> [u64; LINE_WORDS];

    fn real(shape: Shape, hash: u64) -> [u64; LINE_WORDS] {
        let mut line = [0; LINE_WORDS];
        shape.pattern(hash).for_each(|(index, mask)| line[index] |= mask);
        line
    }

    /// In each word bits `a`, `a + b`, `a + 2b`, … instead of independent ones.
    fn double_hashing_in_words(shape: Shape, hash: u64) -> [u64; LINE_WORDS] {
        let mut line = [0; LINE_WORDS];
        for group in 0..shape.words {
            let bits = split::pattern(hash.rotate_left(16 * group));
            let index =
                (group * shape.group_words()) as u64 + bits % u64::from(shape.group_words());
            let (a, b) = (bits >> 58, bits >> 52 & 63);
            for i in 0..u64::from(shape.group_probes(group)) {
                line[index as usize] |= 1 << ((a + i * b) % 64);
            }
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

    /// Whether the rate measured with this pattern is the one that the contents imply for independent
    /// bits, by exact binomial bounds at alpha 1e-6.
    fn keeps_the_rate(shape: Shape, pattern: Pattern, implied: fn(Shape, &[u64]) -> f64) -> bool {
        let hash = |i: u64| Rapid::with_seed(2).hash_bytes(&i.to_le_bytes());
        let mut lines = vec![[0_u64; LINE_WORDS]; LINES as usize];
        for hash in (0..ITEMS).map(hash) {
            let line = &mut lines[split::place(hash, LINES) as usize];
            line.iter_mut().zip(pattern(shape, hash)).for_each(|(word, mask)| *word |= mask);
        }
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

    fn in_words(shape: Shape, line: &[u64]) -> f64 {
        let words = shape.group_words() as usize;
        let groups = line.chunks(words).zip(0..);
        groups
            .map(|(group, number)| {
                let probes = shape.group_probes(number) as i32;
                let chance = |word: &u64| (f64::from(word.count_ones()) / 64.0).powi(probes);
                group.iter().map(chance).sum::<f64>() / words as f64
            })
            .product()
    }

    fn in_the_line(shape: Shape, line: &[u64]) -> f64 {
        let ones: u32 = line.iter().map(|word| word.count_ones()).sum();
        (f64::from(ones) / 512.0).powi(shape.probes as i32)
    }

    #[test]
    fn independent_bits_keep_the_rate_and_double_hashing_does_not() {
        for shape in [(1, 4), (2, 8), (4, 11), (4, 12), (8, 16)] {
            let shape = Shape { words: shape.0, probes: shape.1 };
            assert!(keeps_the_rate(shape, real, in_words), "{shape:?}");
        }
        // With three bits a word or fewer there is little to repeat; from four on it shows.
        for (words, probes) in [(1, 6), (2, 8), (4, 20)] {
            let shape = Shape { words, probes };
            let mutant = keeps_the_rate(shape, double_hashing_in_words, in_words);
            assert!(!mutant, "{shape:?}: the mutant must be refused");
        }
        let shape = Shape { words: 1, probes: 11 };
        assert!(!keeps_the_rate(shape, double_hashing_in_the_line, in_the_line));
    }

    /// By a program of another language, from the description: what an item means never changes unseen.
    #[test]
    fn patterns_are_pinned() {
        let pattern = |words, probes| {
            let shape = Shape { words, probes };
            shape.pattern(0x0123_4567_89AB_CDEF).collect::<std::vec::Vec<_>>()
        };
        assert_eq!(pattern(1, 5), [(6, 0x4000_08C8)]);
        assert_eq!(pattern(2, 8), [(0, 0x2000_0000_0100_0022), (7, 0x0080_2000_0008_1000)]);
        assert_eq!(pattern(2, 10), [(3, 0x4000_08C8), (5, 0x0080_4010_0000_0408)]);
        let four = [
            (0, 0x2000_0000_0100_0022),
            (2, 0x0000_8010_0080_0400),
            (5, 0x0080_2000_0008_1000),
            (7, 0x0000_0040_0020_1008),
        ];
        assert_eq!(pattern(4, 16), four);
        let eight = [
            (0, 0x0000_0000_0800_0110),
            (1, 0x0490_0000_0000_0000),
            (2, 0x0200_0010_0400_0000),
            (3, 0x0000_0002_0080_4000),
            (4, 0x0080_0800_0000_1000),
            (5, 0x0002_0804_0000_0000),
            (6, 0x0004_0000_0000_0022),
            (7, 0x0000_0000_0000_0009),
        ];
        assert_eq!(pattern(8, 23), eight);
    }

    #[test]
    fn a_pattern_touches_as_many_words_as_the_shape_says() {
        for words in [1, 2, 4, 8] {
            for probes in words..=8 * words {
                let shape = Shape { words, probes };
                let groups: u32 = (0..words).map(|group| shape.group_probes(group)).sum();
                assert_eq!(groups, probes);
                for hash in (0..200).map(|i: u64| i.wrapping_mul(0x1234_5678_9ABC_DEF1)) {
                    let parts: std::vec::Vec<_> = shape.pattern(hash).collect();
                    assert_eq!(parts.len() as u32, words);
                    assert!(parts.iter().zip(0..).all(|(&(index, mask), group)| {
                        index as u32 / shape.group_words() == group
                            && (1..=shape.group_probes(group)).contains(&mask.count_ones())
                    }));
                }
            }
        }
    }
}
