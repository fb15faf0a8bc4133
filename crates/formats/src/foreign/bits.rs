//! An array of bits, in the orders that the systems use.
//!
//! Bit `p` is bit `p mod 8` of byte `p / 8`, from the least significant on. That is also bit `p mod 64` of the
//! little-endian word `p / 64`. A system with big-endian words turns the bytes of each word around, when it reads and when
//! it writes.

use std::io;

use zerocopy::FromZeros;

use super::Error;

/// An array of bits.
#[derive(Clone, Debug)]
pub(crate) struct BitArray(Vec<u8>);

impl BitArray {
    /// Makes an array of this number of zero bytes. The operating system provides a page when it is first written.
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
        words.iter_mut().for_each(|word| word.reverse());
        Ok(array)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Writes the array as big-endian words.
    pub(crate) fn write_big_endian_words(&self, to: &mut dyn io::Write) -> io::Result<()> {
        let (words, _) = self.0.as_chunks::<8>();
        let mut buffer = [[0; 8]; 512];
        for words in words.chunks(buffer.len()) {
            let turned = &mut buffer[..words.len()];
            turned.copy_from_slice(words);
            turned.iter_mut().for_each(|word| word.reverse());
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
