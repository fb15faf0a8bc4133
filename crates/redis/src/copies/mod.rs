//! Copies of a filter in this process: `local.rs` is the copy, `pull.rs` reads its bits, `push.rs`
//! adds its bits to a filter in Redis.

pub(crate) mod local;
pub(crate) mod pull;
pub(crate) mod push;
