//! The first bits of some lines, found by their share of the whole: one check of a bound for any number of them.

use crate::Word;
use crate::lines::{LINE_BITS, LINE_WORDS, Line, Lines};

/// The first bits of some [`Lines`], from [`Lines::bit_slice`].
#[derive(Clone, Copy, Debug)]
pub struct BitSlice<'a> {
    lines: &'a [Line],
    /// As many as the lines have, at most.
    bits: u64,
}

impl Lines {
    /// The first so many bits.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::Lines;
    ///
    /// let lines = Lines::zeroed(2)?;
    /// // Half of 1000 bits on lies bit 500: bit 52 of word 7.
    /// let (word, bit) = lines.bit_slice(1000).find(1 << 63);
    /// assert!(core::ptr::eq(word, &lines[0].words[7]) && bit == 52);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn bit_slice(&self, bits: u64) -> BitSlice<'_> {
        assert!(bits.saturating_sub(1) / LINE_BITS < self.len() as u64, "no such bits");
        BitSlice { lines: self, bits }
    }
}

impl<'a> BitSlice<'a> {
    /// The word with the bit that lies `share / 2^64` of the whole on, and the bit's number in it.
    ///
    /// # Examples
    ///
    /// See [`Lines::bit_slice`].
    #[inline(always)]
    #[must_use]
    pub fn find(self, share: u64) -> (&'a Word, u64) {
        // Here, though it stands in the hasher crate too: what is unsafe trusts nothing that it does not see.
        let place = ((u128::from(share) * u128::from(self.bits)) >> 64) as u64;
        let number = (place / 64) as usize;
        if const { size_of::<Line>() != LINE_WORDS * size_of::<Word>() } {
            // The models' words are of another size.
            return (&self.lines[number / LINE_WORDS].words[number % LINE_WORDS], place % 64);
        }
        // SAFETY: the share is below 2^64, so the place is below `bits`, or 0 if they are none; either way `span` has
        // seen that the lines have it. A line is its eight words and, as the sizes say, nothing else, so that they
        // lie in a row. No word is borrowed for writing while the span borrows the lines.
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
    fn a_bit_is_found_where_its_share_says() {
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
    #[should_panic(expected = "no such bits")]
    fn more_bits_than_there_are() {
        let _ = Lines::zeroed(3).unwrap().bit_slice(1537);
    }
}
