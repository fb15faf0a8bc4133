//! The list of all targets.

use crate::{
    dedup_lines, foreign, load_diff, load_set, load_table, ops_bloom, ops_cuckoo, ops_growing,
    sizing, snapshot_mutate, split_block,
};

/// A fuzz target. It panics if the library is wrong.
pub type Target = fn(&[u8]);

/// All targets, each with the name of its directory in `regressions/`.
pub const TARGETS: [(&str, Target); 11] = [
    ("ops_bloom", ops_bloom::ops_bloom),
    ("ops_cuckoo", ops_cuckoo::ops_cuckoo),
    ("ops_growing", ops_growing::ops_growing),
    ("sizing", sizing::sizing),
    ("split_block", split_block::split_block),
    ("dedup_lines", dedup_lines::dedup_lines),
    ("load_diff", load_diff::load_diff),
    ("load_set", load_set::load_set),
    ("load_table", load_table::load_table),
    ("snapshot_mutate", snapshot_mutate::snapshot_mutate),
    ("foreign", foreign::foreign),
];
