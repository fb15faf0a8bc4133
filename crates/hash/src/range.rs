//! Maps a hash to a range without a division.

/// Maps `hash` to `0..n` by its high bits: returns `⌊hash · n / 2^64⌋`.
///
/// It works for every `n`, power of two or not. Each result comes from `2^64 / n` hashes, rounded
/// up or down. For `n = 0` the result is 0. Source: Lemire, "Fast random integer generation in an
/// interval", 2019; with a 64 × 64 → 128-bit product, because a 32-bit product fails for `n` of
/// 2^32 and more.
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

/// Returns the same as [`fastrange`] for a range below 2^32, from two 32-bit products.
///
/// A loop over many hashes can be vectorised this way; processors have no vector instruction for
/// 128-bit products.
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
    // The schoolbook product of a 64-bit and a 32-bit number: no product and no sum can overflow.
    ((hash >> 32) * n + low) >> 32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn narrow_range_equals_fastrange(hash: u64, n: u32) {
            for (hash, n) in [(hash, n), (u64::MAX, n), (hash, u32::MAX), (u64::MAX, u32::MAX)] {
                prop_assert_eq!(narrow_range(hash, n), fastrange(hash, u64::from(n)));
            }
        }
    }
}
