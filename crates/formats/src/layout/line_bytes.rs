//! A line as words and as the bytes of a file: little-endian words.

use tamis_sync::{LINE_BYTES, LINE_WORDS};

/// The words of a line.
pub(crate) type Words = [u64; LINE_WORDS];

/// The bytes of lines in a file.
pub(crate) type Bytes = [[u8; LINE_BYTES]];

/// Returns the words of a line.
pub(crate) fn words_of(bytes: &[u8; LINE_BYTES]) -> Words {
    let (words, _) = bytes.as_chunks::<8>();
    core::array::from_fn(|word| u64::from_le_bytes(words[word]))
}

/// Returns the bytes of a line in a file.
#[inline(always)]
pub(crate) fn bytes_of(words: Words) -> [u8; LINE_BYTES] {
    let mut bytes = [0; LINE_BYTES];
    let (to, _) = bytes.as_chunks_mut::<8>();
    to.iter_mut().zip(words).for_each(|(to, word)| *to = word.to_le_bytes());
    bytes
}

/// Turns the words of a file into those of this processor, or back.
pub(crate) fn swap_on_big_endian(bytes: &mut Bytes) {
    if cfg!(target_endian = "big") {
        let (words, _) = bytes.as_flattened_mut().as_chunks_mut::<8>();
        words.iter_mut().for_each(|word| word.reverse());
    }
}
