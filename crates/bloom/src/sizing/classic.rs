//! The expected rate and fill for bits anywhere in an array of `m` bits, with k probes per item and n items.

use alloc::vec;

use libm::{exp, log1p, pow};

/// The distribution of the ones is summed exactly while `bits` is at most this times the square of the probes. Above,
/// the second-order formula is used.
///
/// MEASURED: at the limit the formula is within 2e-3 of the sum, less than 1 % of any rate, for 1 to 64 probes (any
/// machine; test `the_formula_meets_the_exact_sum`). Its error is about `0.008 · (probes² / bits)²`.
const EXACT_BELOW: u64 = 3;

/// With more throws per bit than this, fewer than one bit in 10^6 is empty, and the formula is accurate enough for any
/// number of probes.
const MAX_THROWS_PER_BIT: f64 = 16.0;

/// Returns the expected share of ones.
pub(crate) fn fill(bits: u64, probes: u32, items: f64) -> f64 {
    let throws = items * f64::from(probes);
    if bits == 1 {
        return if throws > 0.0 { 1.0 } else { 0.0 };
    }
    -libm::expm1(throws * log1p(-1.0 / bits as f64))
}

/// Returns the expected false-positive rate: the mean of `(ones / m)^k`.
///
/// The textbook's `(1 − (1 − 1/m)^(kn))^k` takes the power of the mean instead, which is too low in small filters (Bose
/// et al., "On the false-positive rate of Bloom filters", 2008).
pub(crate) fn rate(bits: u64, probes: u32, items: u64) -> f64 {
    let throws = items as f64 * f64::from(probes);
    if bits <= EXACT_BELOW * u64::from(probes).pow(2) && throws <= MAX_THROWS_PER_BIT * bits as f64
    {
        return exact(bits as usize, probes, throws as u64);
    }
    second_order(bits, probes, throws)
}

/// Returns `E[f(X)] ≈ f(μ) + f''(μ) · Var X / 2` for `f(x) = (x / m)^k`, where X is the number of ones after `throws`
/// throws.
fn second_order(bits: u64, probes: u32, throws: f64) -> f64 {
    let m = bits as f64;
    let k = f64::from(probes);
    if throws == 0.0 {
        return 0.0;
    }
    // The probabilities that a given bit, and that two given bits, are empty.
    let empty_one = exp(throws * log1p(-1.0 / m));
    let empty_two = exp(throws * log1p(-2.0 / m));
    let fill = 1.0 - empty_one;
    // The variance of the share of ones: that of independent bits, plus the (negative) covariance of pairs.
    let variance = fill * empty_one / m + (1.0 - 1.0 / m) * (empty_two - empty_one * empty_one);
    let correction = k * (k - 1.0) / 2.0 * variance.max(0.0) / (fill * fill);
    (pow(fill, k) * (1.0 + correction)).clamp(0.0, 1.0)
}

/// Probabilities below this are dropped: together they are less than one rounding error.
const NOTHING: f64 = 1e-24;

/// Returns the sum over the exact distribution of the number of ones, computed throw by throw, over the band of counts
/// whose probability is not dropped: `O(throws · √bits)`.
fn exact(bits: usize, probes: u32, throws: u64) -> f64 {
    let mut chance = vec![0.0; bits + 2];
    chance[0] = 1.0;
    // The band of counts that are possible so far.
    let (mut low, mut high) = (0, 0);
    for _ in 0..throws {
        // A throw hits an empty bit, which adds a one, or a set bit. From high to low, so that no throw counts twice.
        for ones in (low..=high).rev() {
            let hit = chance[ones] * (bits - ones) as f64 / bits as f64;
            chance[ones + 1] += hit;
            chance[ones] -= hit;
        }
        // Widen the band above, narrow it below.
        high += usize::from(chance[high + 1] > NOTHING);
        while chance[low] < NOTHING && low < high {
            chance[low] = 0.0;
            low += 1;
        }
        // What lies above the band is dropped, and must not count in the next throw.
        chance[high + 1] = 0.0;
    }
    let rate = |ones: usize| pow(ones as f64 / bits as f64, f64::from(probes));
    (low..=high).map(|ones| chance[ones] * rate(ones)).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the limit between the two, around half fill, for every number of probes.
    #[test]
    fn the_formula_meets_the_exact_sum() {
        for probes in 1..=64 {
            let bits = (EXACT_BELOW * u64::from(probes).pow(2)).max(64);
            for items in [bits / 3 / u64::from(probes), bits * 7 / 10 / u64::from(probes)] {
                let throws = items * u64::from(probes);
                let exact = exact(bits as usize, probes, throws);
                let formula = second_order(bits, probes, throws as f64);
                let error = (formula / exact - 1.0).abs();
                assert!(error < 2e-3, "{bits} bits, {probes} probes, {items} items: {error:e}");
            }
        }
    }

    /// Compares the banded sum with the plain recursion over the whole distribution.
    #[test]
    fn the_band_drops_nothing_that_counts() {
        for (bits, probes, throws) in
            [(1, 1, 3), (7, 3, 9), (60, 20, 60), (500, 30, 330), (90, 4, 900)]
        {
            let mut chance = vec![0.0; bits + 1];
            chance[0] = 1.0;
            for _ in 0..throws {
                for ones in (1..=bits).rev() {
                    let stay = chance[ones] * ones as f64;
                    let come = chance[ones - 1] * (bits - ones + 1) as f64;
                    chance[ones] = (stay + come) / bits as f64;
                }
                chance[0] = 0.0;
            }
            let rate = |ones| pow(ones as f64 / bits as f64, f64::from(probes));
            let plain: f64 = (0..=bits).map(|ones| chance[ones] * rate(ones)).sum();
            let banded = exact(bits, probes, throws);
            assert!(
                (banded / plain - 1.0).abs() < 1e-9,
                "{bits} {probes} {throws}: {banded} {plain}"
            );
        }
    }

    #[test]
    fn one_item_in_few_bits_is_counted_by_hand() {
        // One item, two probes, two bits: both on one bit (1/2, rate 1/4), or both bits set (rate 1).
        assert!((rate(2, 2, 1) - 0.625).abs() < 1e-12);
        assert_eq!(rate(1, 3, 1), 1.0);
        assert_eq!(rate(100, 3, 0), 0.0);
    }
}
