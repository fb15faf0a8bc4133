//! Concurrent cuckoo filters: approximate sets that many threads insert into, query and remove from
//! at once.
//!
//! A query may report an item that is absent, at a rate that you choose. It never misses an item
//! that is present. [One table](https://docs.rs/tamis/latest/tamis/#which-type) helps to choose
//! among all filters of Tamis. This table compares the two cuckoo filters:
//!
//! | | [`CuckooFilter`] | [`OnceCuckooFilter`] |
//! |---|---|---|
//! | a repeated insert of an item | adds a copy | returns `Ok(false)` |
//! | concurrent inserts of one new item | each adds a copy | **exactly one** returns `Ok(true)` |
//! | [`remove`](CuckooFilter::remove), [`count`](CuckooFilter::count) | yes | no |
//! | insert into a bucket with an empty slot | one compare-exchange, no lock | one compare-exchange, under a lock |
//! | insert into full buckets | relocates other items, under one lock at a time | the same |
//! | query | no lock, except after eight attempts that relocations or removals disturbed | the same |
//!
//! Both grow if the builder gets a [`max_capacity`](Builder::max_capacity):
//! `.capacity(10_000).max_capacity(100_000_000)`. The table grows in place, a few buckets at a
//! time, while other threads use it. A query reads two buckets at any size, and no answer changes.
//! Growth has these costs:
//!
//! * An insert takes the lock of its item, and is slower, since the table is mostly nearly full.
//! * Each doubling that is still possible costs one to two bits per item on average.
//! * The filter does not shrink. [`clear`](CuckooFilter::clear) keeps the memory too.
//!
//! Only an insert that finds no room waits for growth. If another thread stopped with a lock that
//! growth needs, the insert waits for about a second, and returns [`InsertError::Stalled`]. Calls
//! that need this lock for their own item, at most one item in 256, wait until that thread goes on.
//! At its last size a full filter returns [`InsertError::Full`]. [`growth`] has the protocol.
//!
//! A *slot* holds the fingerprint of one item. A *bucket* consists of a few slots. Each item has
//! two buckets. The builder chooses the shape of the buckets that needs the fewest bits, or nearly
//! the fewest:
//!
//! | slots × bits of a bucket | false-positive rate at capacity | bits per item | bits per item of a classic Bloom filter at this rate |
//! |---|---|---|---|
//! | 8 × 8 | 6 % | 8.2 | 5.9 |
//! | 4 × 8 | 3 % | 8.6 | 7.3 |
//! | 5 × 12 | 0.24 % | 13.1 | 12.6 |
//! | 4 × 16 | 0.012 % | 16.8 | 19.0 |
//! | 7 × 18 * | 5.3e-5 | 18.6 | 20.7 |
//! | 3 × 20 | 5.3e-6 | 22.9 | 25.5 |
//! | 5 × 25 * | 2.9e-7 | 26.3 | 31.5 |
//! | 4 × 32 * | 1.8e-9 | 33.5 | 42.2 |
//! | 2 × 32 | 8e-10 | 37.2 | 43.9 |
//! | 3 × 42 * | 1.3e-12 | 45.9 | 57.5 |
//!
//! \* Buckets of 128 bits. They need a processor that loads 128 bits atomically: x86-64 with AVX,
//! detected by feature `std` ([`Geometry::shapes`]). On other processors the builder does not
//! choose them. Their operations take longer, so the builder chooses them only if they save a
//! twentieth of the memory.
//!
//! MEASURED: with 5 slots of 25 bits, a query takes 7.4 ns, and 3.6 ns in batches, instead of 5.6
//! ns and 3.2 ns with 2 slots of 32 bits; an insert takes 28 ns instead of 25 ns (100,000 items,
//! Zen 5).
//!
//! The table is for a million items. With more items, equal hashes raise the last rate: no filter
//! has a rate below `items / 2^64`. At a rate a little below that of a row, the builder keeps the
//! shape and adds buckets. At a much lower rate it takes the next shape. In between, the filter may
//! be larger than a classic Bloom filter: at 0.1 %, 16.8 bits per item instead of 14.4.
//!
//! # Guarantees
//!
//! * **No false negatives.** A query finds every item whose insert happened before it and which was
//!   not removed, while other threads insert, relocate and remove. [`protocol`] contains the proof.
//! * **A failed insert leaves the contents unchanged.** It returns an [`InsertError`].
//! * **`len` is a count, not an estimate.** It is exact while no thread writes.
//! * **The false-positive rate is reported** for the contents of the filter, exactly while no
//!   thread writes.
//! * **Any even number of buckets** is a valid size. It need not be a power of two.
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
//! `insert_many_with`, `contains_many_with` and `remove_many_with` process 32 items at a time. They
//! hash ahead and prefetch ahead. They accept owned and borrowed items ([`AsItem`]) and pass the
//! results to a callback, in order. `insert_many`, `contains_many` and `remove_many` collect the
//! results in a vector.
//!
//! * **They look ahead.** Up to 96 items are pulled from the iterator, and up to 32 are queried,
//!   before the first result. So the results after a callback may not reflect what it inserts, and
//!   a slow iterator delays results: of a channel, pass the items that are available
//!   (`receiver.try_iter()`).
//! * **A panic in the iterator or the hasher loses no result of a change**: a batch is complete
//!   before any of it is inserted or removed. (`insert_many` hashes all items first.) A panic in
//!   the callback can lose the results of up to 31 further changes. The filter stays valid.
//!
//! # Memory order
//!
//! A query finds an item if the insert *happens before* the query: after a `join`, through a
//! channel, a mutex, or any other pair of Release and Acquire. Without such a pair, the query may
//! find the item late. A result of the filter does not synchronize with the thread that inserted
//! the item: its other writes may be invisible.
//!
//! # Locks
//!
//! Inserts that claim or relocate, removals and counts hold the lock of an item for a few stores.
//! In a filter that grows, every insert does; in another one, a query after eight disturbed
//! attempts. Clones, merges and saves hold all locks while they copy the buckets. So:
//!
//! * **Fork only while no other thread uses the filter.** A lock that a thread holds at that moment
//!   stays locked in the child, where the thread does not exist. A call that needs it would wait
//!   for ever.
//! * **Do not use the filter in a signal handler.** It may have interrupted the holder of a lock.
//!
//! # Features
//!
//! * `std` (default): random keys for the default hasher; waiting threads yield; `len` is a sharded
//!   counter; buckets of 128 bits. Without `std`, the crate needs only `alloc` and 64-bit atomics.

#![cfg_attr(not(feature = "std"), no_std)]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]
#![forbid(unsafe_code)]

extern crate alloc;
// The examples use this crate under the name `tamis`.
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
pub mod growth;
mod line_len;
mod many;
mod methods;
mod multiset;
mod occupancy;
mod once;
mod place;
pub mod raw;
mod search;
mod shared;
mod sizing;
mod table;
mod traits;
mod unpaired;

#[doc = include_str!("protocol.md")]
pub mod protocol {}

pub use crate::builder::{Buildable, Builder};
pub use crate::error::{InsertError, MergeError};
pub use crate::geometry::Geometry;
pub use crate::multiset::CuckooFilter;
pub use crate::once::OnceCuckooFilter;
pub use tamis_core::{
    AsItem, BuildError, ByHash, DynFilter, Figures, Filter, Frozen, Hashed, HashedCopies,
    OnceFilter, Sampled, Verdict, WithRate,
};
pub use tamis_hash as hash;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
