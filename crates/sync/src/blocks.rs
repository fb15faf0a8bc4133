//! Arrays of blocks of 32 plain bytes, in the memory of lines.

use core::fmt;
use core::ops::{Deref, DerefMut};

use crate::line::{LINE_BYTES, Line, prefetch};
use crate::lines::{AllocError, Lines};

/// The bytes of half a cache line.
pub type Block = [u8; 32];

const PER_LINE: usize = LINE_BYTES / size_of::<Block>();

/// A fixed number of [`Block`]s for exclusive writes, each in one cache line. They become
/// [`Lines`], which many threads write, and lines become blocks, without a copy.
///
/// # Examples
///
/// ```
/// use tamis_sync::{Blocks, Ordering};
///
/// let mut blocks = Blocks::zeroed(3)?;
/// blocks[2][..8].copy_from_slice(&7_u64.to_ne_bytes());
/// let lines = blocks.into_lines();
/// // ORDERING: Relaxed, there is one thread.
/// assert_eq!(lines[1].words[0].fetch_or(8, Ordering::Relaxed), 7);
/// let blocks = Blocks::of_lines(lines, 3);
/// assert_eq!(blocks[2][..8], 15_u64.to_ne_bytes());
/// # Ok::<(), tamis_sync::AllocError>(())
/// ```
pub struct Blocks(Memory);

impl Blocks {
    /// Allocates `count` blocks of zeros.
    ///
    /// # Errors
    ///
    /// As [`Lines::zeroed`].
    ///
    /// # Examples
    ///
    /// ```
    /// let blocks = tamis_sync::Blocks::zeroed(3)?;
    /// assert!(blocks.iter().all(|block| *block == [0; 32]) && blocks.len() == 3);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    pub fn zeroed(count: u64) -> Result<Self, AllocError> {
        let lines = Lines::zeroed(count.div_ceil(PER_LINE as u64))?;
        // The number of their bytes is a `usize`, so the count is one, too.
        Ok(Self::of_lines(lines, count as usize))
    }

    /// Takes the first `count` blocks of the lines; fewer if there are fewer, and none of a mapped
    /// file, which other processes may change.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamis_sync::{Blocks, Lines};
    /// assert_eq!(Blocks::of_lines(Lines::zeroed(2)?, 3).len(), 3);
    /// assert_eq!(Blocks::of_lines(Lines::zeroed(2)?, 5).len(), 4);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[must_use]
    pub fn of_lines(mut lines: Lines, count: usize) -> Self {
        let exclusive: &mut [Line] = &mut lines;
        let most = PER_LINE * exclusive.len();
        Self(Memory::of_lines(lines, count.min(most)))
    }

    /// Keeps the first `count` blocks, and gives the memory of the others back, if there is any for
    /// the copy.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut blocks = tamis_sync::Blocks::zeroed(3)?;
    /// blocks.truncate(2);
    /// assert_eq!(blocks.len(), 2);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    pub fn truncate(&mut self, count: usize) {
        let count = count.min(self.len());
        if let Ok(mut copy) = Self::zeroed(count as u64) {
            copy.copy_from_slice(&self[..count]);
            *self = copy;
        } else {
            self.0.truncate(count);
        }
    }

    /// Returns the lines of the blocks.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(tamis_sync::Blocks::zeroed(3)?.into_lines().len(), 2);
    /// # Ok::<(), tamis_sync::AllocError>(())
    /// ```
    #[must_use]
    pub fn into_lines(self) -> Lines {
        self.0.into_lines()
    }
}

/// Prefetches a block for an access that follows: both lines, if it is in two.
///
/// # Examples
///
/// ```
/// tamis_sync::prefetch_block(&[0; 32]);
/// ```
#[inline(always)]
pub fn prefetch_block(block: &Block) {
    let [first, .., last] = block;
    for byte in [first, last] {
        prefetch(core::ptr::from_ref(byte).cast());
    }
}

impl Deref for Blocks {
    type Target = [Block];

    #[inline(always)]
    fn deref(&self) -> &[Block] {
        self.0.blocks()
    }
}

impl DerefMut for Blocks {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Block] {
        self.0.blocks_mut()
    }
}

/// Prints the number of blocks.
impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks").field("blocks", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(not(any(tamis_loom, tamis_shuttle)))]
use plain::Memory;

#[cfg(not(any(tamis_loom, tamis_shuttle)))]
mod plain {
    use super::{Block, Lines};

    /// The lines of some blocks.
    pub(super) struct Memory {
        /// Nothing writes them but by `&mut self`.
        lines: Lines,
        /// At most the number of blocks in the lines that `&mut` gives access to.
        count: usize,
    }

    impl Memory {
        pub(super) fn of_lines(lines: Lines, count: usize) -> Self {
            Self { lines, count }
        }

        pub(super) fn into_lines(self) -> Lines {
            self.lines
        }

        pub(super) fn truncate(&mut self, count: usize) {
            self.count = count.min(self.count);
        }

        #[inline(always)]
        pub(super) fn blocks(&self) -> &[Block] {
            let first = self.lines.as_ptr().cast::<Block>();
            // SAFETY: the lines have at least `count` blocks, all of whose bytes are initialized
            // (a line consists of nothing but its eight words). Nothing writes them while they are
            // borrowed: `self` owns the lines, uses none of their atomics, and they are not those
            // of a mapped file.
            unsafe { core::slice::from_raw_parts(first, self.count) }
        }

        #[inline(always)]
        pub(super) fn blocks_mut(&mut self) -> &mut [Block] {
            let first = self.lines.as_mut_ptr().cast::<Block>();
            // SAFETY: as in `blocks`; any bytes are valid words; and `&mut self` proves that no
            // other reference to the lines exists.
            unsafe { core::slice::from_raw_parts_mut(first, self.count) }
        }
    }
}

#[cfg(any(tamis_loom, tamis_shuttle))]
use copied::Memory;

#[cfg(any(tamis_loom, tamis_shuttle))]
mod copied {
    use alloc::vec::Vec;

    use super::{Block, Lines, PER_LINE};
    use crate::word::Word;

    /// A copy of the blocks: a model checker's words are no bytes.
    pub(super) struct Memory(Vec<Block>);

    impl Memory {
        pub(super) fn of_lines(mut lines: Lines, count: usize) -> Self {
            let words = lines.iter_mut().flat_map(|line| &mut line.words);
            let words: Vec<u64> = words.map(|word| word.update(|word| *word)).collect();
            let bytes = words.iter().flat_map(|word| word.to_ne_bytes());
            let bytes: Vec<u8> = bytes.collect();
            Self(bytes.as_chunks().0[..count].into())
        }

        pub(super) fn into_lines(self) -> Lines {
            let mut lines = Lines::zeroed(self.0.len().div_ceil(PER_LINE) as u64)
                .expect("the memory of a small model");
            let words = lines.iter_mut().flat_map(|line| &mut line.words);
            for (word, bytes) in words.zip(self.0.as_flattened().as_chunks().0) {
                *word = Word::new(u64::from_ne_bytes(*bytes));
            }
            lines
        }

        pub(super) fn truncate(&mut self, count: usize) {
            self.0.truncate(count);
        }

        pub(super) fn blocks(&self) -> &[Block] {
            &self.0
        }

        pub(super) fn blocks_mut(&mut self) -> &mut [Block] {
            &mut self.0
        }
    }
}
