//! The fuzz targets as plain functions, which the fuzzer and the replay test call.

mod bloom;
mod budget;
mod dedup_lines;
mod edit;
mod file;
mod foreign;
mod load_diff;
mod load_second;
mod load_set;
mod load_table;
mod memory_file;
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
mod targets;

pub use targets::{TARGETS, Target};
