//! Passes the inputs of libFuzzer to the target `foreign_bits_and_blooms`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::foreign_bits_and_blooms(data));
