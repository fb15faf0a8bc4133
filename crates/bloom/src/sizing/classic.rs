//! The expected rate and fill for bits anywhere in an array of `m` bits, with k probes per item and
//! n items.

use alloc::vec;

use core::f64::consts::PI;

use libm::{exp, expm1, log1p, pow};

use crate::probe::classic::MAX_PROBES;

/// The distribution of the ones is summed exactly while `bits` is at most this times the square of
/// the probes. Above, the second-order formula is used.
///
/// MEASURED: at the limit the formula is within 2e-3 of the sum, less than 1 % of any rate, for 1
/// to 64 probes (any machine; test `the_formula_meets_the_exact_sum`). Its error is about `0.008 ·
/// (probes² / bits)²`.
const EXACT_BELOW: u64 = 3;

/// With more throws per bit than this, fewer than one bit in 10^6 is empty, and the formula is
/// accurate enough for any number of probes.
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
/// The textbook's `(1 − (1 − 1/m)^(kn))^k` takes the power of the mean instead, which is too low in
/// small filters (Bose et al., "On the false-positive rate of Bloom filters", 2008).
pub(crate) fn rate(bits: u64, probes: u32, items: u64) -> f64 {
    let throws = items as f64 * f64::from(probes);
    if is_exact(bits, probes, items) {
        return exact(bits as usize, probes, throws as u64);
    }
    second_order(bits, probes, throws)
}

/// Returns whether [`rate`] sums the distribution.
pub(crate) fn is_exact(bits: u64, probes: u32, items: u64) -> bool {
    let throws = items as f64 * f64::from(probes);
    bits <= exact_below(probes) && throws <= MAX_THROWS_PER_BIT * bits as f64
}

/// Returns the most bits for which [`rate`] sums the distribution.
pub(crate) fn exact_below(probes: u32) -> u64 {
    EXACT_BELOW * u64::from(probes).pow(2)
}

/// The most points of the contour in [`by_contour`], without the conjugate ones.
const MAX_POINTS: usize = 40;

/// Returns [`rate`] with a relative error below 1e-8 in `O(probes²)`, for rates above 1e-15.
///
/// If the number of throws has the distribution of Poisson with mean λ, the bits are independent,
/// each is set with probability `p = 1 − exp(−λ / m)`, and the rate is `R(λ) = Σ w_d · p^d`, where
/// `w_d` is the probability that the probes of the query fall on `d` different bits. Then `exp(λ) ·
/// R(λ) = Σ rate_t · λ^t / t!`, and `rate_t` is a coefficient of a power series: an integral over a
/// circle in the complex plane, at whose points the integrand is summed. On the circle with radius
/// `t` nearly all of it lies close to the real axis, and the error of the sum falls exponentially
/// with the number of points (Trefethen and Weideman, "The exponentially convergent trapezoidal
/// rule", 2014).
pub(crate) fn by_contour(bits: u64, probes: u32, items: u64) -> f64 {
    let (m, t) = (bits as f64, items as f64 * f64::from(probes));
    // w_d, probe by probe: it falls on one of the d bits, or on another.
    let mut w = [0.0; MAX_PROBES as usize + 1];
    w[1] = 1.0;
    let (share, one) = (1.0 / m, 1.0 + 1.0 / m);
    for probe in 2..=probes as usize {
        for d in (1..=probe).rev() {
            let set = d as f64 * share;
            w[d] = w[d] * set + w[d - 1] * (one - set).max(0.0);
        }
    }
    // The points t · exp(iθ), their p, and the weights exp(t · exp(iθ) − t) · exp(−itθ).
    // An odd number of points, so that all but the first have a conjugate.
    let half = (5.0 * libm::sqrt(t) + 10.0 + 0.5 * f64::from(probes)) as usize;
    let step = 2.0 * PI / (2 * half + 1) as f64;
    let mut p = [[0.0; MAX_POINTS]; 2];
    let mut weight = [[0.0; MAX_POINTS]; 2];
    let mut points = 0;
    while points <= half.min(MAX_POINTS - 1) {
        let angle = step * points as f64;
        let (sin, cos) = libm::sincos(angle);
        if t * (1.0 - cos) > 27.0 {
            break;
        }
        let (size, (s, c)) = (exp(t * (cos - 1.0)), libm::sincos(t * sin - t * angle));
        (weight[0][points], weight[1][points]) = (size * c, size * s);
        let (size, (s, c)) = (exp(-t / m * cos), libm::sincos(t / m * sin));
        (p[0][points], p[1][points]) = (1.0 - size * c, size * s);
        points += 1;
    }
    // Σ w_d · p^d at all points.
    let mut sum = [[0.0; MAX_POINTS]; 2];
    for &w in w[..=probes as usize].iter().rev() {
        for i in 0..points {
            let (re, im) = (sum[0][i], sum[1][i]);
            sum[0][i] = re * p[0][i] - im * p[1][i] + w;
            sum[1][i] = re * p[1][i] + im * p[0][i];
        }
    }
    let parts = (0..points).map(|i| sum[0][i] * weight[0][i] - sum[1][i] * weight[1][i]);
    // The points but the first stand for two.
    let integral = (2.0 * parts.sum::<f64>() - sum[0][0]) * step / (2.0 * PI);
    integral * exp(libm::lgamma(t + 1.0) + t - t * libm::log(t))
}

/// Returns `E[f(X)] ≈ f(μ) + f''(μ) · Var X / 2` for `f(x) = (x / m)^k`, where X is the number of
/// ones after `throws` throws.
fn second_order(bits: u64, probes: u32, throws: f64) -> f64 {
    let m = bits as f64;
    let k = f64::from(probes);
    if throws == 0.0 {
        return 0.0;
    }
    // Few throws set different bits, and below this the differences of numbers near 1 are wrong.
    if throws < m / 1e6 {
        return pow(-expm1(throws * log1p(-1.0 / m)), k);
    }
    // The probabilities that a given bit, and that two given bits, are empty.
    let empty_one = exp(throws * log1p(-1.0 / m));
    let empty_two = exp(throws * log1p(-2.0 / m));
    let fill = 1.0 - empty_one;
    // The variance of the share of ones: that of independent bits, plus the (negative) covariance
    // of pairs.
    let variance = fill * empty_one / m + (1.0 - 1.0 / m) * (empty_two - empty_one * empty_one);
    let correction = k * (k - 1.0) / 2.0 * variance.max(0.0) / (fill * fill);
    (pow(fill, k) * (1.0 + correction)).clamp(0.0, 1.0)
}

/// Probabilities below this are dropped: together they are less than one rounding error.
const NOTHING: f64 = 1e-24;

/// Returns the sum over the exact distribution of the number of ones, computed throw by throw, over
/// the band of counts whose probability is not dropped: `O(throws · √bits)`.
fn exact(bits: usize, probes: u32, throws: u64) -> f64 {
    let mut chance = vec![0.0; bits + 2];
    chance[0] = 1.0;
    // The band of counts that are possible so far.
    let (mut low, mut high) = (0, 0);
    for _ in 0..throws {
        // A throw hits an empty bit, which adds a one, or a set bit. From high to low, so that no
        // throw counts twice.
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

    /// A few items in a huge filter: each of their bits is set once, so the rate is `(items ·
    /// probes / bits)^probes`, and not NaN.
    #[test]
    fn few_items_in_many_bits_are_hardly_found() {
        for log in [34, 54, 60, 63] {
            for probes in [1, 2, 7] {
                for items in [1.0, 5.0, 50.0] {
                    let bits = 1_u64 << log;
                    let throws = items * f64::from(probes);
                    let expected = pow(throws / bits as f64, f64::from(probes));
                    let found = second_order(bits, probes, throws);
                    assert!(
                        (0.9..1.1).contains(&(found / expected)),
                        "2^{log} bits, {probes} probes"
                    );
                }
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
    fn the_contour_meets_the_exact_sum() {
        for probes in [1, 2, 3, 5, 8, 13, 20, 30, 41, 64] {
            for items in [1, 2, 5, 11, 30, 80] {
                if items * u64::from(probes) <= 24 {
                    continue;
                }
                // A third, half and four fifths of the bits are set.
                for load in [0.4, 0.7, 1.6] {
                    let bits = (items as f64 * f64::from(probes) / load) as u64;
                    let contour = by_contour(bits, probes, items);
                    let exact = rate(bits, probes, items);
                    if is_exact(bits, probes, items) && exact > 1e-15 {
                        let error = (contour / exact - 1.0).abs();
                        assert!(
                            error < 1e-8,
                            "{bits} bits, {probes} probes, {items} items: {error:e} {exact:e}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn one_item_in_few_bits_is_counted_by_hand() {
        // One item, two probes, two bits: both on one bit (1/2, rate 1/4), or both bits set (rate
        // 1).
        assert!((rate(2, 2, 1) - 0.625).abs() < 1e-12);
        assert_eq!(rate(1, 3, 1), 1.0);
        assert_eq!(rate(100, 3, 0), 0.0);
    }
}
