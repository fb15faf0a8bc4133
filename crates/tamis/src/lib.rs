//! Concurrent membership filters: sets that answer "seen before?" from many threads, at memory speed,
//! in a few bits an item, with a stated error and no lost items.
//!
//! # Which one?
//!
//! | you want | take | `insert` says under a race | memory at 1 % / 1e-6, bits an item |
//! |---|---|---|---|
//! | to ask "surely absent?" in front of a store or cache | [`BlockedBloomFilter`] | at least one `true` | 12.0 / 41 |
//! | each URL, job or event claimed by exactly one worker | [`OnceBloomFilter`] | **exactly one** `true` | 12.0 / 41 |
//! | the least memory, speed second | [`BloomFilter`] | at least one `true` | 9.6 / 29.0 |
//! | to take items out again, or to count them | [`CuckooFilter`] | each adds a copy | 13.1 / 37 |
//! | claims at rates of 0.1 % and below, in less memory; an error when full | [`OnceCuckooFilter`] | **exactly one** `true` | 13.1 / 37 |
//!
//! All: `insert` and `contains` on `&self`, no false negative ever, a false-positive rate that is
//! solved for the very layout and reported for the contents as they are. Not for: exact answers (a
//! `HashSet` or `DashMap`), fewer than some 100,000 items (likewise).
//!
//! Items hash by ahash with random keys; a filter that is to be saved or shared takes a stable hasher
//! from [`hash`].
//!
//! The types share their methods for building, inserting, asking and figures, so that one can take the place of another:
//! a change of type is a change of its name, and of `?` where a cuckoo filter may be full. What differs: cuckoo filters
//! have `try_extend` for `extend`, `merge` for `union_with`, `load_factor` for `fill`, an exact `len`, and no `get_mut`.
//! Code that is generic over the type uses [`Filter`], [`OnceFilter`] and [`WithRate`].
//! [`Error`] has a `From` for every error of the crate.
//!
//! # Examples
//!
//! ```
//! use tamis::OnceBloomFilter;
//!
//! let claimed = OnceBloomFilter::<str>::builder()
//!     .capacity(1_000_000)
//!     .false_positive_rate(1e-6)
//!     .build()?;
//!
//! std::thread::scope(|scope| {
//!     for worker in 0..4 {
//!         let claimed = &claimed;
//!         scope.spawn(move || {
//!             if claimed.insert("https://example.org/") {
//!                 println!("worker {worker} fetches it, and nobody else");
//!             }
//!         });
//!     }
//! });
//! # Ok::<(), tamis::BuildError>(())
//! ```
//!
//! Generic over the type of filter:
//!
//! ```
//! use tamis::{Error, OnceBloomFilter, OnceCuckooFilter, OnceFilter};
//!
//! /// The jobs that this call claimed, which nobody else gets.
//! fn claim<F: OnceFilter<Item = str>>(claimed: &F, jobs: &[String]) -> Result<Vec<String>, F::InsertError>
//! {
//!     let mut mine = Vec::new();
//!     for job in jobs {
//!         if claimed.try_insert(job.as_str())? {
//!             mine.push(job.clone());
//!         }
//!     }
//!     Ok(mine)
//! }
//!
//! fn main() -> Result<(), Error> {
//!     let jobs: Vec<String> = ["a", "b", "a"].map(String::from).into();
//!     assert_eq!(claim(&OnceBloomFilter::with_capacity(100)?, &jobs)?, ["a", "b"]);
//!     assert_eq!(claim(&OnceCuckooFilter::with_capacity(100)?, &jobs)?, ["a", "b"]);
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(feature = "std"), no_std)]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]
#![forbid(unsafe_code)]

mod error;

pub use tamis_bloom::{BlockedBloomFilter, BloomFilter, OnceBloomFilter, UnionError};
pub use tamis_core::{AsItem, BuildError, Filter, OnceFilter, Sampled, WithRate};
pub use tamis_cuckoo::{CuckooFilter, InsertError, MergeError, OnceCuckooFilter};

pub use crate::error::Error;

/// The Bloom filters, with their builder and geometry.
pub use tamis_bloom as bloom;

/// The cuckoo filters, with their builder and geometry.
pub use tamis_cuckoo as cuckoo;

/// Hashing: from an item to 64 bits to places in a filter.
pub use tamis_hash as hash;

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
