//! The filter that one thread writes.

use core::fmt;

use tamis_sync::{Block, Blocks, SimdLevel, out_of_memory};

use super::block::{Insert, InsertAll, place, unite};
use super::error::Error;
use super::sizes;
use super::view::{View, check};

/// A split-block Bloom filter of hashes, as Parquet has it, for exclusive writes.
///
/// See [the module](super) for its uses and for the hashes.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::bloom::split_block::SplitBlockFilter;
/// use tamis::hash::Xxh64;
///
/// // The hash of Parquet.
/// let hash = |item: u64| Xxh64::with_seed(0).hash_bytes(&item.to_le_bytes());
/// let mut filter = SplitBlockFilter::for_items(1_000_000, 0.01)?;
/// assert_eq!(filter.as_bytes().len(), 1_316_160);
/// assert!(filter.insert_hash(hash(1)));
/// assert!(filter.contains_hash(hash(1)) && !filter.contains_hash(hash(2)));
/// # Ok::<(), tamis::bloom::split_block::Error>(())
/// ```
pub struct SplitBlockFilter {
    /// At least one, and at most `MAX_BLOCKS`.
    pub(super) blocks: Blocks,
    pub(super) simd: SimdLevel,
}

impl SplitBlockFilter {
    /// Makes the smallest empty filter whose rate is at most `rate` with `items` items (at least
    /// 1). The size is exact: it comes from the distribution of the items over the blocks.
    ///
    /// # Errors
    ///
    /// [`Error::Rate`], [`Error::TooLarge`] or [`Error::Alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::{Error, SplitBlockFilter};
    /// assert_eq!(SplitBlockFilter::for_items(1, 0.01)?.as_bytes().len(), 32);
    /// let error = SplitBlockFilter::for_items(1, 1e-8).unwrap_err();
    /// assert_eq!(error, Error::Rate { rate: 1e-8 });
    /// # Ok::<(), Error>(())
    /// ```
    pub fn for_items(items: u64, rate: f64) -> Result<Self, Error> {
        Self::zeroed(sizes::blocks(items, rate, 1)?)
    }

    /// As [`for_items`](Self::for_items), with the number of blocks rounded up to a multiple of
    /// `2^halvings`: the filter can be folded by each of these powers of two.
    ///
    /// # Errors
    ///
    /// As [`for_items`](Self::for_items).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::SplitBlockFilter;
    /// let filter = SplitBlockFilter::for_items_foldable(1_000_000, 0.01, 10)?;
    /// assert_eq!(filter.as_bytes().len(), 1_343_488);
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    pub fn for_items_foldable(items: u64, rate: f64, halvings: u32) -> Result<Self, Error> {
        let multiple = 1_u64.checked_shl(halvings).ok_or(Error::TooLarge)?;
        Self::zeroed(sizes::blocks(items, rate, multiple)?)
    }

    /// Makes an empty filter of this size.
    ///
    /// # Errors
    ///
    /// [`Error::Bytes`] if the number is not a multiple of 32 from 32 to 2^37, or [`Error::Alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::SplitBlockFilter;
    /// assert_eq!(SplitBlockFilter::with_bytes(96)?.as_bytes(), [0; 96]);
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    pub fn with_bytes(bytes: u64) -> Result<Self, Error> {
        Self::zeroed(check(bytes)?)
    }

    fn zeroed(blocks: u64) -> Result<Self, Error> {
        Ok(Self::of_blocks(Blocks::zeroed(blocks)?))
    }

    pub(super) fn of_blocks(blocks: Blocks) -> Self {
        Self { blocks, simd: SimdLevel::detect() }
    }

    pub(super) fn into_blocks(self) -> Blocks {
        self.blocks
    }

    /// Copies the bytes of a filter.
    ///
    /// # Errors
    ///
    /// [`Error::Bytes`] as [`with_bytes`](Self::with_bytes), or [`Error::Alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::SplitBlockFilter;
    /// let filter = SplitBlockFilter::from_bytes(&[0xff; 64])?;
    /// assert!(filter.contains_hash(1));
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut filter = Self::with_bytes(bytes.len() as u64)?;
        filter.blocks.as_flattened_mut().copy_from_slice(bytes);
        Ok(filter)
    }

    /// Inserts a hash; returns whether the filter has changed. If not, the hash may have been
    /// inserted before.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::SplitBlockFilter;
    /// let mut filter = SplitBlockFilter::with_bytes(32)?;
    /// assert!(filter.insert_hash(7) && !filter.insert_hash(7));
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    #[inline(always)]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let blocks = &mut *self.blocks;
        let block = place(hash, blocks.len());
        self.simd.run(Insert(&mut blocks[block], hash as u32))
    }

    /// Inserts many hashes. Blocks are requested ahead of their turn.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::SplitBlockFilter;
    /// let mut filter = SplitBlockFilter::with_bytes(32)?;
    /// filter.insert_hashes(&[7, 8]);
    /// assert!(filter.contains_hash(7) && filter.contains_hash(8));
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        self.simd.run(InsertAll { blocks: &mut self.blocks, hashes });
    }

    /// Returns a view of the bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::SplitBlockFilter;
    /// assert_eq!(SplitBlockFilter::with_bytes(32)?.view().as_bytes(), [0; 32]);
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn view(&self) -> View<'_> {
        View::of_blocks(&self.blocks, self.simd)
    }

    /// Adds all hashes of another filter of the same size.
    ///
    /// # Errors
    ///
    /// [`Error::Blocks`] if it has another size.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::{Error, SplitBlockFilter};
    ///
    /// let (mut one, mut other) = (SplitBlockFilter::with_bytes(64)?, SplitBlockFilter::with_bytes(64)?);
    /// other.insert_hash(7);
    /// one.union_with(&other)?;
    /// assert!(one.contains_hash(7));
    /// let small = SplitBlockFilter::with_bytes(32)?;
    /// assert_eq!(one.union_with(&small), Err(Error::Blocks { this: 2, other: 1 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn union_with(&mut self, other: &Self) -> Result<(), Error> {
        let (this, other) = (&mut *self.blocks, &*other.blocks);
        if this.len() != other.len() {
            return Err(Error::Blocks { this: this.len() as u64, other: other.len() as u64 });
        }
        this.iter_mut().zip(other).for_each(|(block, other)| unite(block, other));
        Ok(())
    }

    /// Makes the filter smaller by a factor that divides the number of blocks: unites as many
    /// adjacent blocks. The bytes are then those of a filter of this size with the same hashes,
    /// because `⌊u (N / d) / 2^32⌋ = ⌊⌊u N / 2^32⌋ / d⌋`.
    ///
    /// # Errors
    ///
    /// [`Error::Factor`] if the factor does not divide the number of blocks.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::{Error, SplitBlockFilter};
    ///
    /// let (mut large, mut small) = (SplitBlockFilter::with_bytes(32 * 15)?, SplitBlockFilter::with_bytes(32 * 5)?);
    /// let hashes: Vec<u64> = (0..20).map(|item: u64| item << 60 | item * item).collect();
    /// large.insert_hashes(&hashes);
    /// small.insert_hashes(&hashes);
    /// large.fold(3)?;
    /// assert_eq!(large.as_bytes(), small.as_bytes());
    /// assert_eq!(large.fold(3), Err(Error::Factor { factor: 3, blocks: 5 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn fold(&mut self, factor: u64) -> Result<(), Error> {
        let blocks = self.blocks.len() as u64;
        if factor == 0 || !blocks.is_multiple_of(factor) {
            return Err(Error::Factor { factor, blocks });
        }
        if factor > 1 {
            self.fold_exactly(factor as usize);
        }
        Ok(())
    }

    /// Makes the filter as small as its rate allows: [folds](Self::fold) it by the largest factor
    /// after which the [rate](Self::false_positive_rate) is at most `rate`, and returns the factor.
    /// It is 1 if there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::SplitBlockFilter;
    /// use tamis::hash::Xxh64;
    ///
    /// let mut filter = SplitBlockFilter::with_bytes(1 << 20)?;
    /// for item in 0..1000_u64 {
    ///     filter.insert_hash(Xxh64::with_seed(0).hash_bytes(&item.to_le_bytes()));
    /// }
    /// assert_eq!(filter.fold_to(0.01), 512);
    /// assert!(filter.false_positive_rate() <= 0.01 && filter.as_bytes().len() == 2048);
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    pub fn fold_to(&mut self, rate: f64) -> u64 {
        let factor = self.view().factor(rate);
        if factor > 1 {
            self.fold_exactly(factor as usize);
        }
        factor
    }

    /// Folds by a factor that divides the number of blocks.
    fn fold_exactly(&mut self, factor: usize) {
        let count = self.blocks.len() / factor;
        for number in 0..count {
            let mut united = [0; size_of::<Block>()];
            let group = &self.blocks[number * factor..][..factor];
            group.iter().for_each(|block| unite(&mut united, block));
            // No later group has this block.
            self.blocks[number] = united;
        }
        self.blocks.truncate(count);
    }

    /// Returns the bytes: those of a bitset of Parquet. (The filter is also an `AsRef<[u8]>`, for
    /// code that takes an owner of bytes.)
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::SplitBlockFilter;
    /// assert_eq!(SplitBlockFilter::with_bytes(32)?.as_bytes(), [0; 32]);
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.blocks.as_flattened()
    }

    /// Returns the bytes as a vector. This copies them, because the filter is aligned to cache
    /// lines and a vector is not.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::bloom::split_block::SplitBlockFilter;
    /// assert_eq!(SplitBlockFilter::with_bytes(32)?.into_bytes(), vec![0; 32]);
    /// # Ok::<(), tamis::bloom::split_block::Error>(())
    /// ```
    #[must_use]
    pub fn into_bytes(self) -> alloc::vec::Vec<u8> {
        self.as_bytes().into()
    }
}

impl AsRef<[u8]> for SplitBlockFilter {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

/// Ends the process as std's collections do if there is no memory for the copy.
impl Clone for SplitBlockFilter {
    fn clone(&self) -> Self {
        Self::from_bytes(self.as_bytes())
            .unwrap_or_else(|_| out_of_memory(self.as_bytes().len() as u64))
    }
}

/// Prints the number of blocks.
impl fmt::Debug for SplitBlockFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitBlockFilter")
            .field("blocks", &self.blocks.len())
            .finish_non_exhaustive()
    }
}
