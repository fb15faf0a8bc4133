//! Concurrent Bloom filters over atomic words: sets that answer "seen before?" from many threads.
//!
//! | | [`BloomFilter`] | [`BlockedBloomFilter`] | [`OnceBloomFilter`] |
//! |---|---|---|---|
//! | an item's bits lie | anywhere | in one cache line | in one cache line |
//! | memory at 1 % / 0.1 % / 1e-6, bits an item | 9.6 / 14.4 / 28.8 | 12.0 / 16.8 / 40.7 | 12.0 / 16.9 / 40.8 |
//! | cache lines an operation touches | up to the number of probes | 1 | 1 |
//! | racing inserts of one new item | at least one `true` | at least one `true` | **exactly one** `true` |
//! | insert is | lock-free | lock-free | lock-free at 1 % and above, else locks one line for a few stores |
//! | contains is | wait-free | wait-free | wait-free |
//! | take it when | memory is what counts | speed is what counts | each item must be claimed by one |
//!
//! All of them: no false negative, ever, for an insert that happens before the query; a
//! false-positive rate that is solved for the very layout and reported for the contents as they are;
//! any size, up to 2^64 bits; methods on `&self` may race, methods on `&mut self` cannot.
//!
//! # Examples
//!
//! ```
//! use tamis_bloom::BlockedBloomFilter;
//!
//! let seen = BlockedBloomFilter::<str>::with_capacity(1_000_000)?;
//! assert!(seen.insert("https://example.org/"));
//! assert!(!seen.insert("https://example.org/"));
//! assert!(seen.contains("https://example.org/"));
//! # Ok::<(), tamis_bloom::BuildError>(())
//! ```
//!
//! # Memory order
//!
//! An insert that *happens before* a query is seen by it: after a `join`, through a channel, a mutex,
//! or any other Release and Acquire. Without such an edge it may be seen late, never half-wrong. A
//! `false` from `insert` or a `true` from `contains` gives no view of what else the thread that
//! inserted the item had written.
//!
//! # Features
//!
//! `std` (default): random keys for the default hasher; waiting threads yield. Without it the crate
//! needs `alloc` and 64-bit atomics only. `rayon`: parallel collection.

#![cfg_attr(not(feature = "std"), no_std)]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "rayon"))]
extern crate std;

mod array;
mod bits;
mod blocked;
mod builder;
mod classic;
mod collect;
mod error;
mod exact;
mod exclusive;
mod filter;
mod geometry;
mod many;
#[cfg(all(test, tamis_loom))]
mod models;
mod once;
#[cfg(feature = "rayon")]
mod parallel;
mod probe;
mod regions;
mod shared;
mod sizing;

pub use crate::blocked::BlockedBloomFilter;
pub use crate::builder::Builder;
pub use crate::classic::BloomFilter;
pub use crate::error::{BuildError, UnionError};
pub use crate::exclusive::Exclusive;
pub use crate::filter::Filter;
pub use crate::geometry::Geometry;
pub use crate::once::OnceBloomFilter;
