//! Concurrent membership filters: compact sets that answer "was this item inserted before?" for many threads at once.
//!
//! A filter stores a few bits per item instead of the item itself. The price is false positives: `contains` may return
//! `true` for an item that was never inserted. You choose the probability of that, the false-positive rate.
//!
//! # Which type?
//!
//! | You want | Use | If several threads insert one new item at once | Bits per item at 1 % / 1e-4 / 1e-6 / 1e-9 |
//! |---|---|---|---|
//! | to skip lookups of absent keys in a store or cache | [`BlockedBloomFilter`] | at least one call returns `true` | 12.0 / 25.6 / 40.7 / 90.0 |
//! | each URL, job or event claimed by exactly one worker | [`OnceBloomFilter`] | **exactly one** call returns `true` | 12.0 / 25.7 / 40.8 / 90.4 |
//! | the least memory above 0.1 %, with slower operations | [`BloomFilter`] | at least one call returns `true` | 9.6 / 19.2 / 29.0 / 43.4 |
//! | to remove items, or to count copies | [`CuckooFilter`] | each call adds a copy | 13.1 / 19.5 / 26.3 / 37.2 |
//! | the least memory at most rates below 0.03 %, or claims with an error when full | [`OnceCuckooFilter`] | **exactly one** call returns `Ok(true)` | 13.1 / 19.5 / 26.3 / 37.2 |
//!
//! The cuckoo filters' 26.3 needs x86-64 with AVX; elsewhere it is 37.2. Blocked filters insert fastest at every rate, and
//! answer queries one by one fastest at most rates. In batches of queries, cuckoo filters are as fast or faster from 1e-6
//! down.
//!
//! All types have these properties:
//!
//! * **Shared access.** `insert` and `contains` take `&self`, so threads need no lock around the filter.
//! * **No false negatives.** If an insert happens before a query of the same item, the query returns `true`. (In a
//!   [`CuckooFilter`] this holds if you remove only items that you inserted, once per insert.)
//! * **A known false-positive rate.** The size is computed for the actual layout of the filter, and
//!   `false_positive_rate` returns the rate for its current contents.
//!
//! What a false positive costs depends on the use. In front of a store it costs one unnecessary lookup. When workers claim
//! items, it is an item that no worker claims: choose a low rate, such as 1e-6.
//!
//! Do not use a filter if you need exact answers, or for fewer than about 100,000 items: a `HashSet` or `DashMap` is
//! better.
//!
//! # Hashing
//!
//! By default a filter hashes items with ahash and random keys. A filter that is saved, or shared between programs,
//! needs a stable hasher from the module [`hash`].
//!
//! # Saving
//!
//! With the feature `formats`, the module `formats` saves a filter to a file (`formats::save(&seen, "seen.tamis")?`) and
//! loads it again, maps a file of any size in constant time, and lets processes share one filter.
//!
//! # Changing the type
//!
//! Most methods for building, inserting, querying and statistics are the same in all types, so one type can replace another.
//! Change the name of the type, and handle the `Result` of an insert into a cuckoo filter, which may be full. Cuckoo
//! filters differ in a few methods: they have `try_extend` instead of `extend`, `merge` instead of `union_with`,
//! `load_factor` instead of `fill`, an exact `len`, and no `get_mut`.
//!
//! Code that is generic over the type uses the traits [`Filter`], [`OnceFilter`] and [`WithRate`]. The type [`Error`]
//! has a `From` implementation for every error of this crate.
//!
//! # Examples
//!
//! Four workers find the same URL, and one of them fetches it:
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
//! A function that is generic over the type of filter:
//!
//! ```
//! use tamis::{Error, OnceBloomFilter, OnceCuckooFilter, OnceFilter};
//!
//! /// Returns the jobs that this call claimed. No other call gets them.
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
pub use tamis_core::{AsItem, BuildError, Filter, Frozen, OnceFilter, Sampled, WithRate};
pub use tamis_cuckoo::{CuckooFilter, InsertError, MergeError, OnceCuckooFilter};

pub use crate::error::Error;

/// The Bloom filters, their builder and their geometry.
pub use tamis_bloom as bloom;

/// The cuckoo filters, their builder and their geometry.
pub use tamis_cuckoo as cuckoo;

/// Saved filters (feature `formats`): files, streams, mapped filters, and filters that processes share.
#[cfg(feature = "formats")]
pub use tamis_formats as formats;

/// Hashing: from an item to 64 bits, and from 64 bits to positions in a filter.
pub use tamis_hash as hash;

/// The README's example, as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
