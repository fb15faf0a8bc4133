//! What all filters of [Tamis](https://docs.rs/tamis) share.
//!
//! * [`Filter`]: the trait for code that is generic over the type of filter, [`OnceFilter`] for code that needs
//!   exactly one winner per item, and [`WithRate`] for code that makes filters.
//! * [`BuildError`]: why a filter cannot be built, the same for every type.
//! * [`AsItem`]: what a batch may consist of, items owned or borrowed.
//! * [`Sampled`]: a figure read from a part of a filter, with its standard error.
//!
//! Use the crate `tamis`, which re-exports all of this.

#![cfg_attr(not(feature = "std"), no_std)]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]
#![forbid(unsafe_code)]

extern crate alloc;

mod as_item;
mod error;
mod filter;
mod sampled;

pub use crate::as_item::AsItem;
pub use crate::error::BuildError;
pub use crate::filter::{Filter, OnceFilter, WithRate};
pub use crate::sampled::Sampled;
#[doc(hidden)]
pub use tamis_hash as hash;

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
