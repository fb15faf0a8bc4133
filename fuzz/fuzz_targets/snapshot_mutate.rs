//! Passes the inputs of libFuzzer to the target `snapshot_mutate`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::snapshot_mutate(data));
