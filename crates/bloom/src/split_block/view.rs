//! The filter over borrowed bytes.

use core::fmt;

use tamis_sync::{Block, SimdLevel};

use super::block::{LANE_BITS, LANES, Weigh};
use super::error::Error;
use super::sizes::MAX_BLOCKS;

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
    pub(super) blocks: &'a [Block],
    pub(super) simd: SimdLevel,
}

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
pub(super) fn weight(blocks: usize) -> f64 {
    let full = LANE_BITS.pow(LANES as u32);
    blocks as f64 * full as f64
}

/// Prints the number of blocks.
impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("blocks", &self.blocks.len()).finish_non_exhaustive()
    }
}
