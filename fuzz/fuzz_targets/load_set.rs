//! Passes the inputs of libFuzzer to the target `load_set`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::load_set(data));
