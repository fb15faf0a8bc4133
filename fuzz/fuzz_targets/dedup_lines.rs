//! Passes the inputs of libFuzzer to the target `dedup_lines`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::dedup_lines(data));
