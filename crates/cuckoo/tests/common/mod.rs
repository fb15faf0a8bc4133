//! The sample sizes of the tests.

/// Returns `long` under `cargo xtask ci --long`, which sets `TAMIS_LONG` for the compiler,
/// otherwise `quick`.
pub(crate) const fn sample(quick: u64, long: u64) -> u64 {
    if option_env!("TAMIS_LONG").is_some() { long } else { quick }
}
