//! The fuzz targets as plain functions: the fuzzer calls them, and so does the replay test.

mod bloom;
mod dedup_lines;
mod ops_bloom;
mod ops_cuckoo;
mod sizing;

pub use dedup_lines::dedup_lines;
pub use ops_bloom::ops_bloom;
pub use ops_cuckoo::ops_cuckoo;
pub use sizing::sizing;

/// A target: it panics when the library is wrong.
pub type Target = fn(&[u8]);

/// All targets by the names of their folders in `regressions/`.
pub const TARGETS: [(&str, Target); 4] = [
    ("ops_bloom", ops_bloom),
    ("ops_cuckoo", ops_cuckoo),
    ("sizing", sizing),
    ("dedup_lines", dedup_lines),
];
