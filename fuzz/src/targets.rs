//! The list of all targets.

use crate::{
    dedup_lines, foreign, load_diff, load_native, load_set, load_table, ops_bloom, ops_cuckoo,
    ops_growing, sizing, snapshot_mutate, split_block,
};

/// A fuzz target. It panics if the library is wrong.
pub type Target = fn(&[u8]);

/// All targets, each with the name of its directory in `regressions/`.
pub const TARGETS: [(&str, Target); 33] = [
    ("ops_bloom", ops_bloom::ops_bloom),
    ("ops_cuckoo", ops_cuckoo::ops_cuckoo),
    ("ops_growing", ops_growing::ops_growing),
    ("sizing", sizing::sizing),
    ("split_block", split_block::split_block),
    ("dedup_lines", dedup_lines::dedup_lines),
    ("load_native", load_native::load_native),
    ("load_diff", load_diff::load_diff),
    ("load_set", load_set::load_set),
    ("load_table", load_table::load_table),
    ("snapshot_mutate", snapshot_mutate::snapshot_mutate),
    ("foreign_any", foreign::foreign_any),
    ("foreign_bits_and_blooms", foreign::foreign_bits_and_blooms),
    ("foreign_datasketches", foreign::foreign_datasketches),
    ("foreign_go_cuckoo", foreign::foreign_go_cuckoo),
    ("foreign_guava", foreign::foreign_guava),
    ("foreign_hadoop", foreign::foreign_hadoop),
    ("foreign_hadoop_counting", foreign::foreign_hadoop_counting),
    ("foreign_leveldb", foreign::foreign_leveldb),
    ("foreign_leveldb_block", foreign::foreign_leveldb_block),
    ("foreign_orc", foreign::foreign_orc),
    ("foreign_parquet", foreign::foreign_parquet),
    ("foreign_parquet_file", foreign::foreign_parquet_file),
    ("foreign_parquet_header", foreign::foreign_parquet_header),
    ("foreign_pybloom", foreign::foreign_pybloom),
    ("foreign_pybloom_scalable", foreign::foreign_pybloom_scalable),
    ("foreign_rbloom", foreign::foreign_rbloom),
    ("foreign_redis_bloom", foreign::foreign_redis_bloom),
    ("foreign_redis_bloom_chunks", foreign::foreign_redis_bloom_chunks),
    ("foreign_redis_cuckoo", foreign::foreign_redis_cuckoo),
    ("foreign_redis_cuckoo_chunks", foreign::foreign_redis_cuckoo_chunks),
    ("foreign_rocksdb", foreign::foreign_rocksdb),
    ("foreign_spark", foreign::foreign_spark),
];
