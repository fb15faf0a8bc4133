//! Passes the inputs of libFuzzer to the target `split_block`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::split_block(data));
