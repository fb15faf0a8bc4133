//! Exact bounds for figures that chance decides, and the sum of the probabilities that a right
//! figure exceeds its bounds.
//!
//! All seeds are fixed, so that the table has the same counts in every run. The bounds say what a
//! new seed, or a change of a hash, may do to them.

use std::fmt;

use statrs::distribution::{Binomial, DiscreteCDF};
use tamis::Figures;

/// The probability that one right figure lies outside its bounds.
///
/// POWER: with `n` expected hits, an error of the rate by `10 / sqrt(n)` is found with a
/// probability of 0.999 (6.8 standard deviations for alpha, 3.1 for the power): 11 % where 9,000
/// are expected, 120 % where the quick size expects 70.
const ALPHA: f64 = 1e-11;

/// The most checks: the sum of their probabilities stays below 1e-9.
const MOST_CHECKS: u32 = 99;

/// The checks that were made.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    checks: u32,
}

impl Bounds {
    /// Asserts that `hits` of `queries` independent queries is a possible result at a rate, by both
    /// tails of the binomial distribution.
    pub(crate) fn rate(&mut self, what: &str, hits: u64, queries: u64, rate: f64) {
        self.count();
        let [below, above] = tails(hits, queries, rate);
        assert!(
            below.min(above) > ALPHA / 2.0,
            "{what}: {hits} of {queries} queries at a rate of {rate:e}: at most this number has probability {below:e}, \
             at least this number {above:e}"
        );
    }

    /// Asserts that `hits` of `queries` independent queries is a possible result at this rate or a
    /// lower one.
    pub(crate) fn at_most(&mut self, what: &str, hits: u64, queries: u64, rate: f64) {
        self.count();
        let above = tails(hits, queries, rate)[1];
        assert!(above > ALPHA, "{what}: {hits} of {queries} queries, more than {rate:e}");
    }

    /// Asserts that a classic filter has the contents, and so the rate, that the formula
    /// `(1 - e^(-kn/m))^k` gives for the `[m, n, k]` of its case, whatever the filter says that it
    /// has. The answers are then compared with its rate.
    pub(crate) fn classic(
        &mut self,
        what: &str,
        figures: &Figures,
        [bits, keys, probes]: [u64; 3],
    ) {
        let fill = figures.fill.value;
        self.fill(what, fill, bits, keys * probes);
        let ratio = figures.false_positive_rate.value / fill.powi(probes as i32);
        assert!((ratio - 1.0).abs() < 1e-9, "{what}: the rate is not the fill to the power of k");
    }

    /// Asserts that a part of `bits` that are set is a possible result of as many independent
    /// uniform `placements`, by the inequality of McDiarmid: each placement changes the number of
    /// set bits by at most one.
    fn fill(&mut self, what: &str, fill: f64, bits: u64, placements: u64) {
        self.count();
        let expected = expected_fill(bits, placements);
        let most = (placements as f64 * (2.0 / ALPHA).ln() / 2.0).sqrt() / bits as f64;
        let possible = expected - most..=expected + most;
        assert!(possible.contains(&fill), "{what}: {fill} of the bits are set, not {expected}");
    }

    fn count(&mut self) {
        self.checks += 1;
        assert!(self.checks <= MOST_CHECKS, "too many checks for the sum of their probabilities");
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let checks = self.checks;
        let probability = f64::from(checks) * ALPHA;
        write!(
            f,
            "{checks} figures lie within exact bounds: by chance one fails with {probability:.0e} at most"
        )
    }
}

/// Returns the probability of at most this number of hits, and that of at least this number.
fn tails(hits: u64, queries: u64, rate: f64) -> [f64; 2] {
    let binomial = Binomial::new(rate, queries).expect("a rate from 0 to 1");
    [binomial.cdf(hits), if hits == 0 { 1.0 } else { binomial.sf(hits - 1) }]
}

/// Returns the expected part of the bits that independent uniform placements set.
pub(crate) fn expected_fill(bits: u64, placements: u64) -> f64 {
    -(placements as f64 * (-1.0 / bits as f64).ln_1p()).exp_m1()
}

/// Returns how many standard deviations a rate lies above the one that the formula gives.
pub(crate) fn deviations(rate: f64, formula: f64, queries: u64) -> f64 {
    (rate - formula) / (formula * (1.0 - formula) / queries as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{UnwindSafe, catch_unwind};

    use tamis::BloomFilter;
    use tamis::hash::Rapid;

    fn fails(check: impl FnOnce() + UnwindSafe) -> bool {
        catch_unwind(check).is_err()
    }

    /// Against the binomial distribution in exact rational numbers: at 8,886 expected of 10^8, a
    /// tail of 5e-12 ends between these counts on either side.
    #[test]
    fn a_wrong_rate_is_rejected() {
        let rate = |hits| move || Bounds::default().rate("", hits, 100_000_000, 8.886e-5);
        assert!(!fails(rate(LEAST)) && !fails(rate(MOST)));
        assert!(fails(rate(LEAST - 1)) && fails(rate(MOST + 1)));
        // A few queries, and none that hit.
        assert!(fails(|| Bounds::default().rate("", 3, 10, 1e-6)));
        assert!(!fails(|| Bounds::default().rate("", 0, 10, 1e-6)));
        assert!(fails(|| Bounds::default().rate("", 0, 1000, 0.1)));
    }

    #[test]
    fn a_wrong_fill_is_rejected() {
        let fill = |fill| move || Bounds::default().fill("", fill, 1_600_000, 480_000);
        assert!(!fails(fill(0.2592)) && fails(fill(0.2618)) && fails(fill(0.2566)));
    }

    /// A filter with one probe more, or with more bits, than its case is found by its contents.
    #[test]
    fn a_filter_of_another_case_is_rejected() {
        let (bits, keys, probes) = (200_000, 10_000, 6);
        for (is_wrong, made) in [(false, (bits, probes)), (true, (bits, 7)), (true, (190_000, 6))] {
            let builder = BloomFilter::<u64>::builder().bits(made.0).probes(made.1);
            let filter = builder.hasher(Rapid::with_seed(1)).build().unwrap();
            (0..keys).for_each(|key| _ = filter.insert(&key));
            let case = [bits, keys, probes.into()];
            let check = || Bounds::default().classic("", &filter.figures(), case);
            assert_eq!(fails(std::panic::AssertUnwindSafe(check)), is_wrong, "{made:?}");
        }
    }

    #[test]
    fn the_probabilities_of_all_checks_are_summed() {
        let mut bounds = Bounds::default();
        (0..MOST_CHECKS).for_each(|_| bounds.rate("", 1, 10, 0.1));
        assert!(fails(move || bounds.rate("", 1, 10, 0.1)));
    }

    /// The least and the most of 10^8 queries that are accepted.
    const LEAST: u64 = 8252;
    const MOST: u64 = 9535;
}
