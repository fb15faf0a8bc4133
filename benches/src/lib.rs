//! What the benches share: the filters, the course that they run, the limits of the memory, and the
//! report.
//!
//! Items are the integers from 0 on: hashed, they fall on random lines.

#![cfg(feature = "measure")]
#![forbid(unsafe_code)]

mod clock;
pub mod contender;
pub mod course;
pub mod floor;
#[cfg(feature = "report")]
pub mod growing;
pub mod item;
#[cfg(feature = "report")]
pub mod lines;
pub mod measure;
pub mod operation;
mod record;
#[cfg(feature = "report")]
pub mod redis_costs;
#[cfg(feature = "report")]
pub mod report;
mod subject;
mod together;

/// The hasher of every contender and of the floors, so that it makes no difference.
fn hasher() -> tamis::hash::DefaultHashBuilder {
    tamis::hash::DefaultHashBuilder::with_seed(1)
}
