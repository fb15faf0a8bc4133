//! Concurrent Bloom filters over atomic words: sets that answer "seen before?" from many threads.
//!
//! | | [`BloomFilter`] | [`BlockedBloomFilter`] | [`OnceBloomFilter`] |
//! |---|---|---|---|
//! | an item's bits lie | anywhere | in one cache line | in one cache line |
//! | memory at 1 % / 0.1 % / 1e-6, bits an item | 9.6 / 14.4 / 29.0 | 12.0 / 16.8 / 40.7 | 12.0 / 16.9 / 40.8 |
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
//! # use tamis_bloom as tamis;
//! use tamis::BlockedBloomFilter;
//!
//! let seen = BlockedBloomFilter::<str>::with_capacity(1_000_000)?;
//! assert!(seen.insert("https://example.org/"));
//! assert!(!seen.insert("https://example.org/"));
//! assert!(seen.contains("https://example.org/"));
//! # Ok::<(), tamis::BuildError>(())
//! ```
//!
//! # Batches
//!
//! `insert_many`, `contains_many` and their relatives hash items ahead, request their memory ahead, and work on 32 items
//! at a time; where that gains nothing, as for inserts into filters that fit in a cache, they go one by one. They take items owned or borrowed ([`AsItem`]) and pass results in order to a callback; `insert_each` and
//! `contains_each` collect the results.
//!
//! * **They look ahead.** Up to 32 items are looked up before the first result is passed on. What the callback inserts
//!   may be invisible to the results after it. Up to 96 items are pulled from the iterator before the first result.
//! * **A slow iterator delays results.** A batch waits until it is full or the iterator ends. For a channel, pass the
//!   items that are at hand (`receiver.try_iter()`), and block for the first of the next batch only.
//! * **A panic in the iterator or the hasher loses no result.** Items are pulled before any of their batch is inserted,
//!   so every inserted item has had its result passed on (`insert_each` hashes all items first). After a panic in the callback up to 31 further items are in
//!   whose results were not passed on. The filter stays valid either way.
//!
//! # Metrics
//!
//! `fill`, `len_estimate`, `saturation` and `false_positive_rate` read all bits. Each has a `_sampled` form that reads
//! some lines and states its own error ([`Sampled`]).
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
// For the examples, which use this crate under the name `tamis`.
#[doc(hidden)]
pub extern crate self as bloom;
#[cfg(any(test, feature = "rayon"))]
extern crate std;

mod array;
mod bits;
mod blocked;
mod build;
mod builder;
mod classic;
mod collect;
mod error;
mod exclusive;
mod figures;
mod filter;
mod geometry;
mod many;
#[cfg(all(test, tamis_loom))]
mod models;
mod once;
mod probe;
mod regions;
mod shared;
mod sizing;
mod traits;

pub use crate::blocked::BlockedBloomFilter;
pub use crate::builder::Builder;
pub use crate::classic::BloomFilter;
pub use crate::error::UnionError;
pub use crate::exclusive::Exclusive;
pub use crate::filter::{Buildable, InLines};
pub use crate::geometry::Geometry;
pub use crate::once::OnceBloomFilter;
pub use tamis_core::{AsItem, BuildError, Filter, OnceFilter, Sampled, WithRate};
pub use tamis_hash as hash;

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
