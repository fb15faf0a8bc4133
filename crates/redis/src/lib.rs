//! A Bloom filter of [Tamis](https://docs.rs/tamis) in Redis or Valkey.

#![forbid(unsafe_code)]
