//! The fuzz targets as plain functions, which the fuzzer and the replay test call.

mod bloom;
mod budget;
mod dedup_lines;
mod edit;
mod file;
mod foreign;
mod load_diff;
mod load_native;
mod load_set;
mod load_table;
mod memory_file;
mod merge_stream;
mod ops_bloom;
mod ops_cuckoo;
mod ops_growing;
#[path = "../../crates/formats/tests/sets/parts.rs"]
mod parts;
#[path = "../../crates/formats/tests/reader/mod.rs"]
mod reader;
mod sizing;
mod snapshot_mutate;
mod split_block;
mod table;

pub use dedup_lines::dedup_lines;
pub use foreign::{
    foreign_any, foreign_bits_and_blooms, foreign_datasketches, foreign_go_cuckoo, foreign_guava,
    foreign_hadoop, foreign_hadoop_counting, foreign_leveldb, foreign_leveldb_block, foreign_orc,
    foreign_parquet, foreign_parquet_file, foreign_parquet_header, foreign_pybloom,
    foreign_pybloom_scalable, foreign_rbloom, foreign_redis_bloom, foreign_redis_bloom_chunks,
    foreign_redis_cuckoo, foreign_redis_cuckoo_chunks, foreign_rocksdb, foreign_spark,
};
pub use load_diff::load_diff;
pub use load_native::load_native;
pub use load_set::load_set;
pub use load_table::load_table;
pub use merge_stream::merge_stream;
pub use ops_bloom::ops_bloom;
pub use ops_cuckoo::ops_cuckoo;
pub use ops_growing::ops_growing;
pub use sizing::sizing;
pub use snapshot_mutate::snapshot_mutate;
pub use split_block::split_block;

/// A fuzz target. It panics if the library is wrong.
pub type Target = fn(&[u8]);

/// All targets, each with the name of its directory in `regressions/`.
pub const TARGETS: [(&str, Target); 34] = [
    ("ops_bloom", ops_bloom),
    ("ops_cuckoo", ops_cuckoo),
    ("ops_growing", ops_growing),
    ("sizing", sizing),
    ("split_block", split_block),
    ("dedup_lines", dedup_lines),
    ("load_native", load_native),
    ("load_diff", load_diff),
    ("load_set", load_set),
    ("load_table", load_table),
    ("snapshot_mutate", snapshot_mutate),
    ("merge_stream", merge_stream),
    ("foreign_any", foreign_any),
    ("foreign_bits_and_blooms", foreign_bits_and_blooms),
    ("foreign_datasketches", foreign_datasketches),
    ("foreign_go_cuckoo", foreign_go_cuckoo),
    ("foreign_guava", foreign_guava),
    ("foreign_hadoop", foreign_hadoop),
    ("foreign_hadoop_counting", foreign_hadoop_counting),
    ("foreign_leveldb", foreign_leveldb),
    ("foreign_leveldb_block", foreign_leveldb_block),
    ("foreign_orc", foreign_orc),
    ("foreign_parquet", foreign_parquet),
    ("foreign_parquet_file", foreign_parquet_file),
    ("foreign_parquet_header", foreign_parquet_header),
    ("foreign_pybloom", foreign_pybloom),
    ("foreign_pybloom_scalable", foreign_pybloom_scalable),
    ("foreign_rbloom", foreign_rbloom),
    ("foreign_redis_bloom", foreign_redis_bloom),
    ("foreign_redis_bloom_chunks", foreign_redis_bloom_chunks),
    ("foreign_redis_cuckoo", foreign_redis_cuckoo),
    ("foreign_redis_cuckoo_chunks", foreign_redis_cuckoo_chunks),
    ("foreign_rocksdb", foreign_rocksdb),
    ("foreign_spark", foreign_spark),
];
