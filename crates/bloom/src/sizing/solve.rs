//! A small filter that keeps the rate: the fewest bits, or in lines up to a fifth more for fewer words.

use libm::{ceil, exp, log, log2, pow, round};

use super::{classic, line};
use crate::probe::classic::MAX_PROBES as MAX_CLASSIC_PROBES;
use crate::probe::line::{MAX_PROBES as MAX_LINE_PROBES, Shape, WORDS};
use crate::probe::masks::MAX_PROBES_PER_WORD;

/// A shape that touches fewer words is taken if it needs at most this much more memory than the best.
///
/// MEASURED: inserts of new items on 1, 2, 4 and 8 words, three bits in each, take 12.0, 17.6, 38 and more
/// than 70 ns (50,000 items in 128 KiB, Sapphire Rapids); in batches on 1, 2 and 4 words, at the rates for
/// which they are chosen, 12, 21 and 48 ns, and queries there 4.6, 5.7 and 11 (100,000 items, Emerald Rapids), so
/// that a word less is worth a fifth more memory. At 1 % one word needs 11.95 bits an item, two 10.2, four
/// 10.1; at 0.01 % two need 25.6, four 22.4.
const WORD_PRICE: f64 = 1.21;

/// Fewer probes are taken if they need at most this much more memory than the best number: each is a cache line more.
///
/// MEASURED: at 1 % 6 probes need 9.617 bits per item where 7 need 9.593. Hits, misses and half of each take 76, 58 and
/// 74 ns instead of 82, 68 and 80 with 100 million items, and 58, 42 and 53 instead of 66, 52 and 59 with 25 million
/// (one by one, Zen 5).
const PROBE_PRICE: f64 = 1.01;

/// Probes below the ideal number that [`PROBE_PRICE`] can pay for: 4 at 1e-9.
const FEWER_PROBES: u32 = 6;

/// The bits and the probes for a classic filter of `items` at `rate`.
pub(crate) fn classic(items: u64, rate: f64) -> Option<(u64, u32)> {
    let ideal = round(-log2(rate)).clamp(1.0, f64::from(MAX_CLASSIC_PROBES)) as u32;
    let fewest = ideal.saturating_sub(FEWER_PROBES).max(1);
    let sizes: [Option<(u64, u32)>; FEWER_PROBES as usize + 3] = core::array::from_fn(|more| {
        let probes = fewest + more as u32;
        let may_be = probes <= (ideal + 2).min(MAX_CLASSIC_PROBES);
        may_be.then(|| Some((classic_bits(items, probes, rate)?, probes)))?
    });
    let sizes = || sizes.iter().flatten().copied();
    let least = sizes().map(|(bits, _)| bits).min()?;
    sizes().find(|&(bits, _)| bits as f64 <= least as f64 * PROBE_PRICE)
}

fn classic_bits(items: u64, probes: u32, rate: f64) -> Option<u64> {
    let k = f64::from(probes);
    let throws = items as f64 * k;
    // (1 − (1 − 1/m)^(kn))^k = rate, solved for m: a lower bound on the bits.
    let guess = -1.0 / libm::expm1(libm::log1p(-pow(rate, 1.0 / k)) / throws);
    let low = ceil(guess);
    if low >= pow(2.0, 64.0) {
        return None;
    }
    // The textbook's size is a little short: lengthen it by what the exact rate says, which goes down
    // with the probes-th power of the bits, until it keeps the rate.
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

/// The lines, and the shape, for `items` at `rate`; of `words` words if they are given, one of [`WORDS`].
pub(crate) fn line(items: u64, rate: f64, once: bool, words: Option<u32>) -> Option<(u64, Shape)> {
    let best_of = |words| best_probes(words, rate, once && words > 1);
    let (load, shape) = match words {
        Some(words) => best_of(words),
        None => {
            let candidates = WORDS.map(best_of);
            let most = candidates.iter().map(|&(load, _)| load).fold(0.0, f64::max);
            *candidates.iter().find(|&&(load, _)| load * WORD_PRICE >= most)?
        }
    };
    let guess = ceil(items as f64 / load);
    if guess >= pow(2.0, 64.0 - 9.0) {
        return None;
    }
    // The load is exact for an endless filter; a small one needs a little more, or less.
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

/// The probes on so many words that bear the highest load at this rate, and that load in items a line.
fn best_probes(words: u32, rate: f64, locked: bool) -> (f64, Shape) {
    let most = (words * MAX_PROBES_PER_WORD).min(MAX_LINE_PROBES);
    let load_of = |probes, guess| {
        let shape = Shape { words, probes };
        (load_at(rate, shape, locked, guess), shape)
    };
    let start = round(-log2(rate) * 0.85).clamp(f64::from(words), f64::from(most)) as u32;
    // Somewhat less than half of a line's bits are set at the load sought.
    let mut best = load_of(start, 300.0 / f64::from(start));
    // The load has one peak over the probes: climb it, down or up.
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

/// Loads that no rate a hash can give asks for; the search ends there.
const LOWEST_LOG_LOAD: f64 = -40.0;
const HIGHEST_LOG_LOAD: f64 = 9.5;

/// The load in items a line at which the expected rate is `rate`, sought from `guess`.
fn load_at(rate: f64, shape: Shape, locked: bool, guess: f64) -> f64 {
    let groups = line::Groups::new(shape, locked);
    let error = |log_load: f64| log(groups.rate_at_load(exp(log_load))) - log(rate);
    // Bracket the load from the guess, by steps that grow.
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
    // Regula falsi, Illinois variant: keeps the bracket, and does not stall at one end.
    let mut side = 0;
    for _ in 0..100 {
        let middle = (low * error_high - high * error_low) / (error_high - error_low);
        let error_middle = error(middle);
        // A millionth of the rate is closer than any count of lines comes.
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
