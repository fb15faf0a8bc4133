//! Passes the inputs of libFuzzer to the target `foreign_parquet_header`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::foreign_parquet_header(data));
