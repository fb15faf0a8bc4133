//! What the benches share: filters side by side, the course that they run, the limits of the memory.
//!
//! Items are the integers from 0 on: hashed, they fall on random lines, and a stream of them costs
//! nothing to make.

#![forbid(unsafe_code)]

pub mod clock;
pub mod contender;
pub mod course;
pub mod floor;
#[cfg(feature = "peers")]
mod peer;

/// The hasher of every contender and of the floors, so that it makes no difference.
fn hasher() -> tamis::hash::DefaultHashBuilder {
    tamis::hash::DefaultHashBuilder::with_seed(1)
}
