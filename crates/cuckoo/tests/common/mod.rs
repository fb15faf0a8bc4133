//! How large the samples of the tests are.

/// The second under `cargo xtask ci --long`, which sets `TAMIS_LONG` for the compiler, else the first.
pub(crate) const fn sample(quick: u64, long: u64) -> u64 {
    if option_env!("TAMIS_LONG").is_some() { long } else { quick }
}
