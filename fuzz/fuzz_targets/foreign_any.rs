//! Passes the inputs of libFuzzer to the target `foreign_any`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::foreign_any(data));
