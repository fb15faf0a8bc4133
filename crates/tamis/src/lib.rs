//! Concurrent membership filters: compact sets that answer "was this item inserted before?" for
//! many threads at once.
//!
//! A filter stores a few bits per item instead of the item itself. The price is false positives:
//! `contains` may return `true` for an item that was never inserted. You choose the probability of
//! that, the false-positive rate.
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
//! # Which type?
//!
//! | You want | Use | If several threads insert one new item at once | Bits per item, for ten million items, at 1 % / 1e-4 / 1e-6 / 1e-9 |
//! |---|---|---|---|
//! | to skip lookups of absent keys in a store or cache | [`BlockedBloomFilter`] | at least one call returns `true` | 12.0 / 25.6 / 40.7 / 90.0 |
//! | each URL, job or event claimed by exactly one worker | [`OnceBloomFilter`] | **exactly one** call returns `true` | 12.0 / 25.7 / 40.8 / 90.4 |
//! | event de-duplication within a window: the last items, or the last hour | [`RotatingBloomFilter`] | **exactly one** call returns `true` while the item is in the window | 21.1 / 39.4 / 68.8 / 151 |
//! | the least memory above 0.1 %, with slower operations | [`BloomFilter`] | at least one call returns `true` | 9.6 / 19.2 / 29.0 / 43.4 |
//! | to remove items, or to count copies | [`CuckooFilter`] | each call adds a copy | 13.1 / 19.5 / 26.3 / 37.2 |
//! | to remove items, with inserts that never fail | [`CountingBloomFilter`] | at least one call returns `true`; each adds a copy | 47.8 / 102.4 / 162.7 / 359.9 |
//! | the least memory of all types at most rates below 0.03 %, or claims that return an error when the filter is full | [`OnceCuckooFilter`] | **exactly one** call returns `Ok(true)` | 13.1 / 19.5 / 26.3 / 37.2 |
//! | a filter whose size you cannot guess: it grows while threads use it | [`ScalableBloomFilter`] | at least one call returns `true` | those of a blocked filter, [times 3 on average](guide::grow#by-slices) |
//! | claims whose number you cannot guess | [`OnceScalableBloomFilter`] | **exactly one** call returns `true` | those of a blocked filter, [times 3 on average](guide::grow#by-slices) |
//!
//! Both cuckoo filters grow in place, while threads use them, if the builder gets a
//! [`max_capacity`](cuckoo::Builder::max_capacity). They then take one to two bits more per item,
//! on average, for each doubling that is still possible. Use them if the filter must grow, and
//! either items are removed or each item has one winner.
//!
//! The 26.3 bits of the cuckoo filters need x86-64 with AVX; elsewhere they take 37.2. [The
//! guide](guide::figures) compares speed.
//!
//! What a false positive costs depends on the use. In front of a store it costs one unnecessary
//! lookup. When workers claim items, it is an item that no worker claims: choose a low rate, such
//! as 1e-6.
//!
//! Do not use a filter if you need exact answers, or for fewer than about 100,000 items: a
//! `HashSet`, or a concurrent map such as `DashMap`, is better.
//!
//! # The guide
//!
//! [`guide`] has one short chapter per task: [claim work](guide::claim), [guard a
//! store](guide::guard), [forget old items](guide::forget), [remove](guide::remove),
//! [grow](guide::grow), [save, map and share between processes](guide::save), [share between
//! machines](guide::redis), [choose a hasher](guide::hashers), [do without `std`](guide::no_std),
//! [write generic code](guide::generic), [estimate memory and time](guide::figures), [replace
//! another crate](guide::coming_from).
//!
//! # What all types have
//!
//! * **Shared access.** `insert` and `contains` take `&self`, so threads need no lock around the
//!   filter.
//! * **No false negatives.** If an insert happens before a query of the same item, the query
//!   returns `true`. There are two conditions. If items are removed, remove only what you inserted,
//!   once per insert. In a [`RotatingBloomFilter`], an insert that returned `true` is found for the
//!   whole window; [the chapter](guide::forget) says how to keep the others.
//! * **A known false-positive rate.** The size is computed for the actual layout of the filter, and
//!   `false_positive_rate` returns the rate for its current contents.
//! * **The same names.** Most methods to build, insert, query and report figures are the same in
//!   all types, so one type can replace another. [Generic code](guide::generic) uses the traits
//!   [`Filter`], [`OnceFilter`] and [`WithRate`]. A function that returns [`Error`] can build,
//!   fill, combine, save and load filters with `?`.
//! * **Any hasher.** The default is ahash with random keys. A filter that is saved, or shared
//!   between programs, needs a stable hasher from the module [`hash`].
//! * **Clearing.** `clear` needs exclusive access, except in a [`RotatingBloomFilter`]. The chapter
//!   [`guide::replace`] clears or replaces any filter while threads use it.
//!
//! # Features
//!
//! | Feature | Adds |
//! |---|---|
//! | `std`, on by default | hashers with random keys, waiting threads that yield |
//! | `formats` | filters in files: [save, map and share](guide::save) |
//! | `serde` | filters as fields of serialized data |
//! | `rayon` | parallel `collect` and `par_extend` of Bloom filters of a fixed size |

#![cfg_attr(not(feature = "std"), no_std)]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]
#![forbid(unsafe_code)]

mod error;
#[cfg(doc)]
pub mod guide;

pub use tamis_bloom::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, OnceBloomFilter, OnceScalableBloomFilter,
    RotatingBloomFilter, ScalableBloomFilter, UnionError,
};
pub use tamis_core::{
    AsItem, BuildError, ByHash, DynFilter, Figures, Filter, Frozen, Hashed, HashedCopies,
    OnceFilter, Sampled, Verdict, WithRate,
};
pub use tamis_cuckoo::{CuckooFilter, InsertError, MergeError, OnceCuckooFilter};

pub use crate::error::Error;

/// What only users of particular Bloom filters name: their builders, their sizes, and the view of
/// `get_mut`; and [`split_block`](bloom::split_block), for engines that have hashes.
pub mod bloom {
    pub use tamis_bloom::{
        Buildable, Builder, Exclusive, Geometry, Growing, InLines, RotatingBuilder,
        ScalableBuilder, Window, split_block,
    };
}

/// What only users of particular cuckoo filters name: their builders and their sizes.
pub mod cuckoo {
    pub use tamis_cuckoo::{Buildable, Builder, Geometry};
}

/// Saved filters (feature `formats`): files, streams, mapped filters, and filters that processes
/// share.
#[cfg(feature = "formats")]
pub use tamis_formats as formats;

/// Hashing: from an item to 64 bits, and from 64 bits to positions in a filter.
pub use tamis_hash as hash;

/// The README's example, as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
