//! Filters to and from files and streams.
//!
//! | file | job |
//! |---|---|
//! | `save.rs`, `write.rs` | a filter to a file, to a stream |
//! | `load.rs`, `read.rs`, `info.rs` | a filter from a file, from a stream; only its header |
//! | `merge.rs` | the items of a saved filter into another one |
//! | `map.rs`, `live.rs` | a file used in place; one that processes share |
//! | `wrapped.rs`, `shards.rs` | filters of other systems; the program's table |
//! | `replace.rs`, `replace/` | a file replaced by another |
//! | `file.rs`, `early_sync.rs` | reads at any offset; syncs during a write |

mod early_sync;
pub(crate) mod file;
pub(crate) mod info;
pub(crate) mod live;
pub(crate) mod load;
pub(crate) mod map;
pub(crate) mod merge;
pub(crate) mod read;
pub mod replace;
pub(crate) mod save;
pub(crate) mod shards;
mod wrapped;
pub(crate) mod write;
