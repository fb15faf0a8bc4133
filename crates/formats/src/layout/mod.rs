//! The parts of a file as bytes, each with its checks: the only validator. This wing knows no types
//! of filters.
//!
//! | file | job |
//! |---|---|
//! | `header.rs`, `table.rs` | the header; the checksums of the chunks |
//! | `body.rs` | the lines of one array |
//! | `directory.rs`, `slice_entry.rs` | those of several slices behind a directory; a line of it |
//! | `line_check.rs` | what a line may contain |
//! | `source.rs` | where the lines come from |
//! | `line_bytes.rs`, `fields.rs` | a line as bytes; the fields of a header |
//! | `checksum.rs`, `fill.rs` | checksums; reads that fill a buffer |

pub(crate) mod body;
pub(crate) mod checksum;
pub(crate) mod directory;
pub(crate) mod fields;
pub(crate) mod fill;
pub(crate) mod header;
pub(crate) mod line_bytes;
pub(crate) mod line_check;
pub(crate) mod slice_entry;
pub(crate) mod source;
pub(crate) mod table;
