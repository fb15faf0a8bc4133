//! A hash into a range, without division.

/// Maps `hash` onto `0..n` by its high bits: `⌊hash · n / 2^64⌋`.
///
/// Works for every `n`, power of two or not, up to `2^64 − 1`; each value is hit by `2^64 / n`
/// hashes, give or take one. `n = 0` gives 0. Source: Lemire, "Fast random integer generation in an
/// interval", 2019; with a 64 × 64 → 128-bit product, since a 32-bit one breaks down at 2^32.
///
/// # Examples
///
/// ```
/// use tamis_hash::fastrange;
///
/// assert_eq!(fastrange(0, 10), 0);
/// assert_eq!(fastrange(u64::MAX / 2, 10), 4);
/// assert_eq!(fastrange(u64::MAX, 10), 9);
/// ```
#[inline]
#[must_use]
pub const fn fastrange(hash: u64, n: u64) -> u64 {
    ((hash as u128 * n as u128) >> 64) as u64
}
