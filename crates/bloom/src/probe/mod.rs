//! From the hash of an item to its bits: pure functions on integers.
//!
//! * [`classic`]: positions anywhere in the array.
//! * [`line`](mod@line): a pattern within one cache line.
//! * [`masks`]: the bits within one word.
//! * [`batch`]: lines and patterns of the items of a batch.
//!
//! The results are part of every saved filter and never change.

pub(crate) mod batch;
pub(crate) mod classic;
pub(crate) mod line;
pub(crate) mod masks;
