//! Parquet's split-block Bloom filter, for engines that have the hashes of their values already.
//!
//! A block is 32 bytes, and a hash sets one bit in each of its eight words. Inserts and queries
//! read one block, by vector instructions where the processor has them. The bytes are those of a
//! bitset of Parquet. This module hashes nothing, needs no `std`, and is all that the crate has
//! without its default features:
//!
//! ```toml
//! tamis-bloom = { version = "0.1", default-features = false }
//! ```
//!
//! Then the crate depends on `tamis-sync`, `libm`, `crossbeam-utils` and, on x86-64, `cpufeatures`.
//! If you have items and no hashes, choose one of
//! [the filters of items](https://docs.rs/tamis/latest/tamis/#which-type) instead. At 1 % a
//! `BloomFilter` takes 9.6 bits per item, and this one 10.5.
//!
//! # Hashes
//!
//! The upper half of a hash chooses the block, and the lower half the bits. Both must be good: a
//! counter, or a pointer, is no hash. **Parquet needs XXH64 with seed 0** of the plain encoding of
//! the value (little-endian for numbers, without a length for byte arrays); other readers do not
//! find a value that was hashed otherwise. For filters that stay in the engine, such as those of
//! joins, take the hash that the engine has. If others choose the values, its seed must be secret.
//!
//! # A writer that does not know the number of distinct values
//!
//! It builds a large filter, and folds it at the end to the smallest that keeps the rate. A size of
//! a multiple of a high power of two can be folded in many steps.
//!
//! ```
//! # use tamis_bloom as tamis;
//! use tamis::bloom::split_block::SplitBlockFilter;
//! use tamis::hash::Xxh64;
//!
//! let xxh64 = |value: i64| Xxh64::with_seed(0).hash_bytes(&value.to_le_bytes());
//! // No row group has more values than rows.
//! let mut filter = SplitBlockFilter::for_items_foldable(100_000, 0.01, 10)?;
//! for rows in 0..100 {
//!     // One batch of a column in which each value is repeated.
//!     let hashes: Vec<u64> = (0..1000).map(|row| xxh64((1000 * rows + row) % 3000)).collect();
//!     filter.insert_hashes(&hashes);
//! }
//! assert_eq!(filter.as_bytes().len(), 163_840);
//! filter.fold_to(0.01);
//! assert_eq!(filter.as_bytes().len(), 4096);
//! # Ok::<(), tamis::bloom::split_block::Error>(())
//! ```
//!
//! # A reader that checks row groups over mapped bytes
//!
//! A [`View`] takes the bytes as they are in the file, at any address: no copy, no allocation, and
//! one check of the length. (`tamis::formats::foreign` reads the headers of a Parquet file.)
//!
//! ```
//! # use tamis_bloom as tamis;
//! use tamis::bloom::split_block::{Error, View};
//!
//! /// Returns the row groups that may have a value. `bitsets`: where their filters are.
//! fn row_groups(file: &[u8], bitsets: &[(usize, usize)], hash: u64) -> Result<Vec<usize>, Error> {
//!     let mut found = vec![];
//!     for (group, &(offset, length)) in bitsets.iter().enumerate() {
//!         if View::new(&file[offset..][..length])?.contains_hash(hash) {
//!             found.push(group);
//!         }
//!     }
//!     Ok(found)
//! }
//!
//! let file = [[0; 64], [0xff; 64]].concat();
//! assert_eq!(row_groups(&file, &[(3, 32), (64, 64)], 0x0123_4567_89ab_cdef)?, [1]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # A runtime filter of a join
//!
//! Each thread of the build side fills a part of its own, and the parts are united: no thread
//! waits for another's cache lines. The probe side answers batches into bitmaps. (If the parts take
//! too much memory, all threads insert into one [`SharedSplitBlockFilter`].)
//!
//! ```
//! # use tamis_bloom as tamis;
//! use tamis::bloom::split_block::{Error, SplitBlockFilter};
//! # fn hash(key: u64) -> u64 { tamis::hash::Rapid::with_seed(7).hash_bytes(&key.to_le_bytes()) }
//!
//! let build = |keys: std::ops::Range<u64>| -> Result<SplitBlockFilter, Error> {
//!     let mut part = SplitBlockFilter::for_items(20_000, 0.01)?;
//!     part.insert_hashes(&keys.map(hash).collect::<Vec<_>>());
//!     Ok(part)
//! };
//! let parts = std::thread::scope(|scope| {
//!     let threads = [0..10_000, 10_000..20_000].map(|keys| scope.spawn(|| build(keys)));
//!     threads.map(|thread| thread.join().unwrap())
//! });
//! let [first, second] = parts;
//! let mut filter = first?;
//! filter.union_with(&second?)?;
//!
//! let probe: Vec<u64> = (19_000..29_000).map(hash).collect();
//! let mut bitmap = vec![0; probe.len().div_ceil(8)];
//! let hits = filter.contains_hashes(&probe, &mut bitmap)?;
//! assert!((1000..1200).contains(&hits) && bitmap[..125].iter().all(|&byte| byte == 0xff));
//! # Ok::<(), Error>(())
//! ```

mod block;
mod error;
mod filter;
#[cfg(all(test, tamis_loom))]
mod models;
mod queries;
mod shared;
mod sizes;
mod view;

pub use self::error::Error;
pub use self::filter::SplitBlockFilter;
pub use self::shared::SharedSplitBlockFilter;
pub use self::view::View;
