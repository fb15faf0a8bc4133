//! The smallest filter that keeps a rate; or up to a fifth larger for fewer words, and up to 1 %
//! for fewer probes.

use libm::{ceil, exp, log, log2, pow, round};

use super::tables::{FEW, FOUND};
use super::{classic, line, load};
use crate::probe::classic::MAX_PROBES as MAX_CLASSIC_PROBES;
use crate::probe::line::Shape;

/// The number of 64-bit hashes.
pub(crate) const ALL_HASHES: f64 = 18_446_744_073_709_551_616.0;

/// Fewer probes are chosen if they need at most this factor more memory than the best number,
/// because each probe touches one more cache line.
///
/// MEASURED: at 1 %, 6 probes need 9.617 bits per item, instead of 9.593 with 7. With 100 million
/// items, hits, misses and half of each take 76, 58 and 74 ns instead of 82, 68 and 80; with 25
/// million items 58, 42 and 53 instead of 66, 52 and 59 (one by one, Zen 5).
const PROBE_PRICE: f64 = 1.01;

/// Numbers of probes below the ideal one that are tried. [`PROBE_PRICE`] allows 4 fewer at 1e-9.
const FEWER_PROBES: u32 = 6;

/// Returns the bits and the probes of a classic filter for `items` items at `rate`.
pub(crate) fn classic(items: u64, rate: f64) -> Option<(u64, u32)> {
    let usual =
        FOUND.iter().zip(&FEW).find(|(found, _)| found.rate - items as f64 / ALL_HASHES == rate);
    if let (Some((_, few)), 1..) = (usual, items)
        && let Some(&(bits, probes)) = few.get(items as usize - 1)
    {
        return Some((u64::from(bits), probes));
    }
    search_classic(items, rate)
}

/// As [`classic`], without a table.
fn search_classic(items: u64, rate: f64) -> Option<(u64, u32)> {
    let ideal = round(-log2(rate)).clamp(1.0, f64::from(MAX_CLASSIC_PROBES)) as u32;
    let fewest = ideal.saturating_sub(FEWER_PROBES).max(1);
    let most = (ideal + 2).min(MAX_CLASSIC_PROBES);
    // The sizes for each number of probes near the ideal one, in ascending order of probes.
    let log_rate = log(rate);
    let sizes: [Option<ClassicSize>; FEWER_PROBES as usize + 3] = core::array::from_fn(|more| {
        let probes = fewest + more as u32;
        (probes <= most).then(|| ClassicSize::new(items, probes, rate, log_rate))
    });
    let sizes = || sizes.iter().flatten();
    // The fewest probes that need at most `PROBE_PRICE` times the least memory. Most decisions do
    // not need the bits.
    let low = sizes().map(|size| size.low).min()?;
    let high = sizes().map(|size| size.high).min()?;
    let cheap = |bits: u64, least: u64| bits as f64 <= least as f64 * PROBE_PRICE;
    let mut least = None;
    for size in sizes().filter(|size| cheap(size.low, high)) {
        let bits = size.bits();
        if !cheap(size.high, low) {
            let close = || sizes().filter(|size| size.low <= high);
            let least = *least.get_or_insert_with(|| close().filter_map(ClassicSize::bits).min());
            if !cheap(bits?, least?) {
                continue;
            }
        }
        return Some((bits?, size.probes));
    }
    None
}

/// Above, the estimates are wrong by several bits, and the sums are short.
const HIGH_RATE: f64 = 0.9;

/// With at most this number of throws the exact sum is fast.
const MANY_THROWS: u64 = 24;

/// The size of a classic filter with some number of probes.
struct ClassicSize {
    items: u64,
    probes: u32,
    rate: f64,
    /// What the textbook's formula needs, which is too little.
    textbook: f64,
    /// Bounds of the fewest bits that keep the rate. (Test `the_estimates_are_close`.)
    low: u64,
    high: u64,
}

impl ClassicSize {
    fn new(items: u64, probes: u32, rate: f64, log_rate: f64) -> Self {
        let k = f64::from(probes);
        // (1 − (1 − 1/m)^(kn))^k = rate, solved for m.
        let fill = exp(log_rate / k);
        let throws_per_bit = -libm::log1p(-fill);
        let textbook = -1.0 / libm::expm1(-throws_per_bit / (items as f64 * k));
        // The variance of the ones raises the rate (see `classic::rate`), which falls with a power
        // of the bits.
        let odds = (1.0 - fill) / fill;
        let second_order = (k - 1.0) / 2.0 * (1.0 / throws_per_bit - odds);
        // What is left of the error, in few bits, by a fit.
        let n = items as f64;
        let left = (0.04 - k * (0.079 - 0.026 * throws_per_bit) * (1.0 - 0.22 / n)) / n;
        let estimate = textbook + second_order + left;
        let (below, above) = if rate > HIGH_RATE {
            (4.0, 4.0)
        } else if estimate < classic::exact_below(probes) as f64 {
            (0.16 / n + 4e-3, 0.05 / n + 4e-3)
        } else {
            (0.3, 0.1)
        };
        // Rounded up.
        let [low, high] =
            [estimate - below, estimate + above].map(|bits| (bits as u64).saturating_add(1));
        Self { items, probes, rate, textbook, low, high }
    }

    /// Returns the fewest bits that keep the rate.
    fn bits(&self) -> Option<u64> {
        if self.textbook >= pow(2.0, 64.0) {
            return None;
        }
        let least = (ceil(self.textbook) as u64).max(1);
        if self.textbook >= pow(2.0, 45.0) || self.rate > HIGH_RATE {
            return self.bits_above(least);
        }
        let mut bits = self.high.max(least);
        while !self.keeps(bits) {
            bits += 1;
        }
        while bits > least && self.keeps(bits - 1) {
            bits -= 1;
        }
        Some(bits)
    }

    /// Returns whether this number of bits keeps the rate.
    fn keeps(&self, bits: u64) -> bool {
        let excess = |rate: f64| rate / self.rate;
        if classic::is_exact(bits, self.probes, self.items) {
            // The exact sum of many throws takes up to milliseconds.
            if bits >= self.high {
                return true;
            }
            if bits < self.low {
                return false;
            }
            if self.items * u64::from(self.probes) > MANY_THROWS && self.rate > 1e-15 {
                let excess = excess(classic::by_contour(bits, self.probes, self.items));
                if (excess - 1.0).abs() > 1e-7 {
                    return excess <= 1.0;
                }
            }
        }
        excess(classic::rate(bits, self.probes, self.items)) <= 1.0
    }

    /// Returns the fewest bits that keep the rate, at least `bits`, where estimates are wrong by
    /// many bits.
    fn bits_above(&self, mut bits: u64) -> Option<u64> {
        // The rate falls about with the k-th power of the bits: lengthen the array step by step, by
        // half of what that predicts.
        loop {
            let excess = classic::rate(bits, self.probes, self.items) / self.rate;
            if excess <= 1.0 {
                return Some(bits);
            }
            let longer = bits as f64 * (pow(excess, 0.5 / f64::from(self.probes)) - 1.0);
            bits = bits.checked_add((longer as u64).max(1))?;
        }
    }
}

/// Returns the lines and the shape for `items` items at `rate`, with `words` words (one of
/// [`WORDS`]) if given.
pub(crate) fn line(items: u64, rate: f64, once: bool, words: Option<u32>) -> Option<(u64, Shape)> {
    let (guess, shape) = load::lines(items, rate, once, words)?;
    if guess >= pow(2.0, 64.0 - 9.0) {
        return None;
    }
    let mut groups = line::Groups::new(shape, once && shape.words > 1);
    // The load is exact for an infinite filter. A finite one needs a few lines more or less.
    let log_rate = log(rate);
    let mut keeps = |lines| {
        let stride = line::stride(items as f64 / lines as f64, log_rate);
        let excess = groups.rate_by(stride, lines, items) / rate;
        if stride > 1 && (excess - 1.0).abs() < 1e-7 {
            return groups.rate(lines, items) <= rate;
        }
        excess <= 1.0
    };
    let mut lines = (guess as u64).max(1);
    while !keeps(lines) {
        lines += lines / 1024 + 1;
    }
    while (2..load::FEW_LINES).contains(&lines) && keeps(lines - 1) {
        lines -= 1;
    }
    Some((lines, shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of all numbers of probes, for few items (where the sums are exact) and many.
    #[test]
    fn the_estimates_are_close() {
        let many = [50, 64, 90, 128, 200, 1000, 10_000, 1_000_000, 100_000_000, 100_000_000_000];
        for items in (1..=32).chain(many) {
            let steps = if items < 13 { 200 } else { 20 };
            for step in 0..steps {
                let step = f64::from(step) + items as f64 / 17.0 % 1.0;
                let rate = 0.99 * pow(1e-12, step / f64::from(steps));
                let ideal = round(-log2(rate)).max(1.0) as u32;
                for probes in ideal.saturating_sub(FEWER_PROBES).max(1)..=ideal + 2 {
                    let size = ClassicSize::new(items, probes, rate, log(rate));
                    let bits = size.bits_above((ceil(size.textbook) as u64).max(1)).unwrap();
                    let close = size.low..=size.high;
                    assert!(close.contains(&bits), "{items} {rate} {probes}: {bits}");
                    assert_eq!(size.bits(), Some(bits), "{items} {rate} {probes}");
                }
            }
        }
    }

    #[test]
    fn few_items_have_the_sizes_of_the_search() {
        for (found, few) in FOUND.iter().zip(FEW) {
            for (items, (bits, probes)) in (1..).zip(few) {
                let rate = found.rate - items as f64 / ALL_HASHES;
                let sizes = Some((u64::from(bits), probes));
                assert_eq!((search_classic(items, rate), classic(items, rate)), (sizes, sizes));
            }
        }
    }
}
