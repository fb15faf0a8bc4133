//! The sample sizes of the tests, and inserts beside busy threads.

use tamis_cuckoo::InsertError;

/// Returns `long` under `cargo xtask ci --long`, which sets `TAMIS_LONG` for the compiler,
/// otherwise `quick`.
pub(crate) const fn sample(quick: u64, long: u64) -> u64 {
    if option_env!("TAMIS_LONG").is_some() { long } else { quick }
}

/// Inserts, and tries again while a thread that holds up growth waits for a processor: each call
/// waits for a second. A thread that has stopped for good is an error after a minute.
pub(crate) fn patiently<R>(
    mut insert: impl FnMut() -> Result<R, InsertError>,
) -> Result<R, InsertError> {
    for _ in 0..60 {
        let result = insert();
        if !matches!(result, Err(InsertError::Stalled)) {
            return result;
        }
    }
    Err(InsertError::Stalled)
}
