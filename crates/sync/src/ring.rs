//! An array of words whose number is a power of two, so that any number selects one.

use core::{fmt, slice};

use crate::line::{LINE_WORDS, Line};
use crate::lines::{AllocError, Lines};
use crate::word::Word;

/// Whether a line is not just its eight words: the words of a model checker have another size.
const MODELLED: bool = size_of::<Line>() != LINE_WORDS * size_of::<Word>();

/// Words, of which a key selects one by its low bits, without a bounds check.
///
/// # Examples
///
/// ```
/// use tamis_sync::{Ordering, Ring};
///
/// let ring = Ring::zeroed(16)?;
/// // ORDERING: Relaxed, both: there is one thread.
/// ring.word(0x35).fetch_or(7, Ordering::Relaxed);
/// assert_eq!(ring.word(5).load(Ordering::Relaxed), 7);
/// # Ok::<(), tamis_sync::AllocError>(())
/// ```
pub struct Ring {
    /// Never replaced: it has at least `mask + 1` words.
    lines: Lines,
    /// The number of words minus 1: one less than a power of two.
    mask: usize,
}

impl Ring {
    /// Creates words of zeros. Their number is rounded up to a power of two, at least 1.
    ///
    /// # Errors
    ///
    /// [`AllocError`] if the allocation failed.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Ring::zeroed(100)?.len(), 128);
    /// assert!(tamis_sync::Ring::zeroed(u64::MAX).is_err());
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    pub fn zeroed(count: u64) -> Result<Self, AllocError> {
        // On overflow this requests an impossible number of lines, which fails as an allocation
        // does.
        let count = count.checked_next_power_of_two().unwrap_or(u64::MAX);
        let lines = Lines::zeroed(count.div_ceil(LINE_WORDS as u64))?;
        // The lines exist, so the number of their words fits.
        Ok(Self { lines, mask: count as usize - 1 })
    }

    /// Returns the number of words.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Ring::zeroed(0)?.len(), 1);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[expect(clippy::len_without_is_empty, reason = "there is at least one")]
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.mask + 1
    }

    /// Returns the number of the word that a key selects: its low bits.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Ring::zeroed(16)?.index(0x35), 5);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn index(&self, key: u64) -> usize {
        key as usize & self.mask
    }

    /// Returns the word that a key selects.
    ///
    /// # Examples
    ///
    /// ```
    /// let ring = tamis_sync::Ring::zeroed(16)?;
    /// assert!(core::ptr::eq(ring.word(3), ring.word(19)));
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn word(&self, key: u64) -> &Word {
        let number = self.index(key);
        if MODELLED {
            return self.lines.word(number);
        }
        // SAFETY: `number` is at most `mask`, and there are `mask + 1` words.
        unsafe { self.words().get_unchecked(number) }
    }

    /// Returns the words, if they are not [`MODELLED`].
    #[inline(always)]
    fn words(&self) -> &[Word] {
        // SAFETY: a line is just its eight words, so the lines are contiguous words. `zeroed`
        // allocated at least `mask + 1`. Nothing replaces the lines or changes `mask`.
        unsafe { slice::from_raw_parts(self.lines.as_ptr().cast::<Word>(), self.mask + 1) }
    }

    /// Returns the sum of the words that these keys select, each loaded in turn by `load`. It
    /// wraps.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::{Ordering, Ring};
    ///
    /// let ring = Ring::zeroed(16)?;
    /// // ORDERING: Relaxed, all three: there is one thread.
    /// ring.word(2).store(5, Ordering::Relaxed);
    /// ring.word(3).store(7, Ordering::Relaxed);
    /// assert_eq!(ring.sum(&[2, 18, 3, 4], |word| word.load(Ordering::Relaxed)), 17);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    // Not inlined, and of a slice: with a number of keys that it knows, the compiler keeps all
    // loaded words, to add them up later. It takes a function, not an ordering: on an
    // ordering the loop would branch.
    #[inline(never)]
    #[must_use]
    pub fn sum(&self, keys: &[u64], load: impl Fn(&Word) -> u64) -> u64 {
        if MODELLED {
            return keys.iter().fold(0, |sum, &key| sum.wrapping_add(load(self.word(key))));
        }
        // In variables: from memory the compiler must load them again after each Acquire load.
        let (words, mask) = (self.words(), self.mask);
        let add = |sum: u64, &key: &u64| {
            // SAFETY: as in `word`.
            let word = unsafe { words.get_unchecked(key as usize & mask) };
            sum.wrapping_add(load(word))
        };
        let (chunks, rest) = keys.as_chunks::<4>();
        let sum = chunks.iter().fold(0, |sum, keys| keys.iter().fold(sum, add));
        rest.iter().fold(sum, add)
    }
}

/// Prints the number of words.
impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use super::*;
    use crate::Ordering;

    /// Every key reaches a word of the lines, and the words differ.
    #[test]
    fn keys_select_words_by_their_low_bits() {
        for count in [0, 1, 2, 7, 8, 9, 256] {
            let ring = Ring::zeroed(count).unwrap();
            let len = ring.len() as u64;
            assert_eq!(len, count.max(1).next_power_of_two());
            for number in 0..len {
                // ORDERING: Relaxed, both: there is one thread.
                ring.word(number).store(number + 1, Ordering::Relaxed);
                assert!(core::ptr::eq(ring.word(number), ring.lines.word(number as usize)));
            }
            for key in [0, 1, len - 1, len, 12_345, u64::MAX] {
                // ORDERING: likewise.
                assert_eq!(ring.word(key).load(Ordering::Relaxed), key % len + 1);
                // ORDERING: likewise.
                assert_eq!(
                    ring.sum(&[key, 0, key], |word| word.load(Ordering::Relaxed)),
                    2 * (key % len) + 3
                );
            }
        }
    }
}
