//! The fuzz targets as plain functions, which the fuzzer and the replay test call.

mod bloom;
mod dedup_lines;
mod file;
mod load_diff;
mod load_native;
mod merge_stream;
mod ops_bloom;
mod ops_cuckoo;
#[path = "../../crates/formats/tests/reader/mod.rs"]
mod reader;
mod sizing;
mod snapshot_mutate;

pub use dedup_lines::dedup_lines;
pub use load_diff::load_diff;
pub use load_native::load_native;
pub use merge_stream::merge_stream;
pub use ops_bloom::ops_bloom;
pub use ops_cuckoo::ops_cuckoo;
pub use sizing::sizing;
pub use snapshot_mutate::snapshot_mutate;

/// A fuzz target. It panics if the library is wrong.
pub type Target = fn(&[u8]);

/// All targets, each with the name of its folder in `regressions/`.
pub const TARGETS: [(&str, Target); 8] = [
    ("ops_bloom", ops_bloom),
    ("ops_cuckoo", ops_cuckoo),
    ("sizing", sizing),
    ("dedup_lines", dedup_lines),
    ("load_native", load_native),
    ("load_diff", load_diff),
    ("snapshot_mutate", snapshot_mutate),
    ("merge_stream", merge_stream),
];
