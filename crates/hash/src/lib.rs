//! From an item to 64 bits, and from 64 bits to places in a filter.
//!
//! Every filter of Tamis hashes an item **once**, to 64 bits; everything else is derived from them.
//! There are two ways to hash, joined by the trait [`HashItem`]:
//!
//! * **for this process**: any [`BuildHasher`](core::hash::BuildHasher) with items that are
//!   [`Hash`](core::hash::Hash). The default, [`DefaultHashBuilder`], is ahash with random keys. Such a
//!   hash may differ on another machine or in another release: a filter made with it is never saved.
//! * **for good**: a [`StableHasher`], a named algorithm that never changes, over the
//!   [`Portable`] encoding of the item, which is the same on every platform: [`Rapid`], [`Xxh3`],
//!   [`Xxh64`], [`SipHash13`]. For whatever is saved, shared or sent.
//!
//! How one hash becomes block, pattern, fingerprint and shard is the business of [`split`].
//!
//! One 64-bit hash bounds what any filter can do: two of `n` items share theirs with a chance of
//! `n / 2^64` an item, so no false-positive rate below that can be promised.
//!
//! # Examples
//!
//! ```
//! # use tamis_hash as tamis;
//! use tamis::hash::{HashItem, Rapid, StableHasher};
//!
//! let hasher = Rapid::with_seed(42);
//! // A string hashes as its bytes do, here, on every platform and in every release.
//! assert_eq!(hasher.hash_item("https://example.org/"), hasher.hash_bytes(b"https://example.org/"));
//! ```

#![cfg_attr(not(feature = "std"), no_std)]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]
#![forbid(unsafe_code)]

extern crate alloc;
#[doc(hidden)]
pub extern crate self as hash;

mod builder;
mod item;
mod portable;
mod range;
pub mod split;
mod stable;

pub use crate::builder::DefaultHashBuilder;
pub use crate::item::{HashItem, ItemHasher};
pub use crate::portable::{Encoder, Portable};
pub use crate::range::{fastrange, narrow_range};
pub use crate::stable::{Rapid, SipHash13, StableHasher, Xxh3, Xxh64};

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
