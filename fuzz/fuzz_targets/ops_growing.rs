//! Passes the inputs of libFuzzer to the target `ops_growing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::ops_growing(data));
