//! The atomics, cache lines and locks of Tamis: the only crate of the workspace that names atomics
//! or loom.
//!
//! A filter is an array of cache [`Line`]s, each of eight 64-bit atomic [`Word`]s. This crate
//! provides these arrays, zeroed and aligned or mapped from a file ([`Lines`]), a lock in one bit
//! of a word ([`Word::lock`]), plain bytes in such an array ([`Blocks`]), and a backoff for its
//! waiters ([`Backoff`]). A [`Pair`] of words is one atomic of 128 bits, where the processor has
//! them. [`SimdLevel`] runs loops with the widest vectors of the processor, [`run_batches`] works
//! on many items in batches, and [`Counter`] is a sharded counter. [`Stripes`] are locks selected
//! by a key, and [`Slots`] is a list that grows while threads read it. The crate knows no filter:
//! the crate of a filter decides what the bits mean and which ordering an access needs.
//!
//! Under `--cfg tamis_loom` (feature `loom`) the same names stand for loom's modelled atomics, and
//! the module `model` holds a harness that runs a model and checks that it was really explored. The
//! files `real.rs` and `modelled.rs` offer the same items. Under `--cfg tamis_shuttle` (feature
//! `shuttle`) `real.rs` runs on shuttle's atomics: shuttle tries random interleavings of more
//! threads than loom can exhaust.

#![cfg_attr(not(feature = "std"), no_std)]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]
#![cfg_attr(
    not(tamis_shuttle),
    expect(clippy::disallowed_types, reason = "the rule tells other crates to use this one")
)]

extern crate alloc;

mod backoff;
mod batches;
mod bit_slice;
mod blocks;
mod counter;
#[cfg(all(not(any(tamis_loom, tamis_shuttle)), feature = "std"))]
mod index;
mod lanes;
mod line;
mod lines;
#[cfg(all(any(unix, windows), feature = "std", not(any(tamis_loom, tamis_shuttle))))]
mod map_file;
mod memory;
#[cfg(tamis_loom)]
pub mod model;
mod out_of_memory;
mod pair;
mod ring;
#[cfg(tamis_shuttle)]
pub mod schedule;
mod simd;
mod slots;
#[cfg(all(target_os = "linux", feature = "std", not(any(tamis_loom, tamis_shuttle))))]
mod socket;
mod stripes;
pub mod thread;
#[cfg(tamis_loom)]
#[path = "modelled.rs"]
mod word;
#[cfg(not(tamis_loom))]
#[path = "real.rs"]
mod word;

pub use core::sync::atomic::Ordering;
pub use crossbeam_utils::CachePadded;

pub use crate::backoff::Backoff;
pub use crate::batches::{BATCH, BatchWork, run_batches};
pub use crate::bit_slice::BitSlice;
pub use crate::blocks::{Block, Blocks, prefetch_block};
pub use crate::counter::Counter;
pub use crate::lanes::{Lanes, Packing};
pub use crate::line::{LINE_BITS, LINE_BYTES, LINE_WORDS, Line};
pub use crate::lines::{AllocError, Lines};
#[cfg(all(any(unix, windows), feature = "std", not(any(tamis_loom, tamis_shuttle))))]
pub use crate::map_file::MapFile;
pub use crate::out_of_memory::out_of_memory;
pub use crate::pair::{Pair, PairAccess, PairLines};
pub use crate::ring::Ring;
pub use crate::simd::{Kernel, SimdLevel, Vectors};
pub use crate::slots::Slots;
#[cfg(all(target_os = "linux", feature = "std", not(any(tamis_loom, tamis_shuttle))))]
pub use crate::socket::unsent;
pub use crate::stripes::{StripeGuard, Stripes};
pub use crate::word::Word;

/// The README's example, as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
