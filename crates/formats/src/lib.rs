//! The file format of [Tamis](https://docs.rs/tamis): saves, loads, maps and shares filters.
//!
//! | | from or to a path | from or to a stream |
//! |---|---|---|
//! | write a filter | [`save`], atomic | [`write()`] |
//! | read a filter | [`load`] | [`read`] |
//! | read a filter for queries only | [`Options::load_frozen`] | [`Options::read_frozen`] |
//! | add a saved Bloom filter to another | [`Options::merge_from`] | |
//! | write a filter of [another system](foreign) | [`Options::save_foreign`] | [`Options::write_foreign`] |
//! | read a filter of another system | [`Options::load_foreign`] | [`Options::read_foreign`] |
//! | describe a file | [`Info::open`] | [`Info::read`] |
//! | use a file in place, in constant time | [`map`] | |
//! | share a filter between processes | [`Live`] | |
//! | write a set of filters with names | [`SetWriter`], atomic | [`SetStream`] |
//! | query a set of filters, each loaded or mapped on demand | [`FilterSet`] | |
//!
//! [`Options`] offers all of these with a [`Normalization`], the name of the normal form that the
//! items had before they were hashed.
//!
//! A filter that is saved has a [`StableHasher`](tamis_hash::StableHasher), whose seed or key is in
//! the file. A loaded filter gives the same answers as the saved one on every platform. If it is
//! saved again, the file has the same bytes.
//!
//! # The format
//!
//! `spec/v1.md` in this crate describes every byte, in enough detail to write a reader in another
//! language. A file has the magic, version, kind, sizes, hash algorithm, seed, a hash probe, the
//! normalization, the counts, a checksum of the header and one of each MiB of the body. A reader
//! checks the header and the length before it allocates, and each part of the body before it uses
//! that part. All functions share one validator. Each fault has its own variant of [`LoadError`].
//!
//! Checksums detect damage. They do not prove the origin of a file: anyone can compute them.
//!
//! # Forks
//!
//! Fork only while no other thread saves a filter, or uses the same [`FilterSet`]: they hold a lock
//! for moments, which would stay locked in the child. A temporary file belongs to the process that
//! created it.
//!
//! # Examples
//!
//! ```
//! # use tamis_formats as tamis;
//! use tamis::hash::Rapid;
//! use tamis::{BlockedBloomFilter, formats};
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("seen.tamis");
//! let seen = BlockedBloomFilter::<str, _>::builder()
//!     .capacity(1000)
//!     .hasher(Rapid::with_seed(7))
//!     .build()?;
//! seen.insert("https://example.org/");
//! formats::save(&seen, &path)?;
//!
//! let again: BlockedBloomFilter<str, Rapid> = formats::load(&path)?;
//! assert!(again.contains("https://example.org/"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

// The examples use this crate under the name `tamis`.
#[doc(hidden)]
pub extern crate self as formats;

mod error;
mod filters;
pub mod foreign;
mod io;
mod kind;
mod layout;
mod normalization;
mod options;
mod save_error;
#[cfg(feature = "serde")]
pub mod serde;
mod set;
mod sizes;

pub use tamis_sync::MapFile;

pub use crate::error::LoadError;
pub use crate::filters::saved::{Mappable, Mergeable, Saved, SavedBloom};
pub use crate::io::info::Info;
pub use crate::io::live::{Live, Parts};
pub use crate::io::load::load;
pub use crate::io::map::{Mapped, map};
pub use crate::io::read::read;
#[doc(hidden)]
pub use crate::io::replace;
pub use crate::io::save::save;
pub use crate::io::shards::TableParts;
pub use crate::io::write::{encoded_len, write};
pub use crate::kind::Kind;
pub use crate::normalization::{Normalization, NormalizationError};
pub use crate::options::Options;
pub use crate::save_error::SaveError;
pub use crate::set::{FilterSet, SetError, SetFilter, SetInfo, SetSaveError, SetStream, SetWriter};
pub use crate::sizes::chain::ChainSizes;
pub use crate::sizes::foreign::ForeignSizes;
pub use crate::sizes::geometry::Geometry;
pub use crate::sizes::growing::GrowingSizes;
pub use crate::sizes::table::TableSizes;
pub use crate::sizes::window::WindowSizes;
#[doc(hidden)]
pub use tamis_bloom::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, OnceBloomFilter, OnceScalableBloomFilter,
    RotatingBloomFilter, ScalableBloomFilter,
};
#[doc(hidden)]
pub use tamis_core::Frozen;
#[doc(hidden)]
pub use tamis_cuckoo::{CuckooFilter, OnceCuckooFilter};
#[doc(hidden)]
pub use tamis_hash as hash;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
