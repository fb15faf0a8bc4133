//! The class of an item: its fingerprint and its two buckets, computed from its hash.

use tamis_hash::{fastrange, split};

/// 2^64 divided by the golden ratio, made odd. It spreads fingerprints, which have at most 42 bits,
/// over 64 bits.
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The items that share a fingerprint and both buckets. The filter cannot distinguish them, and
/// their copies are interchangeable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Class {
    /// Never zero.
    pub(crate) fingerprint: u64,
    /// Two different buckets. Inserts try the first one first.
    pub(crate) buckets: [u64; 2],
}

impl Class {
    /// Returns the class of a hash in a filter with the given number of buckets (even, at least 2)
    /// and fingerprints of `width` bits.
    #[inline]
    pub(crate) const fn of_hash(hash: u64, buckets: u64, width: u32) -> Self {
        Self::of(split::fingerprint(hash, width), split::place(hash, buckets), buckets)
    }

    /// Returns the class of a fingerprint in this bucket.
    #[inline]
    pub(crate) const fn of(fingerprint: u64, bucket: u64, buckets: u64) -> Self {
        Self { fingerprint, buckets: [bucket, alternate(fingerprint, bucket, buckets)] }
    }

    /// Returns the smaller bucket. It is well spread, and independent of the order of the two
    /// buckets.
    #[inline]
    pub(crate) const fn key(self) -> u64 {
        let [one, other] = self.buckets;
        if one < other { one } else { other }
    }
}

/// Returns the other bucket of a fingerprint in this bucket: `(H − bucket) mod buckets`, where `H`
/// is odd and determined by the fingerprint.
///
/// The alternate of the alternate is the bucket itself, for any number of buckets. The number is
/// even and `H` is odd, so one of the two buckets is even and the other odd: they always differ.
#[inline]
pub(crate) const fn alternate(fingerprint: u64, bucket: u64, buckets: u64) -> u64 {
    // `buckets` is even, so this is `2 · fastrange(…, buckets / 2) + 1`.
    let sum = fastrange(fingerprint.wrapping_mul(GOLDEN), buckets) | 1;
    if bucket <= sum { sum - bucket } else { buckets - (bucket - sum) }
}

#[cfg(test)]
mod tests {
    use std::vec;

    use proptest::prelude::*;
    use statrs::distribution::{ChiSquared, ContinuousCDF};
    use tamis_hash::{HashItem, Rapid};

    use super::*;
    use crate::bucket::SHAPES;

    fn check_involution(fingerprint: u64, bucket: u64, buckets: u64) {
        let other = alternate(fingerprint, bucket, buckets);
        assert!(other < buckets && other != bucket, "{fingerprint} {bucket} of {buckets}: {other}");
        assert_eq!(alternate(fingerprint, other, buckets), bucket);
    }

    #[test]
    fn alternate_is_an_involution_in_small_filters() {
        for buckets in (2..80).step_by(2) {
            for fingerprint in 1..=255 {
                (0..buckets).for_each(|bucket| check_involution(fingerprint, bucket, buckets));
            }
        }
    }

    proptest! {
        #[test]
        fn alternate_is_an_involution(
            fingerprint in 1_u64..1 << 42,
            half in 1_u64..1 << 57,
            at in any::<u64>(),
        ) {
            let buckets = 2 * half;
            check_involution(fingerprint, fastrange(at, buckets), buckets);
            check_involution(fingerprint, 0, buckets);
            check_involution(fingerprint, buckets - 1, buckets);
        }

        #[test]
        fn a_class_has_the_same_key_from_both_buckets(hash in any::<u64>(), half in 1_u64..1 << 57) {
            let class = Class::of_hash(hash, 2 * half, 16);
            let [one, other] = class.buckets;
            let mirrored = Class::of(class.fingerprint, other, 2 * half);
            prop_assert_eq!(mirrored.buckets, [other, one]);
            prop_assert_eq!(mirrored.key(), class.key());
        }
    }

    /// Returns the probability that a uniform distribution gives counts at least this uneven. Below
    /// 1e-6, the counts are not uniform.
    fn p_value(counts: &[u64], expected: f64) -> f64 {
        let statistic: f64 =
            counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
        ChiSquared::new((counts.len() - 1) as f64).unwrap().sf(statistic)
    }

    /// Returns the p-value of the joint distribution of the first bucket and of the cell that
    /// `other` computes from the class.
    fn joint(buckets: u64, width: u32, other: impl Fn(Class) -> u64, cells: u64) -> f64 {
        const ITEMS: u64 = 4_000_000;
        let hasher = Rapid::with_seed(5);
        let mut counts = vec![0; (buckets * cells) as usize];
        for item in 0..ITEMS {
            let class = Class::of_hash(hasher.hash_item(&item), buckets, width);
            counts[(class.buckets[0] * cells + other(class)) as usize] += 1;
        }
        p_value(&counts, ITEMS as f64 / (buckets * cells) as f64)
    }

    #[test]
    fn fingerprints_in_a_bucket_are_uniform() {
        for buckets in [2, 6, 64, 100, 1000] {
            for shape in SHAPES {
                let values = shape.mask();
                // In thirds: 3 divides the number of fingerprints of every even width, and the
                // thirds of the odd widths, which are large, differ by too little to be detected.
                assert!(values % 3 == 0 || values > 1 << 20);
                let third = |class: Class| (class.fingerprint - 1) * 3 / values;
                let p = joint(buckets, shape.width, third, 3);
                assert!(p > 1e-6, "{buckets} buckets, {shape:?}: p = {p:e}");
            }
            let p = joint(buckets, 8, |class| class.fingerprint - 1, 255);
            assert!(p > 1e-6, "{buckets} buckets: p = {p:e}");
        }
    }

    /// The control: a fingerprint from the bits that determine the bucket must fail.
    #[test]
    fn fingerprints_from_the_bits_of_the_bucket_are_rejected() {
        let wrong = |class: Class| fastrange(class.buckets[0] << 54, 255);
        assert!(joint(1000, 8, wrong, 255) < 1e-6);
    }

    /// Given the first bucket, the second is uniform over the buckets of the other parity.
    #[test]
    fn alternates_are_uniform() {
        for (buckets, width) in [2, 6, 64, 100, 1000].into_iter().flat_map(|n| [(n, 20), (n, 42)]) {
            let p = joint(buckets, width, |class| class.buckets[1] / 2, buckets / 2);
            assert!(p > 1e-6, "{buckets} buckets, {width} bits: p = {p:e}");
        }
    }
}
