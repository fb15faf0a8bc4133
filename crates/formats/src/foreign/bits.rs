//! An array of bits, in the orders that the systems use.
//!
//! Bit `p` is bit `p mod 8` of byte `p / 8`, from the least significant on. That is also bit `p mod
//! 64` of the little-endian word `p / 64`. A system with big-endian words turns the bytes of each
//! word around, when it reads and when it writes.

use core::fmt;
use core::ops::Range;
use std::io;

use zerocopy::FromZeros;

use super::error::Error;

/// An array of bits.
#[derive(Clone)]
pub(super) struct BitArray(Vec<u8>);

/// Writes the length, not the bits.
impl fmt::Debug for BitArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BitArray({} bytes)", self.0.len())
    }
}

impl BitArray {
    /// Makes an array of this number of zero bytes. The operating system provides a page when it is
    /// first written.
    pub(crate) fn zeroed(bytes: u64) -> Result<Self, Error> {
        let count = usize::try_from(bytes).map_err(|_| Error::Alloc { bytes })?;
        let array = u8::new_vec_zeroed(count).map_err(|_| Error::Alloc { bytes })?;
        Ok(Self(array))
    }

    /// Copies the bytes of a file.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut array = Vec::new();
        let count = bytes.len();
        array.try_reserve_exact(count).map_err(|_| Error::Alloc { bytes: count as u64 })?;
        array.extend_from_slice(bytes);
        Ok(Self(array))
    }

    /// Copies the bytes of a file whose words are big-endian. Their number must be a multiple of 8.
    pub(crate) fn of_big_endian_words(bytes: &[u8]) -> Result<Self, Error> {
        let mut array = Self::of_bytes(bytes)?;
        let (words, _) = array.0.as_chunks_mut::<8>();
        words.iter_mut().for_each(turn);
        Ok(array)
    }

    /// Replaces the last bytes by these. The array must not have fewer.
    pub(crate) fn set_last<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(last) = self.0.last_chunk_mut() {
            *last = bytes;
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn as_bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Writes the array as big-endian words.
    pub(crate) fn write_big_endian_words(&self, to: &mut dyn io::Write) -> io::Result<()> {
        let (words, _) = self.0.as_chunks::<8>();
        let mut buffer = [[0; 8]; 512];
        for words in words.chunks(buffer.len()) {
            let turned = &mut buffer[..words.len()];
            turned.copy_from_slice(words);
            turned.iter_mut().for_each(turn);
            to.write_all(turned.as_flattened())?;
        }
        Ok(())
    }

    /// Returns a bit. The place must be in the array.
    pub(crate) fn get(&self, place: u64) -> bool {
        self.0[(place / 8) as usize] >> (place % 8) & 1 == 1
    }

    /// Sets a bit. The place must be in the array. Returns whether it was zero.
    pub(crate) fn set(&mut self, place: u64) -> bool {
        let byte = &mut self.0[(place / 8) as usize];
        let old = *byte;
        *byte |= 1 << (place % 8);
        *byte != old
    }

    /// Sets the bits of another array of the same length.
    pub(crate) fn unite(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(byte, other)| *byte |= other);
    }

    /// Returns how many of these bits are set. They must be in the array.
    pub(crate) fn ones(&self, bits: Range<u64>) -> u64 {
        let (first, end) = (bits.start.div_ceil(8), bits.end / 8);
        if first > end {
            return bits.filter(|&place| self.get(place)).count() as u64;
        }
        let (words, rest) = self.0[first as usize..end as usize].as_chunks::<8>();
        let in_words = words.iter().map(|word| u64::from_le_bytes(*word).count_ones());
        let in_rest = rest.iter().map(|byte| byte.count_ones());
        let in_bytes: u64 = in_words.chain(in_rest).map(u64::from).sum();
        let edges = (bits.start..8 * first).chain(8 * end..bits.end);
        in_bytes + edges.filter(|&place| self.get(place)).count() as u64
    }

    /// Returns the 4 bits from bit `4 place` on. They must be in the array.
    pub(crate) fn nibble(&self, place: u64) -> u8 {
        self.0[(place / 2) as usize] >> (4 * (place % 2)) & 15
    }

    /// Writes the 4 bits from bit `4 place` on. They must be in the array.
    pub(crate) fn set_nibble(&mut self, place: u64, value: u8) {
        let shift = 4 * (place % 2);
        let byte = &mut self.0[(place / 2) as usize];
        *byte = *byte & !(15 << shift) | (value & 15) << shift;
    }
}

/// Turns the bytes of a word around. As a number, it takes one instruction even in a build for
/// tests.
fn turn(word: &mut [u8; 8]) {
    *word = u64::from_ne_bytes(*word).swap_bytes().to_ne_bytes();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ones_are_counted_from_any_bit_to_any_other() {
        let bytes: Vec<u8> = (0..40).map(|byte: u8| byte.wrapping_mul(0x9d) ^ 0x35).collect();
        let bits = BitArray::of_bytes(&bytes).unwrap();
        for start in 0..320 {
            for end in start..=320 {
                let expected = (start..end).filter(|&place| bits.get(place)).count() as u64;
                assert_eq!(bits.ones(start..end), expected, "{start}..{end}");
            }
        }
    }
}
