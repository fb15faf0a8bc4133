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
//! # use tamis_cuckoo as tamis;
//! use tamis::CuckooFilter;
//!
//! let sessions = CuckooFilter::<str>::with_capacity(1_000_000)?;
//! sessions.insert("a3f1")?;
//! assert!(sessions.contains("a3f1"));
//! assert!(sessions.remove("a3f1"));
//! assert!(!sessions.contains("a3f1"));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Batches
//!
//! `insert_many`, `contains_many` and `remove_many` hash items ahead, request their memory ahead, and work on 32 items
//! at a time. They take items owned or borrowed ([`AsItem`]) and pass results in order to a callback; `insert_each`,
//! `contains_each` and `remove_each` collect the results.
//!
//! * **They look ahead.** Up to 32 items are looked up before the first result is passed on. What the callback inserts
//!   may be invisible to the results after it. Up to 96 items are pulled from the iterator before the first result.
//! * **A slow iterator delays results.** A batch waits until it is full or the iterator ends. For a channel, pass the
//!   items that are at hand (`receiver.try_iter()`), and block for the first of the next batch only.
//! * **A panic in the iterator or the hasher loses no result.** Items are pulled before any of their batch is inserted
//!   or removed, so every change has had its result passed on (the `_each` forms hash all items first). After a panic in the callback up to 31 further items
//!   have been inserted or removed whose results were not passed on. The filter stays valid either way.
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
// For the examples, which use this crate under the name `tamis`.
#[doc(hidden)]
pub extern crate self as cuckoo;
#[cfg(test)]
extern crate std;

mod batch;
mod bucket;
mod builder;
mod error;
mod evict;
mod filter;
mod geometry;
mod many;
mod multiset;
mod once;
mod place;
mod search;
mod shared;
mod sizing;
mod table;
mod traits;

#[doc = include_str!("protocol.md")]
pub mod protocol {}

pub use crate::builder::{Buildable, Builder};
pub use crate::error::{InsertError, MergeError};
pub use crate::geometry::Geometry;
pub use crate::multiset::CuckooFilter;
pub use crate::once::OnceCuckooFilter;
pub use tamis_core::{AsItem, BuildError, Filter, OnceFilter, Sampled, WithRate};
pub use tamis_hash as hash;

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
