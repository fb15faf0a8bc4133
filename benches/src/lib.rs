//! What the benches share: the filters, the course that they run, the measurements and the report.
//!
//! Items are the integers from 0 on: hashed, they fall on random lines.

#![cfg(feature = "measure")]
#![forbid(unsafe_code)]

mod clock;
pub mod contender;
pub mod course;
#[cfg(feature = "report")]
mod figure;
pub mod filter;
#[cfg(feature = "report")]
pub mod measure;
pub mod operation;
#[cfg(feature = "report")]
mod record;
#[cfg(feature = "report")]
pub mod report;
pub mod subject;
#[cfg(feature = "report")]
mod together;

/// The hasher of every contender that accepts one, so that it makes no difference.
fn hasher() -> tamis::hash::DefaultHashBuilder {
    tamis::hash::DefaultHashBuilder::with_seed(1)
}
