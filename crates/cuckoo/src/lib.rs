//! Concurrent cuckoo filters: sets that answer "in?" from many threads, from which items can be removed, and
//! which at rates of 0.1 % and below take fewer bits than a blocked Bloom filter.
//!
//! | | [`CuckooFilter`] | [`OnceCuckooFilter`] |
//! |---|---|---|
//! | an item inserted again | is in twice | is told that it is in |
//! | racing inserts of one new item | all add a copy | **exactly one** is told `true` |
//! | [`remove`](CuckooFilter::remove), [`count`](CuckooFilter::count) | yes | no |
//! | insert into a bucket with an empty slot | one compare-exchange | the same, under a stripe |
//! | insert into full buckets | moves others, one stripe at a time | likewise |
//! | contains | takes no lock but in a storm of moves | likewise |
//!
//! | false-positive rate up to | 6 % | 3 % | 0.24 % | 0.012 % | 5.4e-6 | 8e-10 |
//! |---|---|---|---|---|---|---|
//! | slots × bits of a bucket | 8 × 8 | 4 × 8 | 5 × 12 | 4 × 16 | 3 × 20 | 2 × 32 |
//! | bits an item, full | 8.2 | 8.6 | 13.1 | 16.8 | 22.9 | 37 |
//!
//! At the last three rates of this table they are smaller than a classic Bloom filter, too (16.8 against 18.8
//! bits an item at 0.012 %); between them, where the next shape is already needed, they are not.
//!
//! What both promise: an insert that happens before a query is seen by it, whatever is moved or removed
//! meanwhile; an insert that is refused has changed nothing; `len` counts every one; the false-positive
//! rate is reported exactly for the contents; any even number of buckets.
//!
//! # Examples
//!
//! ```
//! use tamis_cuckoo::CuckooFilter;
//!
//! let sessions = CuckooFilter::<str>::with_capacity(1_000_000)?;
//! sessions.insert("a3f1")?;
//! assert!(sessions.contains("a3f1"));
//! assert!(sessions.remove("a3f1"));
//! assert!(!sessions.contains("a3f1"));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Memory order
//!
//! An insert that *happens before* a query is seen by it: after a `join`, through a channel, a mutex, or
//! any other Release and Acquire. Without such an edge it may be seen late. The answer of a filter gives
//! no view of what else the thread that inserted the item had written.
//!
//! # Features
//!
//! `std` (default): random keys for the default hasher; waiting threads yield; `len` in parts. Without it
//! the crate needs `alloc` and 64-bit atomics only. `rayon`: parallel filling.

#![cfg_attr(not(feature = "std"), no_std)]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod batch;
mod bucket;
mod builder;
mod cuckoo;
mod error;
mod evict;
mod filter;
mod geometry;
mod many;
mod once;
mod place;
mod search;
mod shared;
mod sizing;
mod table;
mod traits;

pub use crate::builder::Builder;
pub use crate::cuckoo::CuckooFilter;
pub use crate::error::{BuildError, InsertError, MergeError};
pub use crate::filter::Filter;
pub use crate::geometry::Geometry;
pub use crate::once::OnceCuckooFilter;
