//! Which bits an item's hash means: integers in, integers out.
//!
//! * [`classic`]: positions anywhere in the array.
//! * [`line`]: a pattern within one cache line.
//!
//! What they compute is part of every saved filter and never changes.

pub(crate) mod classic;
pub(crate) mod line;
