//! A slice of bits that one bounds check covers: bits are found by a share of the length, without
//! further checks.

use crate::line::{LINE_BITS, LINE_WORDS, Line};
use crate::lines::Lines;
use crate::word::Word;

/// The first bits of [`Lines`], from [`Lines::bit_slice`].
#[derive(Clone, Copy, Debug)]
pub struct BitSlice<'a> {
    lines: &'a [Line],
    /// The number of bits: at most that of the lines.
    bits: u64,
}

impl Lines {
    /// Returns the first `bits` bits.
    ///
    /// # Panics
    ///
    /// If the lines have fewer.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::Lines;
    ///
    /// let lines = Lines::zeroed(2)?;
    /// // A share of one half of 1000 bits is bit 500: bit 52 of word 7.
    /// let (word, bit) = lines.bit_slice(1000).find(1 << 63);
    /// assert!(core::ptr::eq(word, &lines[0].words[7]) && bit == 52);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn bit_slice(&self, bits: u64) -> BitSlice<'_> {
        assert!(bits <= self.len() as u64 * LINE_BITS, "the lines have fewer bits");
        BitSlice { lines: self, bits }
    }
}

impl<'a> BitSlice<'a> {
    /// Returns the word of bit `⌊bits · share / 2^64⌋`, and the bit's number in that word.
    #[inline(always)]
    #[must_use]
    pub fn find(self, share: u64) -> (&'a Word, u64) {
        // The same formula is in the hash crate. It is repeated here so that the safety argument
        // below depends on this file only.
        let place = ((u128::from(share) * u128::from(self.bits)) >> 64) as u64;
        let number = (place / 64) as usize;
        if const { size_of::<Line>() != LINE_WORDS * size_of::<Word>() } {
            // A model checker's words have another size: compute line and word, with checks.
            return (&self.lines[number / LINE_WORDS].words[number % LINE_WORDS], place % 64);
        }
        // SAFETY: the share is below 2^64, so the place is below `bits`, or 0 if `bits` is 0.
        // `bit_slice` has checked that the lines have `bits` bits, and `Lines` has at least one
        // line, so also bit 0. A line has the size of its eight words, as checked above, so it
        // contains nothing else and all words are contiguous. The slice borrows the lines, so no
        // word is borrowed mutably.
        let word = unsafe { self.lines.as_ptr().cast::<Word>().add(number) };
        // SAFETY: as above.
        let word = unsafe { &*word };
        (word, place % 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_returns_the_bit_of_the_share() {
        let lines = Lines::zeroed(3).unwrap();
        for bits in [0, 1, 63, 64, 65, 512, 513, 1535, 1536] {
            let slice = lines.bit_slice(bits);
            for share in [0, 1, 1 << 62, 1 << 63, u64::MAX - 1, u64::MAX] {
                let (word, bit) = slice.find(share);
                let place = ((u128::from(share) * u128::from(bits)) >> 64) as u64;
                assert!(core::ptr::eq(word, lines.word((place / 64) as usize)), "{bits} {share}");
                assert_eq!(bit, place % 64);
                assert!(place < bits.max(1));
            }
        }
    }

    #[test]
    #[should_panic(expected = "the lines have fewer bits")]
    fn a_slice_longer_than_the_lines_panics() {
        let _ = Lines::zeroed(3).unwrap().bit_slice(1537);
    }
}
