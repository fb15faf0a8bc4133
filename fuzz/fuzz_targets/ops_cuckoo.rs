//! Passes the inputs of libFuzzer to the target `ops_cuckoo`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::ops_cuckoo(data));
