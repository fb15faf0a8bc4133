//! The target `ops_cuckoo` for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::ops_cuckoo(data));
