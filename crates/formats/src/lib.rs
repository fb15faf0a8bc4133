//! The file format of [Tamis](https://docs.rs/tamis): saves, loads, maps and shares filters.
//!
//! | | from or to a path | from or to a stream |
//! |---|---|---|
//! | write a filter | [`save`], atomic | [`write()`] |
//! | read a filter | [`load`] | [`read`] |
//! | read a filter for queries only | [`load_frozen`] | [`read_frozen`] |
//! | add a saved Bloom filter to another | [`merge_from`] | [`merge_read`] |
//! | write a filter of [another system](foreign) | [`Options::save_foreign`] | [`Options::write_foreign`] |
//! | read a filter of another system | [`Options::load_foreign`] | [`Options::read_foreign`] |
//! | describe a file | [`Info::open`] | [`Info::read`] |
//! | use a file in place, in constant time | [`map`] | |
//! | share a filter between processes | [`Live`] | |
//! | write a set of filters with names | [`SetWriter`], atomic | [`SetStream`] |
//! | query a set of filters, each loaded or mapped on demand | [`FilterSet`] | |
//!
//! [`Options`] offers the same functions with a [`Policy`], the name of the normal form that the items had before they
//! were hashed.
//!
//! A filter that is saved has a [`StableHasher`](tamis_hash::StableHasher), whose seed or key is in the file. A loaded
//! filter gives the same answers as the saved one on every platform. If it is saved again, the file has the same bytes.
//!
//! # The format
//!
//! `spec/v1.md` in this crate describes every byte, in enough detail to write a reader in another language. A file has
//! the magic, version, kind, sizes, hash algorithm, seed, a hash probe, the policy, the counts, a checksum of the header
//! and one of each MiB of the body. A reader checks the header and the length before it allocates, and each part of the
//! body before it uses that part. All functions share one validator. Each fault has its own variant of [`LoadError`].
//!
//! Checksums detect damage. They do not prove the origin of a file: anyone can compute them.
//!
//! # Examples
//!
//! ```
//! # use tamis_formats as tamis;
//! use tamis::hash::Rapid;
//! use tamis::{BlockedBloomFilter, formats};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("seen.tamis");
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

mod body;
mod chain_sizes;
mod checksum;
mod directory;
mod early_sync;
mod error;
mod file;
pub mod foreign;
mod foreign_sizes;
mod generation_entry;
mod generation_sizes;
mod geometry;
mod header;
mod info;
mod kind;
mod line_bytes;
mod line_check;
mod live;
mod load;
mod map;
mod merge;
mod numbers;
mod options;
mod policy;
mod read;
#[doc(hidden)]
pub mod replace;
mod save;
mod save_error;
mod saved;
mod saved_chain;
mod saved_generations;
mod saved_window;
#[cfg(feature = "serde")]
pub mod serde;
mod set;
mod shards;
mod slice_entry;
mod source;
mod table;
mod table_sizes;
mod window_sizes;
mod wrapped;
mod write;

pub use tamis_sync::MapFile;

pub use crate::chain_sizes::ChainSizes;
pub use crate::error::LoadError;
pub use crate::foreign_sizes::ForeignSizes;
pub use crate::generation_sizes::GenerationSizes;
pub use crate::geometry::Geometry;
pub use crate::info::Info;
pub use crate::kind::Kind;
pub use crate::live::{Live, Parts};
pub use crate::load::{load, load_frozen};
pub use crate::map::{Mapped, map};
pub use crate::merge::{merge_from, merge_read};
pub use crate::options::Options;
pub use crate::policy::{Policy, PolicyError};
pub use crate::read::{read, read_frozen};
pub use crate::save::save;
pub use crate::save_error::SaveError;
pub use crate::saved::{Mappable, Mergeable, Saved, SavedBloom};
pub use crate::set::{FilterSet, SetError, SetFilter, SetInfo, SetSaveError, SetStream, SetWriter};
pub use crate::shards::TableParts;
pub use crate::table_sizes::TableSizes;
pub use crate::window_sizes::WindowSizes;
pub use crate::write::{encoded_len, write};
#[doc(hidden)]
pub use tamis_bloom::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, OnceBloomFilter, OnceScalableBloomFilter,
    RotatingBloomFilter, ScalableBloomFilter,
};
#[doc(hidden)]
pub use tamis_core::Frozen;
#[doc(hidden)]
pub use tamis_cuckoo::{CuckooFilter, OnceCuckooFilter, ScalableCuckooFilter};
#[doc(hidden)]
pub use tamis_hash as hash;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
