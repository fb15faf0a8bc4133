//! The smallest filter that keeps a rate; or up to a fifth larger for fewer words, and up to 1 % for fewer probes.

use libm::{ceil, exp, log, log2, pow, round};

use super::{classic, line};
use crate::probe::classic::MAX_PROBES as MAX_CLASSIC_PROBES;
use crate::probe::line::{MAX_PROBES as MAX_LINE_PROBES, Shape, WORDS};
use crate::probe::masks::MAX_PROBES_PER_WORD;

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
    let ideal = round(-log2(rate)).clamp(1.0, f64::from(MAX_CLASSIC_PROBES)) as u32;
    let fewest = ideal.saturating_sub(FEWER_PROBES).max(1);
    // The bits for each number of probes near the ideal one, in ascending order of probes.
    let sizes: [Option<(u64, u32)>; FEWER_PROBES as usize + 3] = core::array::from_fn(|more| {
        let probes = fewest + more as u32;
        let may_be = probes <= (ideal + 2).min(MAX_CLASSIC_PROBES);
        may_be.then(|| Some((classic_bits(items, probes, rate)?, probes)))?
    });
    let sizes = || sizes.iter().flatten().copied();
    // The fewest probes that need at most `PROBE_PRICE` times the least memory.
    let least = sizes().map(|(bits, _)| bits).min()?;
    sizes().find(|&(bits, _)| bits as f64 <= least as f64 * PROBE_PRICE)
}

/// Returns the fewest bits that keep the rate with this number of probes.
fn classic_bits(items: u64, probes: u32, rate: f64) -> Option<u64> {
    let k = f64::from(probes);
    let throws = items as f64 * k;
    // (1 − (1 − 1/m)^(kn))^k = rate, solved for m, is a lower bound for the bits.
    let guess = -1.0 / libm::expm1(libm::log1p(-pow(rate, 1.0 / k)) / throws);
    let low = ceil(guess);
    if low >= pow(2.0, 64.0) {
        return None;
    }
    // The textbook's size is a little too small. The rate falls about with the k-th power of the bits: lengthen the
    // array step by step, by half of what that predicts, until the exact rate is kept.
    let mut bits = (low as u64).max(1);
    loop {
        let excess = classic::rate(bits, probes, items) / rate;
        if excess <= 1.0 {
            return Some(bits);
        }
        let longer = bits as f64 * (pow(excess, 0.5 / k) - 1.0);
        bits = bits.checked_add((longer as u64).max(1))?;
    }
}

/// Returns the lines and the shape for `items` items at `rate`, with `words` words (one of [`WORDS`]) if given.
pub(crate) fn line(items: u64, rate: f64, once: bool, words: Option<u32>) -> Option<(u64, Shape)> {
    let best_of = |words| best_probes(words, rate, once && words > 1);
    let (load, shape) = match words {
        Some(words) => best_of(words),
        None => {
            // The fewest words that need at most `WORD_PRICE` times the memory of the best shape.
            let candidates = WORDS.map(best_of);
            let most = candidates.iter().map(|&(load, _)| load).fold(0.0, f64::max);
            *candidates.iter().find(|&&(load, _)| load * WORD_PRICE >= most)?
        }
    };
    let guess = ceil(items as f64 / load);
    if guess >= pow(2.0, 64.0 - 9.0) {
        return None;
    }
    // The load is exact for an infinite filter. A finite one needs a few lines more or less.
    let keeps = |lines| line::rate(lines, shape, once && shape.words > 1, items) <= rate;
    let mut lines = (guess as u64).max(1);
    while !keeps(lines) {
        lines += lines / 1024 + 1;
    }
    while (2..1024).contains(&lines) && keeps(lines - 1) {
        lines -= 1;
    }
    Some((lines, shape))
}

/// Returns the highest load, in items per line, that `words` words allow at this rate, and the shape with the probes
/// that allow it.
fn best_probes(words: u32, rate: f64, locked: bool) -> (f64, Shape) {
    let most = (words * MAX_PROBES_PER_WORD).min(MAX_LINE_PROBES);
    let load_of = |probes, guess| {
        let shape = Shape { words, probes };
        (load_at(rate, shape, locked, guess), shape)
    };
    let start = round(-log2(rate) * 0.85).clamp(f64::from(words), f64::from(most)) as u32;
    // At that load somewhat less than half of the bits of a line are set.
    let mut best = load_of(start, 300.0 / f64::from(start));
    // The load has one maximum over the probes: climb from the start, first downwards, then upwards.
    for step in [-1, 1] {
        let mut probes = start;
        while let Some(next) = probes.checked_add_signed(step) {
            if next < words || next > most {
                break;
            }
            let candidate = load_of(next, best.0);
            if candidate.0 <= best.0 {
                break;
            }
            (best, probes) = (candidate, next);
        }
    }
    best
}

/// Bounds of the search: no rate that a 64-bit hash allows needs a load beyond them.
const LOWEST_LOG_LOAD: f64 = -40.0;
const HIGHEST_LOG_LOAD: f64 = 9.5;

/// Returns the load, in items per line, at which the expected rate is `rate`. Searches from `guess`.
fn load_at(rate: f64, shape: Shape, locked: bool, guess: f64) -> f64 {
    let groups = line::Groups::new(shape, locked);
    let error = |log_load: f64| log(groups.rate_at_load(exp(log_load))) - log(rate);
    // 1. Bracket the load, from the guess, by growing steps.
    let guess = log(guess);
    let (mut low, mut high) = (guess, guess);
    let mut error_low = error(guess);
    let mut error_high = error_low;
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
        return exp(low);
    }
    if error_high <= 0.0 {
        return exp(high);
    }
    // 2. Narrow the bracket by regula falsi, in the Illinois variant, which does not stall at one end.
    let mut side = 0;
    for _ in 0..100 {
        let middle = (low * error_high - high * error_low) / (error_high - error_low);
        let error_middle = error(middle);
        // A millionth of the rate is finer than a whole number of lines can meet.
        if error_middle.abs() < 1e-6 || high - low < 1e-9 {
            return exp(middle);
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
    exp(low)
}
