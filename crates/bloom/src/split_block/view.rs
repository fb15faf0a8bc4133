//! Queries over borrowed bytes.

use core::fmt;

use tamis_sync::{Block, SimdLevel};

use super::block::{Answer, Contains, LANE_BITS, LANES, Ones, Weigh, place};
use super::error::Error;
use super::sizes::{self, MAX_BLOCKS};

/// The bits of a filter somewhere in memory, such as a mapped file, at any alignment.
///
/// It costs one check of the length, and no copy. Blocks that are not aligned to 32 bytes often lie
/// in two cache lines.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::bloom::split_block::{SplitBlockFilter, View};
///
/// let mut filter = SplitBlockFilter::with_bytes(96)?;
/// filter.insert_hash(0x0123_4567_89ab_cdef);
/// let file = [b"header", filter.as_bytes()].concat();
/// let view = View::new(&file[6..])?;
/// assert!(view.contains_hash(0x0123_4567_89ab_cdef) && !view.contains_hash(7));
/// # Ok::<(), tamis::bloom::split_block::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// At least one, and at most [`MAX_BLOCKS`].
    blocks: &'a [Block],
    simd: SimdLevel,
}

/// The hashes that a call with a callback answers at a time, by eight.
const BYTES_AT_ONCE: usize = 32;

impl<'a> View<'a> {
    /// Takes the bytes of a filter.
    ///
    /// # Errors
    ///
    /// [`Error::Bytes`] if they are not between 1 and 2^32 blocks of 32 bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::View;
    /// assert!(View::new(&[0; 64]).is_ok() && View::new(&[0; 65]).is_err() && View::new(&[]).is_err());
    /// ```
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        check(bytes.len() as u64)?;
        Ok(Self::of_blocks(bytes.as_chunks().0, SimdLevel::detect()))
    }

    #[inline(always)]
    pub(super) const fn of_blocks(blocks: &'a [Block], simd: SimdLevel) -> Self {
        Self { blocks, simd }
    }

    /// Returns whether a hash may have been inserted: `false` only if it was not.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::View;
    /// assert!(!View::new(&[0; 32])?.contains_hash(1));
    /// assert!(View::new(&[0xff; 32])?.contains_hash(1));
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        let block = &self.blocks[place(hash, self.blocks.len())];
        self.simd.run(Contains(block, hash as u32))
    }

    /// Answers many hashes: bit `i mod 8` of byte `i / 8` of `bitmap`, from the lowest on, becomes
    /// the answer to hash `i`, and the bits after the last are cleared up to the end of its byte.
    /// Returns the number of hits. Blocks are requested ahead of their turn.
    ///
    /// # Errors
    ///
    /// [`Error::Bitmap`] if the bitmap has fewer bits than there are hashes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::{Error, SplitBlockFilter};
    ///
    /// let mut filter = SplitBlockFilter::with_bytes(1024)?;
    /// filter.insert_hashes(&[3, 5]);
    /// let mut bitmap = [0];
    /// let hits = filter.view().contains_hashes(&[3, 4, 5], &mut bitmap)?;
    /// assert_eq!((hits, bitmap), (2, [0b101]));
    /// let error = filter.view().contains_hashes(&[0; 9], &mut bitmap);
    /// assert_eq!(error, Err(Error::Bitmap { hashes: 9, bits: 8 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn contains_hashes(&self, hashes: &[u64], bitmap: &mut [u8]) -> Result<usize, Error> {
        if bitmap.len() < hashes.len().div_ceil(8) {
            return Err(Error::Bitmap { hashes: hashes.len(), bits: 8 * bitmap.len() });
        }
        Ok(self.simd.run(Answer { blocks: self.blocks, hashes, bits: bitmap }))
    }

    /// As [`contains_hashes`](Self::contains_hashes): calls `answer` with the number of each hash
    /// and whether it may have been inserted, in order.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::SplitBlockFilter;
    ///
    /// let mut filter = SplitBlockFilter::with_bytes(1024)?;
    /// filter.insert_hash(3);
    /// let mut hits = vec![];
    /// filter.view().contains_hashes_with(&[1, 3], |number, hit| {
    ///     if hit {
    ///         hits.push(number);
    ///     }
    /// });
    /// assert_eq!(hits, [1]);
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    pub fn contains_hashes_with(&self, hashes: &[u64], mut answer: impl FnMut(usize, bool)) {
        let mut bits = [0; BYTES_AT_ONCE];
        let at_once = 8 * BYTES_AT_ONCE;
        for first in (0..hashes.len()).step_by(at_once) {
            // With the hashes after them, whose blocks are requested.
            let hashes = &hashes[first..];
            self.simd.run(Answer { blocks: self.blocks, hashes, bits: &mut bits });
            for number in 0..hashes.len().min(at_once) {
                answer(first + number, bits[number / 8] >> (number % 8) & 1 == 1);
            }
        }
    }

    /// Estimates the number of distinct hashes that were inserted, from the bits, in time linear in
    /// their number. Infinite if all bits are set.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::View;
    /// assert_eq!(View::new(&[0; 64])?.len_estimate(), 0.0);
    /// assert_eq!(View::new(&[0xff; 64])?.len_estimate(), f64::INFINITY);
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    #[must_use]
    pub fn len_estimate(&self) -> f64 {
        sizes::items(self.blocks.len() as u64, self.simd.run(Ones(self.blocks)))
    }

    /// Returns the probability that a hash which was not inserted is found, from the bits, in time
    /// linear in their number: the mean over the blocks, exact for hashes whose bits in the eight
    /// words are independent. (The power of the average fill is too low: the blocks have different
    /// numbers of hashes.)
    ///
    /// Hashes in the block of an inserted one whose lower 32 bits are equal to its are not counted:
    /// fewer than 1 in 10^8 up to 40 per block.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::View;
    /// // One block is empty, and half of the bits of the other are set.
    /// let view = [[0; 32], [0x0f; 32]].concat();
    /// assert_eq!(View::new(&view)?.false_positive_rate(), 0.5_f64.powi(8) / 2.0);
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        let weigh = Weigh { blocks: self.blocks, factor: 1, most: u128::MAX };
        self.simd.run(weigh) as f64 / weight(self.blocks.len())
    }

    /// Returns the largest divisor of the number of blocks such that the rate is at most `rate`
    /// when as many adjacent blocks are united; 1 if none is.
    pub(super) fn factor(&self, rate: f64) -> u64 {
        let count = self.blocks.len();
        let meets = |factor: usize| {
            let full = weight(count / factor);
            // Larger divisors end early, where the first blocks exceed the sum. It is rounded up,
            // since the rates decide. The conversion saturates, and NaN is 0.
            let most = ((rate * full * (1.0 + 2.0 * f64::EPSILON)) as u128).saturating_add(1);
            let sum = self.simd.run(Weigh { blocks: self.blocks, factor, most });
            // As `false_positive_rate`, to the last bit.
            sum as f64 / full <= rate
        };
        let small = || (1..=count.isqrt()).filter(|divisor| count.is_multiple_of(*divisor));
        let large = small().map(|divisor| count / divisor);
        // `isqrt` of a square comes twice.
        let mut all = large.chain(small().rev());
        all.find(|&factor| meets(factor)).unwrap_or(1) as u64
    }

    /// Returns the bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::View;
    /// assert_eq!(View::new(&[7; 64])?.as_bytes(), [7; 64]);
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    #[must_use]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.blocks.as_flattened()
    }
}

/// Checks a number of bytes, and returns that of the blocks.
pub(super) fn check(bytes: u64) -> Result<u64, Error> {
    let block = size_of::<Block>() as u64;
    let blocks = bytes / block;
    let exists = bytes.is_multiple_of(block) && (1..=MAX_BLOCKS).contains(&blocks);
    if exists { Ok(blocks) } else { Err(Error::Bytes { bytes }) }
}

/// Returns the sum of [`Weigh`] for blocks that are full.
fn weight(blocks: usize) -> f64 {
    let full = LANE_BITS.pow(LANES as u32);
    blocks as f64 * full as f64
}

/// Prints the number of blocks.
impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("blocks", &self.blocks.len()).finish_non_exhaustive()
    }
}
