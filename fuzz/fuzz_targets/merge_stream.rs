//! Passes the inputs of libFuzzer to the target `merge_stream`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::merge_stream(data));
