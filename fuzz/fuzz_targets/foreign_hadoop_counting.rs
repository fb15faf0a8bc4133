//! Passes the inputs of libFuzzer to the target `foreign_hadoop_counting`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::foreign_hadoop_counting(data));
