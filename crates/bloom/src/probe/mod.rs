//! Which bits an item's hash means: integers in, integers out.
//!
//! * [`classic`]: positions anywhere in the array.
//! * [`line`]: a pattern within one cache line.
//! * [`masks`]: the bits within one word.
//! * [`batch`]: such patterns of many items at once.
//!
//! What they compute is part of every saved filter and never changes.

pub(crate) mod batch;
pub(crate) mod classic;
pub(crate) mod line;
pub(crate) mod masks;
