//! The fuzz targets as plain functions, which the fuzzer and the replay test call.

mod bloom;
mod dedup_lines;
mod ops_bloom;
mod ops_cuckoo;
mod sizing;

pub use dedup_lines::dedup_lines;
pub use ops_bloom::ops_bloom;
pub use ops_cuckoo::ops_cuckoo;
pub use sizing::sizing;

/// A fuzz target. It panics if the library is wrong.
pub type Target = fn(&[u8]);

/// All targets, each with the name of its folder in `regressions/`.
pub const TARGETS: [(&str, Target); 4] = [
    ("ops_bloom", ops_bloom),
    ("ops_cuckoo", ops_cuckoo),
    ("sizing", sizing),
    ("dedup_lines", dedup_lines),
];
