//! The traits and types that all filters of [Tamis](https://docs.rs/tamis) share.
//!
//! * [`Filter`]: the trait for code that is generic over the type of filter. [`OnceFilter`] is for
//!   code that needs exactly one winner per item, and [`WithRate`] for code that builds filters.
//! * [`DynFilter`]: the trait for a type of filter that is chosen at run time.
//! * [`Frozen`]: a filter that answers queries only.
//! * [`BuildError`]: why a filter cannot be built, one error for every type of filter.
//! * [`AsItem`]: the items that a batch accepts, owned or borrowed.
//! * [`Figures`]: how full a filter is, and the rate of its contents. [`Sampled`]: a figure
//!   estimated from a part of a filter, with its standard error.
//! * [`ByHash`]: the view of a filter for code that has hashes.
//!
//! Use the crate `tamis`, which re-exports all of them. [`LinesError`] is for crates that load
//! filters: `tamis_bloom::raw` and `tamis_cuckoo::raw` have it.

#![cfg_attr(not(feature = "std"), no_std)]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]
#![forbid(unsafe_code)]

// The macros name it in other crates.
#[doc(hidden)]
pub extern crate alloc;

mod as_item;
mod builder;
mod dyn_filter;
mod error;
mod figures;
mod filter;
mod frozen;
mod hashed;
mod implement;
mod lines_error;
#[doc(hidden)]
pub mod many;
mod methods;
mod sampled;

pub use crate::as_item::AsItem;
pub use crate::dyn_filter::DynFilter;
pub use crate::error::BuildError;
pub use crate::figures::Figures;
pub use crate::filter::{Filter, OnceFilter, WithRate};
pub use crate::frozen::Frozen;
pub use crate::hashed::{ByHash, Hashed, HashedCopies, Verdict};
pub use crate::lines_error::LinesError;
pub use crate::sampled::{Mean, Sampled};
#[doc(hidden)]
pub use tamis_hash as hash;

/// The README's example, as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
