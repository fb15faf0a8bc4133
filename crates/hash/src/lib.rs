//! Hashing for the filters of Tamis: from an item to 64 bits, and from 64 bits to positions in a
//! filter.
//!
//! Every filter hashes an item **once**, to 64 bits, and derives everything else from them. There
//! are two kinds of hashing, and the trait [`HashItem`] covers both:
//!
//! * **For one process**: any [`BuildHasher`](core::hash::BuildHasher), with items that are
//!   [`Hash`](core::hash::Hash). The default, [`DefaultHashBuilder`], is ahash with random keys.
//!   Its hashes may differ on another machine or in another release, so a filter made with it must
//!   not be saved.
//! * **Stable**: a [`StableHasher`], a named algorithm that never changes, over the [`Portable`]
//!   encoding of the item, which is the same on every platform. There are [`Rapid`], [`Xxh3`],
//!   [`Xxh64`] and [`SipHash13`], and [`AnyStable`] for a choice at run time. Use one of them for
//!   every filter that is saved, shared or sent.
//!
//! The module [`split`] divides one hash into block, bit pattern, fingerprint and shard.
//!
//! The 64-bit hash limits every filter: an item has the same hash as one of `n` others with
//! probability `n / 2^64`. No filter can promise a lower false-positive rate.
//!
//! # Examples
//!
//! ```
//! # use tamis_hash as tamis;
//! use tamis::hash::{HashItem, Rapid, StableHasher};
//!
//! let hasher = Rapid::with_seed(42);
//! // A string hashes as its bytes do, on every platform and in every release.
//! assert_eq!(hasher.hash_item("https://example.org/"), hasher.hash_bytes(b"https://example.org/"));
//! ```

#![cfg_attr(not(feature = "std"), no_std)]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]
#![forbid(unsafe_code)]

extern crate alloc;
#[doc(hidden)]
pub extern crate self as hash;

mod algorithm;
mod any;
mod builder;
mod item;
mod portable;
mod range;
pub mod split;
mod stable;

pub use crate::algorithm::Algorithm;
pub use crate::any::AnyStable;
pub use crate::builder::DefaultHashBuilder;
pub use crate::item::{HashItem, ItemHasher};
pub use crate::portable::{Encoder, Portable};
pub use crate::range::{fastrange, narrow_range};
pub use crate::stable::{Rapid, SipHash13, StableHasher, Xxh3, Xxh64};

/// The README's example, as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
