//! The number of blocks for a number of items and a rate.

use libm::{exp, log1p};

use super::block::{LANE_BITS, LANES};
use super::error::Error;

/// The most blocks: the upper half of a hash chooses one.
pub(super) const MAX_BLOCKS: u64 = 1 << 32;

/// The lowest rate. Two hashes in one block whose lower halves are equal have the same bits, and
/// the sizes do not count them: at this rate they are 1 % of it, and at 1e-4 a thirtieth of a
/// thousandth (any machine).
const LOWEST_RATE: f64 = 1e-7;

/// Returns the probability that a hash which was not inserted is found, after `items` hashes in
/// `blocks` blocks.
///
/// With `j` hashes in the block, a word has the bit of the query with probability `1 − q^j`, where
/// `q = 31 / 32`, and eight words have theirs with probability `(1 − q^j)^8 = Σ (−1)^i · C(8, i) ·
/// q^(i j)`. The number of hashes in the block is binomial. So the mean of `q^(i j)` is
/// `(1 − (1 − q^i) / blocks)^items`, and the sum has no more than nine terms. It is exact to about
/// 1e-14.
pub(super) fn rate(blocks: u64, items: u64) -> f64 {
    let (mut sum, mut choose, mut power) = (0.0, 1.0, 1.0);
    for i in 0..=LANES {
        let mean = exp(items as f64 * log1p(-(1.0 - power) / blocks as f64));
        sum += choose * mean;
        choose *= -((LANES - i) as f64) / (i + 1) as f64;
        power *= (LANE_BITS - 1) as f64 / LANE_BITS as f64;
    }
    sum
}

/// Returns the fewest blocks that keep the rate with this number of items (at least 1), rounded up
/// to a multiple of `multiple`.
pub(super) fn blocks(items: u64, wanted: f64, multiple: u64) -> Result<u64, Error> {
    let items = items.max(1);
    // NaN is in no range.
    if !(LOWEST_RATE..1.0).contains(&wanted) {
        return Err(Error::Rate { rate: wanted });
    }
    let keeps = |blocks: u64| rate(blocks, items) <= wanted;
    // Bisection: the rate falls with the number of blocks. Zero blocks do not keep it.
    let (mut low, mut high) = (0, MAX_BLOCKS);
    if !keeps(high) {
        return Err(Error::TooLarge);
    }
    while high - low > 1 {
        let middle = (low + high) / 2;
        if keeps(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    // Both are at most 2^32.
    let blocks = high.next_multiple_of(multiple.max(1));
    if blocks > MAX_BLOCKS { Err(Error::TooLarge) } else { Ok(blocks) }
}

/// Returns the number of items that are expected to set this number of bits. Infinite if all are
/// set.
pub(super) fn items(blocks: u64, ones: u64) -> f64 {
    let (word, bits) = ((blocks * LANE_BITS) as f64, (blocks * LANE_BITS) as f64 * LANES as f64);
    // A bit of a word stays 0 after `n` items with probability `(1 − 1 / word)^n`.
    log1p(-(ones as f64) / bits) / log1p(-1.0 / word)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The oracle: the sum over the numbers of hashes in a block, whose distribution is computed
    /// from its largest term on, without logarithms.
    fn by_count(blocks: u64, items: u64) -> f64 {
        let (n, odds) = (items as f64, 1.0 / (blocks as f64 - 1.0));
        let chance = |j: f64| libm::pow(1.0 - libm::pow(31.0 / 32.0, j), 8.0);
        let middle = libm::floor(n / blocks as f64);
        let (mut total, mut sum) = (0.0, 0.0);
        let (mut weight, mut j) = (1.0, middle);
        while j <= n && weight > 1e-30 {
            (total, sum) = (total + weight, sum + weight * chance(j));
            weight *= (n - j) / (j + 1.0) * odds;
            j += 1.0;
        }
        (weight, j) = (1.0, middle);
        while j >= 1.0 && weight > 1e-30 {
            weight *= j / (n - j + 1.0) / odds;
            j -= 1.0;
            (total, sum) = (total + weight, sum + weight * chance(j));
        }
        sum / total
    }

    #[test]
    fn sizes_are_those_of_the_sum_over_the_counts_to_the_block() {
        for items in [1, 2, 3, 10, 100, 1000, 100_000, 1_000_000, 10_000_000, 100_000_000] {
            for wanted in [0.5, 0.05, 0.01, 1e-3, 1e-4, 1e-5] {
                let blocks = blocks(items, wanted, 1).unwrap();
                let rate_of =
                    |blocks| if blocks == 1 { rate(1, items) } else { by_count(blocks, items) };
                assert!(rate_of(blocks) <= wanted, "{items} {wanted}: {blocks}");
                let fewer = blocks - 1;
                assert!(fewer == 0 || rate_of(fewer) > wanted, "{items} {wanted}: {blocks}");
            }
        }
    }

    #[test]
    fn one_block_is_counted_by_hand() {
        let one = libm::pow(1.0 - 31.0 / 32.0, 8.0);
        assert!((rate(1, 1) - one).abs() < 1e-14);
        assert!((rate(2, 1) - one / 2.0).abs() < 1e-14);
        assert_eq!(rate(1, 0), 0.0);
        assert!((rate(1, 1_000_000) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn sizes_are_rounded_up_to_a_multiple() {
        let exact = blocks(100_000, 0.01, 1).unwrap();
        assert_eq!(blocks(100_000, 0.01, 64).unwrap(), exact.next_multiple_of(64));
        assert_eq!(blocks(1, 0.01, 1 << 32), Ok(1 << 32));
        assert_eq!(blocks(1, 0.01, 1 << 33), Err(Error::TooLarge));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for rate in [f64::NAN, 0.0, -1.0, 1.0, 2.0, 9e-8, f64::INFINITY] {
            assert!(matches!(blocks(1000, rate, 1), Err(Error::Rate { .. })), "{rate}");
        }
        assert_eq!(blocks(u64::MAX, 0.01, 1), Err(Error::TooLarge));
        assert_eq!(blocks(0, 0.01, 1), blocks(1, 0.01, 1));
    }

    #[test]
    fn the_estimate_inverts_the_expected_fill() {
        for (blocks, n) in [(1_u64, 5.0), (100, 2000.0), (1 << 20, 1e7)] {
            let empty = exp(n * log1p(-1.0 / (blocks * 32) as f64));
            let ones = ((1.0 - empty) * (blocks * 256) as f64).round();
            assert!((items(blocks, ones as u64) / n - 1.0).abs() < 0.02, "{blocks}");
        }
        assert_eq!(items(7, 0), 0.0);
        assert_eq!(items(7, 7 * 256), f64::INFINITY);
    }
}
