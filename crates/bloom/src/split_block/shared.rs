//! The filter that many threads write at once.

use core::fmt;

use tamis_sync::{Blocks, SimdLevel};

use super::block::{AHEAD, Masks, WORDS, pair, place};
use super::filter::SplitBlockFilter;
use crate::bits::{Bits, Free};

/// A split-block Bloom filter of hashes into which many threads insert at once.
///
/// It is made from a [`SplitBlockFilter`], and becomes one, without a copy. Inserts are lock-free
/// and queries wait-free:
///
/// * A query finds every hash whose insert happens before it.
/// * Of concurrent inserts of a hash that is not in the filter, at least one returns `true`.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::bloom::split_block::{SharedSplitBlockFilter, SplitBlockFilter};
///
/// let filter = SharedSplitBlockFilter::from(SplitBlockFilter::for_items(1000, 0.01)?);
/// std::thread::scope(|scope| {
///     for thread in 0..2_u64 {
///         let filter = &filter;
///         scope.spawn(move || filter.insert_hash(thread << 40));
///     }
/// });
/// let filter = filter.into_filter();
/// assert!(filter.contains_hash(0) && filter.contains_hash(1 << 40));
/// # Ok::<(), tamis::bloom::split_block::Error>(())
/// ```
pub struct SharedSplitBlockFilter {
    pub(super) bits: Bits<Free>,
    blocks: usize,
    simd: SimdLevel,
}

impl SharedSplitBlockFilter {
    /// Returns the line of a hash, the first word of its block there, and its bits in the words.
    #[inline(always)]
    pub(super) fn places(&self, hash: u64) -> (u64, usize, [u64; WORDS]) {
        let block = place(hash, self.blocks);
        (block as u64 / 2, WORDS * (block % 2), pair(self.simd.run(Masks(hash as u32))))
    }

    /// Inserts a hash. Returns whether this call has set a bit: if it returns `false`, the hash, or
    /// others with its bits, may have been inserted before.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::{SharedSplitBlockFilter, SplitBlockFilter};
    /// let filter = SharedSplitBlockFilter::from(SplitBlockFilter::with_bytes(32)?);
    /// assert!(filter.insert_hash(7) && !filter.insert_hash(7));
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    #[inline]
    #[expect(clippy::must_use_candidate, reason = "mostly called for its effect")]
    pub fn insert_hash(&self, hash: u64) -> bool {
        let (line, first, masks) = self.places(hash);
        self.bits.insert_masks(line, first, masks)
    }

    /// Inserts many hashes. Blocks are requested ahead of their turn.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::{SharedSplitBlockFilter, SplitBlockFilter};
    /// let filter = SharedSplitBlockFilter::from(SplitBlockFilter::with_bytes(32)?);
    /// filter.insert_hashes(&[7, 8]);
    /// assert!(filter.contains_hash(7) && filter.contains_hash(8));
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    pub fn insert_hashes(&self, hashes: &[u64]) {
        for (at, &hash) in hashes.iter().enumerate() {
            if let Some(&ahead) = hashes.get(at + AHEAD) {
                self.bits.prefetch_to_write(place(ahead, self.blocks) as u64 / 2);
            }
            self.insert_hash(hash);
        }
    }

    /// Returns whether a hash may have been inserted.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::{SharedSplitBlockFilter, SplitBlockFilter};
    /// let filter = SharedSplitBlockFilter::from(SplitBlockFilter::with_bytes(32)?);
    /// assert!(!filter.contains_hash(7));
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        let (line, first, masks) = self.places(hash);
        self.bits.contains_branchless(line, (first..).zip(masks))
    }

    /// Returns the filter, which has all hashes. The borrow checker proves that no thread writes it
    /// any more.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::{SharedSplitBlockFilter, SplitBlockFilter};
    /// let filter = SharedSplitBlockFilter::from(SplitBlockFilter::with_bytes(96)?);
    /// filter.insert_hash(7);
    /// assert!(filter.into_filter().contains_hash(7));
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    #[must_use]
    pub fn into_filter(self) -> SplitBlockFilter {
        SplitBlockFilter::of_blocks(Blocks::of_lines(self.bits.into_lines(), self.blocks))
    }
}

impl From<SplitBlockFilter> for SharedSplitBlockFilter {
    fn from(filter: SplitBlockFilter) -> Self {
        let blocks = filter.into_blocks();
        let count = blocks.len();
        let bits = Bits::of_lines(blocks.into_lines());
        Self { bits, blocks: count, simd: SimdLevel::detect() }
    }
}

/// Prints the number of blocks.
impl fmt::Debug for SharedSplitBlockFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedSplitBlockFilter")
            .field("blocks", &self.blocks)
            .finish_non_exhaustive()
    }
}
