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
/// # use tamis_hash as tamis;
/// use tamis::hash::fastrange;
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

/// As [`fastrange`], for a range that 32 bits can count: from two products of 32 bits, which loops over many
/// hashes can do side by side, where processors have no vectors of 128-bit products.
///
/// # Examples
///
/// ```
/// # use tamis_hash as tamis;
/// use tamis::hash::{fastrange, narrow_range};
///
/// let hash = 0x9E37_79B9_7F4A_7C15;
/// assert_eq!(narrow_range(hash, 1000), fastrange(hash, 1000));
/// ```
#[inline(always)]
#[must_use]
pub const fn narrow_range(hash: u64, n: u32) -> u64 {
    let n = n as u64;
    let low = ((hash & u32::MAX as u64) * n) >> 32;
    ((hash >> 32) * n + low) >> 32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_narrow_range_is_a_range(hash: u64, n: u32) {
            for (hash, n) in [(hash, n), (u64::MAX, n), (hash, u32::MAX), (u64::MAX, u32::MAX)] {
                prop_assert_eq!(narrow_range(hash, n), fastrange(hash, u64::from(n)));
            }
        }
    }
}
