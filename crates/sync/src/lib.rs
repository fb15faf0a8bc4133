//! The one place in Tamis that names atomics or loom.
//!
//! A filter is an array of cache [`Line`]s, each of eight 64-bit atomic [`Word`]s. This crate gives
//! those, zeroed and aligned ([`Lines`]), and a way to wait for a lock ([`Backoff`]). It knows no
//! filter: what the bits mean, and which ordering an access needs, is the business of the crate that
//! makes it.
//!
//! Under `--cfg tamis_loom` (feature `loom`) the same names stand for loom's modelled atomics, and
//! [`model`](https://docs.rs/loom) holds the harness that runs a model and makes sure that it was
//! really explored. The two halves, `real` and `modelled`, offer the same items. Under
//! `--cfg tamis_shuttle` (feature `shuttle`) `real` runs on shuttle's atomics, whose scheduler tries
//! random interleavings of more threads than loom can exhaust.

#![cfg_attr(not(feature = "std"), no_std)]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]
#![cfg_attr(
    not(tamis_shuttle),
    expect(clippy::disallowed_types, reason = "this is the crate that the rule points to")
)]

extern crate alloc;

mod backoff;
mod counter;
#[cfg(all(not(any(tamis_loom, tamis_shuttle)), feature = "std"))]
mod index;
mod lines;
mod memory;
#[cfg(tamis_loom)]
pub mod model;
#[cfg(tamis_shuttle)]
pub mod schedule;
mod bit_slice;
mod simd;
#[cfg(tamis_loom)]
#[path = "modelled.rs"]
mod word;
#[cfg(not(tamis_loom))]
#[path = "real.rs"]
mod word;

pub use core::sync::atomic::Ordering;
pub use crossbeam_utils::CachePadded;

pub use crate::backoff::Backoff;
pub use crate::counter::Counter;
pub use crate::lines::{AllocError, LINE_BITS, LINE_BYTES, LINE_WORDS, Line, Lines};
pub use crate::bit_slice::BitSlice;
pub use crate::simd::{Loop, SimdLevel};
pub use crate::word::Word;

/// Threads and shared ownership, real or modelled: what a test that is also a model builds on.
pub mod thread {
    #[cfg(tamis_loom)]
    pub use loom::sync::Arc;
    #[cfg(tamis_loom)]
    pub use loom::thread::{spawn, yield_now};

    #[cfg(not(tamis_loom))]
    pub use alloc::sync::Arc;
    #[cfg(tamis_shuttle)]
    pub use shuttle::thread::{spawn, yield_now};
    #[cfg(all(not(any(tamis_loom, tamis_shuttle)), feature = "std"))]
    pub use std::thread::{spawn, yield_now};

    #[cfg(all(not(any(tamis_loom, tamis_shuttle)), feature = "std"))]
    pub use crate::index::index;

    /// A number for the calling thread: here one that all share.
    #[cfg(any(tamis_loom, tamis_shuttle, not(feature = "std")))]
    #[inline]
    #[must_use]
    pub fn index() -> usize {
        usize::MAX
    }
}

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
