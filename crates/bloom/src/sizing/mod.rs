//! How many bits for how many items at which rate: expectations for the layout as it is, and their inverses.
//!
//! * [`classic`]: bits anywhere in the array.
//! * [`line`](mod@line): a pattern within one cache line; sums over the items a line receives.
//! * [`solve`]: the smallest filter that keeps the rate.
//!
//! All of it is pure arithmetic on `libm`, so that a size is the same on every platform.

pub(crate) mod classic;
pub(crate) mod line;
pub(crate) mod solve;
