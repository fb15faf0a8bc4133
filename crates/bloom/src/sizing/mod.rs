//! The arithmetic of sizes: the expected rate and fill for the actual layout, and their inverses.
//!
//! * [`classic`]: bits anywhere in the array.
//! * [`line`](mod@line): a pattern within one cache line; sums over the number of items in a line.
//! * [`load`]: the items per line that keep a rate, and the tables that spare its search.
//! * [`solve`]: the smallest filter that keeps the rate.
//!
//! Everything is pure arithmetic on `libm`, so that sizes are the same on every platform.

pub(crate) mod classic;
pub(crate) mod line;
mod load;
pub(crate) mod solve;
mod tables;
