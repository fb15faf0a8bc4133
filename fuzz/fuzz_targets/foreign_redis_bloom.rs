//! Passes the inputs of libFuzzer to the target `foreign_redis_bloom`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tamis_fuzz::foreign_redis_bloom(data));
