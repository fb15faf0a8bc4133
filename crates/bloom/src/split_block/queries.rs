//! The queries that a filter and a view of its bytes have in common.

use super::block::{Answer, Contains, Ones, Weigh, place};
use super::error::Error;
use super::filter::SplitBlockFilter;
use super::sizes;
use super::view::{View, weight};

/// The hashes that a call with a callback answers at a time, by eight.
const BYTES_AT_ONCE: usize = 32;

/// Defines the queries of types with blocks.
macro_rules! queries {
    ($($ty:ty;)*) => {$(
        impl $ty {
            /// Returns whether a hash may have been inserted: `false` only if it was not.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            /// use tamis::bloom::split_block::SplitBlockFilter;
            /// let mut filter = SplitBlockFilter::with_bytes(1024)?;
            /// filter.insert_hash(3);
            /// assert!(filter.contains_hash(3) && !filter.contains_hash(4));
            /// assert!(filter.view().contains_hash(3));
            /// # Ok::<(), tamis::bloom::split_block::Error>(())
            /// ```
            #[inline(always)]
            #[must_use]
            pub fn contains_hash(&self, hash: u64) -> bool {
                let block = &self.blocks[place(hash, self.blocks.len())];
                self.simd.run(Contains(block, hash as u32))
            }

            /// Answers many hashes: bit `i mod 8` of byte `i / 8` of `bitmap`, from the lowest on,
            /// becomes the answer to hash `i`, and the bits after the last are cleared up to the
            /// end of its byte. Returns the number of hits. Blocks are requested ahead of their
            /// turn.
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
            /// let hits = filter.contains_hashes(&[3, 4, 5], &mut bitmap)?;
            /// assert_eq!((hits, bitmap), (2, [0b101]));
            /// let error = filter.view().contains_hashes(&[0; 9], &mut bitmap);
            /// assert_eq!(error, Err(Error::Bitmap { hashes: 9, bits: 8 }));
            /// # Ok::<(), Error>(())
            /// ```
            pub fn contains_hashes(&self, hashes: &[u64], bitmap: &mut [u8]) -> Result<usize, Error> {
                if bitmap.len() < hashes.len().div_ceil(8) {
                    return Err(Error::Bitmap { hashes: hashes.len(), bits: 8 * bitmap.len() });
                }
                Ok(self.simd.run(Answer { blocks: &self.blocks, hashes, bits: bitmap }))
            }

            /// As [`contains_hashes`](Self::contains_hashes): calls `answer` with the number of
            /// each hash and whether it may have been inserted, in order.
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
            /// filter.contains_hashes_with(&[1, 3], |number, hit| {
            ///     if hit {
            ///         hits.push(number);
            ///     }
            /// });
            /// assert_eq!(hits, [1]);
            /// filter.view().contains_hashes_with(&[3], |_number, hit| assert!(hit));
            /// # Ok::<(), tamis::bloom::split_block::Error>(())
            /// ```
            pub fn contains_hashes_with(
                &self,
                hashes: &[u64],
                mut answer: impl FnMut(usize, bool),
            ) {
                let mut bits = [0; BYTES_AT_ONCE];
                let at_once = 8 * BYTES_AT_ONCE;
                for first in (0..hashes.len()).step_by(at_once) {
                    // With the hashes after them, whose blocks are requested.
                    let hashes = &hashes[first..];
                    self.simd.run(Answer { blocks: &self.blocks, hashes, bits: &mut bits });
                    for number in 0..hashes.len().min(at_once) {
                        answer(first + number, bits[number / 8] >> (number % 8) & 1 == 1);
                    }
                }
            }

            /// Estimates the number of distinct hashes that were inserted, from the bits, in time
            /// linear in their number. Infinite if all bits are set.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            /// use tamis::bloom::split_block::SplitBlockFilter;
            /// use tamis::hash::Xxh64;
            /// let mut filter = SplitBlockFilter::for_items(10_000, 0.01)?;
            /// for item in 0..10_000_u64 {
            ///     filter.insert_hash(Xxh64::with_seed(0).hash_bytes(&item.to_le_bytes()));
            /// }
            /// let estimate = filter.len_estimate();
            /// assert!((9_900.0..10_100.0).contains(&estimate));
            /// assert_eq!(filter.view().len_estimate(), estimate);
            /// # Ok::<(), tamis::bloom::split_block::Error>(())
            /// ```
            #[must_use]
            pub fn len_estimate(&self) -> f64 {
                sizes::items(self.blocks.len() as u64, self.simd.run(Ones(&self.blocks)))
            }

            /// Returns the probability that a hash which was not inserted is found, from the bits,
            /// in time linear in their number: the mean over the blocks, exact for hashes whose
            /// bits in the eight words are independent. (The power of the average fill is too low:
            /// the blocks have different numbers of hashes.)
            ///
            /// Hashes in the block of an inserted one whose lower 32 bits are equal to its are not
            /// counted: fewer than 1 in 10^8 up to 40 per block.
            ///
            /// # Examples
            ///
            /// ```
            /// # use tamis_bloom as tamis;
            /// use tamis::bloom::split_block::SplitBlockFilter;
            /// // One block is empty, and half of the bits of the other are set.
            /// let filter = SplitBlockFilter::from_bytes(&[[0; 32], [0x0f; 32]].concat())?;
            /// let rates = [filter.false_positive_rate(), filter.view().false_positive_rate()];
            /// assert_eq!(rates, [0.5_f64.powi(8) / 2.0; 2]);
            /// # Ok::<(), tamis::bloom::split_block::Error>(())
            /// ```
            #[must_use]
            pub fn false_positive_rate(&self) -> f64 {
                let weigh = Weigh { blocks: &self.blocks, factor: 1, most: u128::MAX };
                self.simd.run(weigh) as f64 / weight(self.blocks.len())
            }
        }
    )*};
}

queries! {
    View<'_>;
    SplitBlockFilter;
}
