//! The checksum of the format.

use twox_hash::XxHash3_64;

/// Returns the checksum of bytes: XXH3-64 with seed 0.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}
