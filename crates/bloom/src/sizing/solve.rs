//! The smallest filter that keeps a rate; or up to a fifth larger for fewer words, and up to 1 % for fewer probes.

use libm::{ceil, exp, log, log2, pow, round};

use super::{classic, line};
use crate::probe::classic::MAX_PROBES as MAX_CLASSIC_PROBES;
use crate::probe::line::{MAX_PROBES as MAX_LINE_PROBES, Shape, WORDS};
use crate::probe::masks::MAX_PROBES_PER_WORD;

/// The number of 64-bit hashes.
pub(crate) const ALL_HASHES: f64 = 18_446_744_073_709_551_616.0;

/// A shape of fewer words is chosen if it needs at most this factor more memory than the best shape.
///
/// MEASURED: inserts of new items on 1, 2, 4 and 8 words, with three bits in each, take 12.0, 17.6, 38 and more than 70
/// ns (50,000 items in 128 KiB, Sapphire Rapids). In batches on 1, 2 and 4 words, at the rates for which they are
/// chosen, inserts take 12, 21 and 48 ns, and queries 4.6, 5.7 and 11 (100,000 items, Emerald Rapids). One word less is
/// therefore worth a fifth more memory. At 1 % one word needs 11.95 bits per item, two words 10.2, four 10.1; at 0.01 %
/// two words need 25.6, four 22.4.
const WORD_PRICE: f64 = 1.21;

/// Fewer probes are chosen if they need at most this factor more memory than the best number, because each probe
/// touches one more cache line.
///
/// MEASURED: at 1 %, 6 probes need 9.617 bits per item, instead of 9.593 with 7. With 100 million items, hits, misses
/// and half of each take 76, 58 and 74 ns instead of 82, 68 and 80; with 25 million items 58, 42 and 53 instead of 66,
/// 52 and 59 (one by one, Zen 5).
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

/// The bits and the probes of classic filters for 1 to 10 items at the rates of [`FOUND`]: where the exact sums take up to
/// 9 µs. (Test `few_items_have_the_sizes_of_the_search`.)
#[rustfmt::skip]
const FEW: [[(u16, u32); 10]; 9] = [
    [(6, 2), (11, 3), (16, 3), (21, 3), (25, 3), (30, 3), (35, 3), (40, 3), (45, 3), (50, 3)],
    [(11, 6), (21, 5), (31, 5), (41, 5), (50, 6), (60, 6), (69, 6), (79, 6), (89, 6), (98, 6)],
    [(17, 7), (31, 9), (46, 8), (60, 9), (75, 9), (89, 9), (105, 8), (119, 8), (133, 9), (147, 9)],
    [(22, 10), (42, 10), (61, 11), (80, 12), (99, 12), (120, 11), (139, 11), (158, 11), (176, 12), (196, 12)],
    [(27, 14), (52, 13), (76, 14), (101, 13), (125, 14), (149, 14), (173, 14), (197, 14), (222, 14), (246, 14)],
    [(33, 14), (62, 16), (91, 17), (121, 16), (150, 16), (178, 17), (207, 17), (236, 17), (265, 17), (294, 17)],
    [(38, 17), (72, 20), (107, 18), (141, 19), (174, 20), (209, 19), (243, 19), (275, 20), (311, 19), (343, 20)],
    [(43, 22), (82, 24), (122, 21), (161, 21), (199, 22), (238, 22), (277, 22), (316, 22), (353, 23), (392, 23)],
    [(49, 24), (93, 24), (137, 24), (180, 25), (225, 24), (268, 25), (311, 25), (355, 25), (397, 26), (442, 25)],
];

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
    // The fewest probes that need at most `PROBE_PRICE` times the least memory. Most decisions do not need the bits.
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
        // The variance of the ones raises the rate (see `classic::rate`), which falls with a power of the bits.
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

    /// Returns the fewest bits that keep the rate, at least `bits`, where estimates are wrong by many bits.
    fn bits_above(&self, mut bits: u64) -> Option<u64> {
        // The rate falls about with the k-th power of the bits: lengthen the array step by step, by half of what that
        // predicts.
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

/// Returns the lines and the shape for `items` items at `rate`, with `words` words (one of [`WORDS`]) if given.
pub(crate) fn line(items: u64, rate: f64, once: bool, words: Option<u32>) -> Option<(u64, Shape)> {
    let (guess, shape) = match known(items, rate, once, words) {
        Some(known) => known,
        None => {
            let (load, shape) = search(rate, once, words)?;
            (ceil(items as f64 / load), shape)
        }
    };
    if guess >= pow(2.0, 64.0 - 9.0) {
        return None;
    }
    let mut groups = line::Groups::new(shape, once && shape.words > 1);
    // The load is exact for an infinite filter. A finite one needs a few lines more or less.
    let mut keeps = |lines| groups.rate(lines, items) <= rate;
    let mut lines = (guess as u64).max(1);
    while !keeps(lines) {
        lines += lines / 1024 + 1;
    }
    while (2..FEW_LINES).contains(&lines) && keeps(lines - 1) {
        lines -= 1;
    }
    Some((lines, shape))
}

/// A filter of fewer lines has the fewest that keep the rate.
const FEW_LINES: u64 = 1024;

/// What [`search`] finds for a rate, without and with locks.
struct Found {
    rate: f64,
    shape: Shape,
    /// The load, and its relative change divided by that of the rate.
    loads: [(f64, f64); 2],
}

/// What [`search`] finds at the usual rates. (Test `the_known_loads_are_those_of_the_search`.)
const FOUND: [Found; 9] = {
    const fn found(rate: f64, words: u32, probes: u32, loads: [(f64, f64); 2]) -> Found {
        Found { rate, shape: Shape { words, probes }, loads }
    }
    [
        found(
            1e-1,
            1,
            3,
            [(102.412_511_682_761_93, 0.486_982_7), (102.412_511_682_761_93, 0.486_982_7)],
        ),
        found(
            1e-2,
            1,
            5,
            [(42.835_565_070_290_06, 0.324_574_5), (42.835_565_070_290_06, 0.324_574_5)],
        ),
        found(
            1e-3,
            2,
            8,
            [(30.404_365_923_645_52, 0.196_750_7), (30.296_320_226_063_578, 0.197_345_6)],
        ),
        found(
            1e-4,
            2,
            10,
            [(19.994_417_117_542_262, 0.173_355_3), (19.917_025_847_173_537, 0.173_874_6)],
        ),
        found(
            1e-5,
            4,
            12,
            [(16.670_962_463_913_38, 0.134_683_9), (16.603_479_752_421_2, 0.135_126_1)],
        ),
        found(
            1e-6,
            4,
            16,
            [(12.587_662_874_054_953, 0.117_295_5), (12.541_878_453_031_998, 0.117_614_8)],
        ),
        found(
            1e-7,
            4,
            16,
            [(9.604_300_873_335_553, 0.117_986_5), (9.561_719_758_076_137, 0.118_363_8)],
        ),
        found(
            1e-8,
            4,
            20,
            [(7.355_993_892_704_033, 0.110_133), (7.325_788_859_752_535, 0.110_435_9)],
        ),
        found(
            1e-9,
            4,
            20,
            [(5.690_773_417_667_373, 0.113_025_9), (5.663_130_336_902_278, 0.113_380_4)],
        ),
    ]
};

/// Returns the first guess of the lines, and the shape, if they follow from [`FOUND`] without a search.
///
/// Of the requested rate, equal hashes take a part that grows with the items. `rate` is what the bits have left.
fn known(items: u64, rate: f64, once: bool, words: Option<u32>) -> Option<(f64, Shape)> {
    let part = |found: &Found| 1.0 - rate / found.rate;
    let usual = |found: &&Found| (-1e-15..MOST_PART.min(1e-6 / found.rate)).contains(&part(found));
    let found = FOUND.iter().find(usual)?;
    if words.is_some_and(|words| words != found.shape.words) {
        return None;
    }
    let (load, slope) = found.loads[usize::from(once)];
    let part = part(found);
    let lines = items as f64 / load * grown(slope, part);
    let [least, most] = [1.0 - error(part), 1.0 + error(part)].map(|factor| ceil(lines * factor));
    (least == most || most < FEW_LINES as f64).then_some((least, found.shape))
}

/// The largest part of a rate that equal hashes may take from a usual rate.
const MOST_PART: f64 = 1e-2;

/// Returns the factor by which the lines grow if equal hashes take this part of the rate.
fn grown(slope: f64, part: f64) -> f64 {
    1.0 + slope * part * (1.0 + (slope + 1.0) / 2.0 * part)
}

/// Returns a bound for the relative error of lines that grew by this part.
fn error(part: f64) -> f64 {
    part.abs() * (1e-6 + 4e-3 * part.abs()) + 1e-12
}

/// Returns the highest load, in items per line, at this rate, and the shape that allows it.
fn search(rate: f64, once: bool, words: Option<u32>) -> Option<(f64, Shape)> {
    match words.or_else(|| usual_words(rate, once)) {
        Some(words) => best_probes(words, rate, once && words > 1),
        None => search_all(rate, once),
    }
}

/// As [`search`] over all numbers of words.
fn search_all(rate: f64, once: bool) -> Option<(f64, Shape)> {
    // The fewest words that need at most `WORD_PRICE` times the memory of the best shape.
    let candidates = WORDS.map(|words| best_probes(words, rate, once && words > 1));
    let candidates = || candidates.into_iter().flatten();
    let most = candidates().map(|(load, _)| load).fold(0.0, f64::max);
    candidates().find(|(load, _)| load * WORD_PRICE >= most)
}

/// The rates below which two, four and eight words are the fewest that need at most [`WORD_PRICE`] times the memory of
/// the best shape: without and with locks. (Test `the_usual_words_are_those_of_the_search`.)
const WORDS_BELOW: [[f64; 3]; 2] = [
    [8.309_005_200_819_686e-3, 2.378_567_373_285_329_7e-05, 1.142_725_863_988_041_5e-11],
    [8.142_005_226_319_236e-3, 2.432_787_865_052_594_3e-05, 1.164_990_282_541_707_3e-11],
];

/// Returns the words that the search would choose, or `None` so close to a limit that rounding decides.
fn usual_words(rate: f64, once: bool) -> Option<u32> {
    let limits = WORDS_BELOW[usize::from(once)];
    let close = limits.iter().any(|limit| (rate / limit - 1.0).abs() < 1e-12);
    (!close).then(|| WORDS[limits.iter().filter(|&&limit| rate < limit).count()])
}

/// Returns the highest load, in items per line, that `words` words allow at this rate, and the shape with the probes
/// that allow it.
fn best_probes(words: u32, rate: f64, locked: bool) -> Option<(f64, Shape)> {
    let most = (words * MAX_PROBES_PER_WORD).min(MAX_LINE_PROBES);
    let load_of = |probes, guess, higher| {
        let shape = Shape { words, probes };
        Some((load_at(rate, shape, locked, guess, higher)?, shape))
    };
    let start = round(-log2(rate) * 0.85).clamp(f64::from(words), f64::from(most)) as u32;
    // At that load somewhat less than half of the bits of a line are set.
    let mut best = load_of(start, 300.0 / f64::from(start), false)?;
    // The load has one maximum over the probes: climb from the start, first downwards, then upwards.
    for step in [-1, 1] {
        let mut probes = start;
        while let Some(next) = probes.checked_add_signed(step) {
            if next < words || next > most {
                break;
            }
            match load_of(next, best.0, true) {
                Some(candidate) if candidate.0 > best.0 => (best, probes) = (candidate, next),
                _ => break,
            }
        }
    }
    Some(best)
}

/// Bounds of the search: no rate that a 64-bit hash allows needs a load beyond them.
const LOWEST_LOG_LOAD: f64 = -40.0;
const HIGHEST_LOG_LOAD: f64 = 9.5;

/// The relative error of the rate at which the search ends: finer than a whole number of lines can meet.
const CLOSE: f64 = 1e-6;

/// Returns the load, in items per line, at which the expected rate is `rate`, or `None` if it is lower than `guess` and only a
/// `higher` one is of use. Searches from `guess`.
fn load_at(rate: f64, shape: Shape, locked: bool, guess: f64, higher: bool) -> Option<f64> {
    let mut groups = line::Groups::new(shape, locked);
    let log_rate = log(rate);
    let mut error = |log_load: f64| log(groups.rate_at_load(exp(log_load))) - log_rate;
    // 1. Bracket the load, from the guess, by growing steps.
    let guess = log(guess);
    let (mut low, mut high) = (guess, guess);
    let mut error_low = error(guess);
    let mut error_high = error_low;
    if higher && error_low > CLOSE {
        return None;
    }
    let mut step = 0.05;
    while error_low > 0.0 && low > LOWEST_LOG_LOAD {
        (high, error_high) = (low, error_low);
        low -= step;
        error_low = error(low);
        step *= 2.0;
    }
    while error_high < 0.0 && high < HIGHEST_LOG_LOAD {
        (low, error_low) = (high, error_high);
        high += step;
        error_high = error(high);
        step *= 2.0;
    }
    if error_low >= 0.0 {
        return Some(exp(low));
    }
    if error_high <= 0.0 {
        return Some(exp(high));
    }
    // 2. Narrow the bracket by regula falsi, in the Illinois variant, which does not stall at one end.
    let mut side = 0;
    for _ in 0..100 {
        let middle = (low * error_high - high * error_low) / (error_high - error_low);
        let error_middle = error(middle);
        if error_middle.abs() < CLOSE || high - low < 1e-9 {
            return Some(exp(middle));
        }
        if error_middle > 0.0 {
            (high, error_high) = (middle, error_middle);
            if side == 1 {
                error_low /= 2.0;
            }
            side = 1;
        } else {
            (low, error_low) = (middle, error_middle);
            if side == -1 {
                error_high /= 2.0;
            }
            side = -1;
        }
    }
    Some(exp(low))
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

    #[test]
    fn the_known_loads_are_those_of_the_search() {
        for Found { rate, shape, loads } in &FOUND {
            for (once, (load, slope)) in [false, true].into_iter().zip(loads) {
                assert_eq!(search(*rate, once, None), Some((*load, *shape)), "{rate}");
                for step in 0..200 {
                    let part = (1e-12 * pow(1.13, f64::from(step))).min(MOST_PART.min(1e-6 / rate));
                    let (found, same) = search(rate * (1.0 - part), once, None).unwrap();
                    let off = (load / found / grown(*slope, part) - 1.0).abs();
                    assert!(off < error(part), "{rate} {part}: {off}");
                    assert_eq!(*shape, same);
                }
            }
        }
    }

    #[test]
    fn the_usual_words_are_those_of_the_search() {
        for once in [false, true] {
            let words_at = |rate| search_all(rate, once).unwrap().1.words;
            for limit in WORDS_BELOW[usize::from(once)] {
                for step in 0..100 {
                    let factor = (2e-12 * pow(1.3, f64::from(step))).min(0.1);
                    for rate in [limit * (1.0 - factor), limit * (1.0 + factor)] {
                        assert_eq!(usual_words(rate, once), Some(words_at(rate)), "{rate}");
                    }
                }
            }
        }
    }
}
