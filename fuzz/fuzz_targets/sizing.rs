//! Passes the inputs of libFuzzer to the target `sizing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::sizing(data));
