//! One line of a table: sixteen words that hold as many slots as their bits allow.
//!
//! A slot is a tag of 32 bits and a rest of a few bits. A tag of 0 marks an empty slot. The tags
//! are the first words of the line, so that one vector comparison finds a tag; the rests are packed
//! behind them. Fewer bits in a rest leave place for more slots:
//!
//! | bits of a rest | 20 to 24 | 15 to 19 | 11 to 14 | 8 to 10 | 5 to 7 | 3 to 4 | 1 to 2 | 0 |
//! |---|---:|---:|---:|---:|---:|---:|---:|---:|
//! | slots | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16 |

/// The words of a line.
const WORDS: u32 = 16;

/// One cache line.
pub(super) type Line = [u32; WORDS as usize];

/// How the words of a line are divided into slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The bits of a rest.
    pub(super) bits: u32,
    /// The number of slots.
    pub(super) slots: u32,
}

impl Layout {
    /// The most slots for rests of `bits` bits, at most 24.
    pub(super) const fn of_bits(bits: u32) -> Self {
        Self { bits, slots: 32 * WORDS / (32 + bits) }
    }

    /// All layouts, from the most slots to the fewest. The rests take all bits that the tags leave.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (9..=WORDS).rev().map(|slots| Self { bits: 32 * WORDS / slots - 32, slots })
    }

    /// Returns whether a slot contains this tag and this rest.
    #[inline]
    pub(super) fn contains(self, line: &Line, tag: u32, rest: u64) -> bool {
        (0..self.slots).any(|slot| self.get(line, slot) == (tag, rest))
    }

    /// Returns the number of occupied slots, which are the first ones.
    #[inline]
    pub(super) fn count(self, line: &Line) -> u32 {
        // All words, not only the tags: the compiler turns a loop of constant length into vector
        // instructions.
        (0..WORDS).map(|slot| u32::from(slot < self.slots && line[slot as usize] != 0)).sum()
    }

    /// Returns the tag and the rest of a slot.
    #[inline]
    pub(super) fn get(self, line: &Line, slot: u32) -> (u32, u64) {
        let [low, high] = self.words(slot);
        let both = u64::from(line[low]) | u64::from(line[high]) << 32;
        (line[(slot % WORDS) as usize], both >> self.shift(slot) & self.mask())
    }

    /// Writes a slot. `rest` must have no more than the bits of a rest.
    #[inline]
    pub(super) fn set(self, line: &mut Line, slot: u32, tag: u32, rest: u64) {
        line[(slot % WORDS) as usize] = tag;
        let [low, high] = self.words(slot);
        let (mask, rest) = (self.mask() << self.shift(slot), rest << self.shift(slot));
        line[low] = line[low] & !(mask as u32) | rest as u32;
        line[high] = line[high] & !((mask >> 32) as u32) | (rest >> 32) as u32;
    }

    /// The bits of a rest, all set.
    #[inline]
    pub(super) const fn mask(self) -> u64 {
        (1 << self.bits) - 1
    }

    /// The two words that contain the rest of a slot. If one word contains it, the other is any
    /// word: no bit of that is used. (Rests end with the line, so the word after the last is never
    /// needed.)
    #[inline]
    const fn words(self, slot: u32) -> [usize; 2] {
        let word = self.first_bit(slot) / 32;
        [(word % WORDS) as usize, ((word + 1) % WORDS) as usize]
    }

    /// How many bits of the two words come before the rest of a slot.
    #[inline]
    const fn shift(self, slot: u32) -> u32 {
        self.first_bit(slot) % 32
    }

    #[inline]
    const fn first_bit(self, slot: u32) -> u32 {
        32 * self.slots + self.bits * slot
    }
}

/// Returns whether a word of the line is equal to this tag. If it is none of the tags but a part of
/// a rest, a slot with this tag may be missing.
#[inline]
pub(super) fn contains(line: &Line, tag: u32) -> bool {
    line.iter().fold(false, |found, &word| found | (word == tag))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_hold_as_many_slots_as_fit() {
        for bits in 0..=24 {
            let Layout { slots, .. } = Layout::of_bits(bits);
            let most = |slots| slots * (32 + bits) <= 512;
            assert!(most(slots) && !most(slots + 1), "{bits}");
        }
        for layout in Layout::all() {
            assert_eq!(Layout::of_bits(layout.bits), layout);
            assert_ne!(Layout::of_bits(layout.bits + 1).slots, layout.slots);
        }
    }

    proptest! {
        /// Slots keep what was written last, whatever is written to the others.
        #[test]
        fn slots_are_independent(
            bits in 0..=24_u32,
            writes in vec((any::<u32>(), 1..=u32::MAX, any::<u64>()), 1..60),
        ) {
            let layout = Layout::of_bits(bits);
            let mut line = Line::default();
            let mut expected = vec![(0, 0); layout.slots as usize];
            for (slot, tag, rest) in writes {
                // The first slots are the occupied ones.
                let slot = slot % layout.slots.min(1 + layout.count(&line));
                let rest = rest & layout.mask();
                layout.set(&mut line, slot, tag, rest);
                expected[slot as usize] = (tag, rest);
                let slots: Vec<_> = (0..layout.slots).map(|slot| layout.get(&line, slot)).collect();
                prop_assert_eq!(&slots, &expected);
                prop_assert!(layout.contains(&line, tag, rest) && contains(&line, tag));
                let occupied = expected.iter().take_while(|&&(tag, _)| tag != 0).count();
                prop_assert_eq!(layout.count(&line) as usize, occupied);
                let absent = (tag, rest ^ 1 & layout.mask());
                prop_assert_eq!(layout.contains(&line, absent.0, absent.1), expected.contains(&absent));
            }
        }
    }
}
