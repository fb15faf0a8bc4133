//! Passes the inputs of libFuzzer to the target `foreign_leveldb_block`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::foreign_leveldb_block(data));
