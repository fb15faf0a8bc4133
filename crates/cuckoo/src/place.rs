//! Where an item may lie: its fingerprint and its two buckets, derived from its hash.

use tamis_hash::{fastrange, split};

/// 2^64 divided by the golden ratio, made odd: spreads fingerprints, which are small, over 64 bits.
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The items that share a fingerprint and both buckets. The filter cannot tell them apart, and their
/// copies can stand in for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Class {
    /// Never zero.
    pub(crate) fingerprint: u64,
    /// Two different ones; the first is tried first.
    pub(crate) buckets: [u64; 2],
}

impl Class {
    /// The class of a hash among so many buckets (an even number, at least 2), with fingerprints of
    /// so many bits.
    #[inline]
    pub(crate) const fn of_hash(hash: u64, buckets: u64, width: u32) -> Self {
        Self::of(split::fingerprint(hash, width), split::place(hash, buckets), buckets)
    }

    /// The class of a fingerprint that lies in this bucket.
    #[inline]
    pub(crate) const fn of(fingerprint: u64, bucket: u64, buckets: u64) -> Self {
        Self { fingerprint, buckets: [bucket, alternate(fingerprint, bucket, buckets)] }
    }

    /// Well spread, and the same whichever of the two buckets comes first.
    #[inline]
    pub(crate) const fn key(self) -> u64 {
        let [one, other] = self.buckets;
        if one < other { one } else { other }
    }
}

/// The other bucket of a fingerprint that lies in this one: `(H − bucket) mod buckets`, with `H` odd and
/// fixed by the fingerprint.
///
/// The alternate of the alternate is the bucket itself, for any number of buckets. As the number is even
/// and `H` is odd, one of the two is even and the other odd: they never coincide.
#[inline]
pub(crate) const fn alternate(fingerprint: u64, bucket: u64, buckets: u64) -> u64 {
    let sum = 2 * fastrange(fingerprint.wrapping_mul(GOLDEN), buckets / 2) + 1;
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

    fn is_an_involution(fingerprint: u64, bucket: u64, buckets: u64) {
        let other = alternate(fingerprint, bucket, buckets);
        assert!(other < buckets && other != bucket, "{fingerprint} {bucket} of {buckets}: {other}");
        assert_eq!(alternate(fingerprint, other, buckets), bucket);
    }

    #[test]
    fn every_bucket_of_small_filters() {
        for buckets in (2..80).step_by(2) {
            for fingerprint in 1..=255 {
                (0..buckets).for_each(|bucket| is_an_involution(fingerprint, bucket, buckets));
            }
        }
    }

    proptest! {
        #[test]
        fn alternate_of_alternate_is_the_bucket(
            fingerprint in 1..=u64::from(u32::MAX),
            half in 1_u64..1 << 57,
            at in any::<u64>(),
        ) {
            let buckets = 2 * half;
            is_an_involution(fingerprint, fastrange(at, buckets), buckets);
            is_an_involution(fingerprint, 0, buckets);
            is_an_involution(fingerprint, buckets - 1, buckets);
        }

        #[test]
        fn a_class_is_the_same_from_both_buckets(hash in any::<u64>(), half in 1_u64..1 << 57) {
            let class = Class::of_hash(hash, 2 * half, 16);
            let [one, other] = class.buckets;
            let mirrored = Class::of(class.fingerprint, other, 2 * half);
            prop_assert_eq!(mirrored.buckets, [other, one]);
            prop_assert_eq!(mirrored.key(), class.key());
        }
    }

    /// The chance that a true uniform gives counts at least as uneven; below 1e-6 it is not uniform.
    fn p_value(counts: &[u64], expected: f64) -> f64 {
        let statistic: f64 =
            counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
        ChiSquared::new((counts.len() - 1) as f64).unwrap().sf(statistic)
    }

    /// Counts of (bucket, low bits of what `other` derives from the class).
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
    fn fingerprints_in_a_bucket_are_flat() {
        for buckets in [2, 6, 64, 100, 1000] {
            for shape in SHAPES {
                let values = shape.fingerprints();
                // In thirds: a width's own values come in a number that 3 divides.
                assert_eq!(values % 3, 0);
                let third = |class: Class| (class.fingerprint - 1) * 3 / values;
                let p = joint(buckets, shape.width(), third, 3);
                assert!(p > 1e-6, "{buckets} buckets, {shape:?}: p = {p:e}");
            }
            let p = joint(buckets, 8, |class| class.fingerprint - 1, 255);
            assert!(p > 1e-6, "{buckets} buckets: p = {p:e}");
        }
    }

    /// A fingerprint cut from the bits that chose the bucket must not pass.
    #[test]
    fn fingerprints_of_the_bits_of_the_place_are_refused() {
        let wrong = |class: Class| fastrange(class.buckets[0] << 54, 255);
        assert!(joint(1000, 8, wrong, 255) < 1e-6);
    }

    /// Given the first bucket, the second may be any of the other parity, each as likely.
    #[test]
    fn alternates_are_flat() {
        for buckets in [2, 6, 64, 100, 1000] {
            let p = joint(buckets, 20, |class| class.buckets[1] / 2, buckets / 2);
            assert!(p > 1e-6, "{buckets} buckets: p = {p:e}");
        }
    }
}
