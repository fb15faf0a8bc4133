//! Concurrent Bloom filters over atomic words: sets that answer "was this item inserted?" for many
//! threads.
//!
//! A query returns `false` only if no insert of the item happened before it. It may return `true`
//! for an item that was not inserted: a false positive, at a rate that you choose.
//!
//! [One table](https://docs.rs/tamis/latest/tamis/#which-type) helps to choose among all filters of
//! Tamis, with their bits per item and what they promise when inserts race. This one says how three
//! of them work:
//!
//! | | [`BloomFilter`] | [`BlockedBloomFilter`] | [`OnceBloomFilter`] |
//! |---|---|---|---|
//! | where the bits of an item lie | anywhere | in one cache line | in one cache line |
//! | cache lines per operation | up to one per probe | 1 | 1 |
//! | insert | lock-free | lock-free | lock-free if the bits of an item are in one word (the default at 1 % and above); otherwise locks one line for a few stores |
//! | contains | wait-free | wait-free | wait-free |
//!
//! * A [`CountingBloomFilter`] is a blocked filter with a counter of four bits for each bit. Its
//!   inserts and removals are lock-free, its queries wait-free.
//! * [`ScalableBloomFilter`] and [`OnceScalableBloomFilter`] are chains of blocked filters that
//!   grow while threads use them.
//! * A [`RotatingBloomFilter`] covers a window: the last items, or the last span of time. With 7
//!   generations, the default, a query reads one cache line per word of the item. The insert of a
//!   new item locks a stripe.
//!
//! All types have:
//!
//! * no false negatives: a query finds every item whose insert happens before it (in a
//!   [`CountingBloomFilter`], as long as the item is not removed and only items that were inserted
//!   are removed; in a [`RotatingBloomFilter`], if the insert returned `true` or was an
//!   `insert_or_refresh`, and is in the window);
//! * a false-positive rate that is computed for the actual layout when the filter is built, and
//!   reported for the current contents at any time;
//! * any size, up to 2^64 bits;
//! * methods on `&self` that any number of threads may call concurrently, and methods on `&mut
//!   self` that have exclusive access.
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
//! `insert_many_with`, `contains_many_with` and their variants work on 32 items at a time: they
//! hash items ahead and request their memory ahead. Where that gains nothing, as for inserts into
//! filters that fit in a cache, they work on one item at a time. They take owned or borrowed items
//! ([`AsItem`]) and pass the results to a callback, in order. `insert_many` and `contains_many`
//! collect the results.
//!
//! * **Batches look ahead.** Up to 32 items are queried before the first result is passed on, so
//!   the results that follow may miss what the callback inserts. Up to 96 items are pulled from the
//!   iterator before the first result.
//! * **A slow iterator delays results.** A batch waits until it is full or the iterator ends. With
//!   a channel, pass only the items that are ready (`receiver.try_iter()`), and block only for the
//!   first item of the next batch.
//! * **A panic in the iterator or the hasher loses no result.** The items of a batch are pulled
//!   before any of them is inserted, so the result of every inserted item has been passed on.
//!   (`insert_many` hashes all items first.) If the callback panics, up to 31 further items have
//!   already been inserted, and their results are lost. The filter stays valid in every case.
//!
//! # Locks
//!
//! Writes to a [`RotatingBloomFilter`], to a [`OnceScalableBloomFilter`], and to a
//! [`OnceBloomFilter`] with several words per item hold a lock for a few stores. In a
//! [`RotatingBloomFilter`], `rotate`, `clear` and `advance` hold one while they clear a generation,
//! and `forget_time`, `clock_changes`, `clone` and a save hold one, too. So:
//!
//! * **Fork only while no other thread writes to such a filter, or makes one of these calls.** A
//!   lock that a thread holds at that moment stays locked in the child, where the thread does not
//!   exist. A write there would wait for ever.
//! * **Do not write to such a filter in a signal handler.** It may have interrupted the holder of
//!   the lock.
//!
//! Queries take no lock. No call of the other filters takes one.
//!
//! # Metrics
//!
//! `figures` reads all bits once, and returns the number of items, the fill, the saturation and the
//! false-positive rate ([`Figures`]). `figures_sampled` reads a sample of the lines, and returns
//! each figure with its standard error.
//!
//! # Memory order
//!
//! A query sees every insert that *happens before* it: through a `join`, a channel, a mutex, or any
//! other pair of Release and Acquire. Without such a pair a query may return `false` for an item
//! whose insert has already returned; apart from false positives, it cannot be wrong in any other
//! way. A `false` from `insert` or a `true` from `contains` does not synchronize with the thread
//! that inserted the item: its other writes may be invisible.
//!
//! # Features
//!
//! `std` (default): random keys for the default hasher; waiting threads yield. Without it the crate
//! needs only `alloc` and 64-bit atomics. `items` (default): all filters of items; without it the
//! crate is the module [`split_block`], for engines that have hashes. `rayon`: parallel collection.

#![cfg_attr(not(feature = "std"), no_std)]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]
#![forbid(unsafe_code)]

extern crate alloc;
// The examples use this crate under the name `tamis`.
#[doc(hidden)]
pub extern crate self as bloom;
#[cfg(any(test, feature = "rayon"))]
extern crate std;

// First: rustdoc shows the methods of a type in the order of the modules.
#[cfg(feature = "items")]
mod methods;

#[cfg(feature = "items")]
mod fixed_methods;
#[cfg(feature = "items")]
mod growing_methods;

#[cfg(feature = "items")]
mod array;
#[cfg_attr(
    not(feature = "items"),
    expect(dead_code, unreachable_pub, reason = "the filters of items use and export the rest")
)]
mod bits;
#[cfg(feature = "items")]
mod blocked;
#[cfg(feature = "items")]
mod build;
#[cfg(feature = "items")]
mod builder;
#[cfg(feature = "items")]
mod chain;
#[cfg(feature = "items")]
mod classic;
#[cfg(feature = "items")]
mod collect;
#[cfg(feature = "items")]
mod counters;
#[cfg(feature = "items")]
mod counting;
#[cfg(feature = "items")]
mod error;
#[cfg(feature = "items")]
mod exclusive;
#[cfg(feature = "items")]
mod figures;
#[cfg(feature = "items")]
mod filter;
#[cfg(feature = "items")]
mod geometry;
#[cfg(feature = "items")]
mod growing;
#[cfg(feature = "items")]
mod many;
#[cfg(all(test, tamis_loom, feature = "items"))]
mod models;
#[cfg(feature = "items")]
mod nibbles;
#[cfg(feature = "items")]
mod once;
#[cfg(feature = "items")]
mod once_scalable;
#[cfg(feature = "items")]
mod probe;
#[cfg(feature = "items")]
pub mod raw;
#[cfg(feature = "items")]
mod regions;
#[cfg(feature = "items")]
mod rotating;
#[cfg(feature = "items")]
mod scalable;
#[cfg(feature = "items")]
mod shared;
#[cfg(feature = "items")]
mod sizing;
pub mod split_block;
#[cfg(feature = "items")]
mod traits;

#[cfg(feature = "items")]
pub use crate::{
    blocked::BlockedBloomFilter,
    builder::Builder,
    classic::BloomFilter,
    counting::CountingBloomFilter,
    error::UnionError,
    exclusive::Exclusive,
    filter::{Buildable, InLines},
    geometry::Geometry,
    growing::{Growing, ScalableBuilder},
    once::OnceBloomFilter,
    once_scalable::OnceScalableBloomFilter,
    rotating::builder::RotatingBuilder,
    rotating::{RotatingBloomFilter, Window},
    scalable::ScalableBloomFilter,
};
#[cfg(feature = "items")]
pub use tamis_core::{
    AsItem, BuildError, ByHash, DynFilter, Figures, Filter, Hashed, HashedCopies, OnceFilter,
    Sampled, Verdict, WithRate,
};
#[cfg(feature = "items")]
pub use tamis_hash as hash;

/// Compiles and runs the README's example.
#[cfg(all(doctest, feature = "items"))]
#[doc = include_str!("../README.md")]
struct Readme;
