//! A table as lines of a file, and back with all checks.
//!
//! A line of a file is eight words of 64 bits, with the words of a table's line as their halves,
//! low half first.

use super::Table;
use super::line::{Layout, Line};
use super::sizes::Size;
use crate::error::Error;

/// A line of a file.
pub(in crate::dedup) type Words = [u64; 8];

/// The words of the directory for each shard.
pub(in crate::dedup) const FIELDS: usize = 3;

/// The most bits of a rest.
const MAX_BITS: u64 = 24;

impl Table {
    /// The number of lines.
    pub(in crate::dedup) fn line_count(&self) -> u64 {
        self.size.lines
    }

    /// What the directory says about the table: its lines, its items, and the bits of a rest.
    pub(in crate::dedup) fn fields(&self) -> [u64; FIELDS] {
        [self.size.lines, self.items, self.size.layout.bits.into()]
    }

    /// A line of the table.
    pub(in crate::dedup) fn words(&self, line: u64) -> Words {
        let (pairs, _) = self.memory.lines()[line as usize].as_chunks::<2>();
        core::array::from_fn(|word| {
            let [low, high] = pairs[word];
            u64::from(low) | u64::from(high) << 32
        })
    }

    /// Builds an empty table with the lines and the rests of a directory, which will get its items
    /// line by line. Returns `None` if no table has such fields.
    pub(in crate::dedup) fn of_fields(fields: [u64; FIELDS]) -> Option<Result<Self, Error>> {
        let [lines, items, bits] = fields;
        if lines == 0 || bits > MAX_BITS || u64::from(lines.leading_zeros()) <= bits {
            return None;
        }
        let size = Size { lines, layout: Layout::of_bits(bits as u32) };
        if items > lines.saturating_mul(u64::from(size.layout.slots)) {
            return None;
        }
        Some(Self::of_size(size))
    }

    /// Writes a line of the table, and returns the number of items in it. Returns `None` if no
    /// table has such a line.
    pub(in crate::dedup) fn set_words(&mut self, line: u64, words: &Words) -> Option<u32> {
        let found: Line = core::array::from_fn(|half| {
            let word = words[half / 2];
            (if half % 2 == 0 { word } else { word >> 32 }) as u32
        });
        // Write the slots that the line says are occupied. Every other bit must be zero.
        let layout = self.size.layout;
        let count = (0..layout.slots).take_while(|&slot| found[slot as usize] != 0).count() as u32;
        let mut line_of_slots = Line::default();
        for slot in 0..count {
            let (tag, rest) = layout.get(&found, slot);
            layout.set(&mut line_of_slots, slot, tag, rest);
        }
        if line_of_slots != found {
            return None;
        }
        self.memory.lines_mut()[line as usize] = found;
        self.items += u64::from(count);
        Some(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The lines of any table are read back to the same table.
        #[test]
        fn lines_are_read_as_they_were_written(
            lines in 1_u64..20,
            bits in 0..=24_u32,
            hashes in vec(any::<u64>(), 0..300),
        ) {
            let mut table = Table::of_size(Size { lines, layout: Layout::of_bits(bits) }).expect("small");
            let positions = table.positions;
            for hash in hashes {
                // A table of few lines and no bits cannot grow.
                let _ = table.insert(positions.item(hash));
            }
            let mut again = Table::of_fields(table.fields()).expect("valid").expect("small");
            for line in 0..table.line_count() {
                prop_assert!(again.set_words(line, &table.words(line)).is_some());
            }
            prop_assert!(again.memory.lines() == table.memory.lines());
            prop_assert_eq!(again.fields(), table.fields());
        }

        /// A line is accepted only if it is the line of its slots: the first ones, with tags, and
        /// no bit elsewhere.
        #[test]
        fn other_lines_are_refused(bits in 0..=24_u32, slots in 0..16_u32, tag in 1..=u32::MAX, at in 0..512_u32) {
            let layout = Layout::of_bits(bits);
            let slots = slots % layout.slots;
            let mut line = Line::default();
            (0..slots).for_each(|slot| layout.set(&mut line, slot, tag, u64::from(slot) & layout.mask()));
            let words = |line: &Line| -> Words {
                core::array::from_fn(|word| u64::from(line[2 * word]) | u64::from(line[2 * word + 1]) << 32)
            };
            let fields = [1, 0, u64::from(bits)];
            let mut table = Table::of_fields(fields).expect("valid").expect("small");
            prop_assert_eq!(table.set_words(0, &words(&line)), Some(slots));
            // Where the flipped bit is: in the tag of an occupied slot or the next one, in the rest
            // of an occupied slot, or where no bit may be set.
            let in_tags = at < 32 * (slots + 1).min(layout.slots);
            let rests = 32 * layout.slots..32 * layout.slots + bits * slots;
            line[(at / 32) as usize] ^= 1 << (at % 32);
            let found = table.set_words(0, &words(&line));
            if rests.contains(&at) {
                prop_assert_eq!(found, Some(slots));
            } else if !in_tags {
                prop_assert_eq!(found, None);
            }
        }
    }

    #[test]
    fn fields_of_no_table_are_refused() {
        for fields in
            [[0, 0, 17], [1, 0, 25], [1, 17, 0], [1, 11, 17], [1 << 47, 0, 17], [u64::MAX, 0, 0]]
        {
            assert!(Table::of_fields(fields).is_none(), "{fields:?}");
        }
    }
}
