//! The load at which lines have a rate, and the shape that allows the highest one.
//!
//! The sizes of large filters depend on the steps of this search, and files and other processes
//! have them. So [`climb`] stays as it is; [`quick`] and [`known`] find the same loads in fewer
//! sums, and leave to it where they may not.

use core::ops::RangeInclusive;

use libm::{ceil, exp, log, log2, round};

use super::line;
use super::tables::{FOUND, Found, MORE_PROBES, WORDS_BELOW};
use crate::probe::line::{MAX_PROBES, Shape, WORDS};
use crate::probe::masks::MAX_PROBES_PER_WORD;

/// A shape of fewer words is chosen if it needs at most this factor more memory than the best
/// shape.
///
/// MEASURED: inserts of new items on 1, 2, 4 and 8 words, with three bits in each, take 12.0, 17.6,
/// 38 and more than 70 ns (50,000 items in 128 KiB, Sapphire Rapids). In batches on 1, 2 and 4
/// words, at the rates for which they are chosen, inserts take 12, 21 and 48 ns, and queries 4.6,
/// 5.7 and 11 (100,000 items, Emerald Rapids). One word less is therefore worth a fifth more
/// memory. At 1 % one word needs 11.95 bits per item, two words 10.2, four 10.1; at 0.01 % two
/// words need 25.6, four 22.4.
const WORD_PRICE: f64 = 1.21;

/// A filter of fewer lines has the fewest that keep the rate.
pub(super) const FEW_LINES: u64 = 1024;

/// Returns the first guess of the lines, and the shape, if they follow from [`FOUND`] without a
/// search.
///
/// Of the requested rate, equal hashes take a part that grows with the items. `rate` is what the
/// bits have left.
fn known(items: u64, rate: f64, once: bool, words: Option<u32>) -> Option<(f64, Shape)> {
    let part = |found: &Found| 1.0 - rate / found.rate;
    let usual = |found: &&Found| (-1e-15..most_part(found)).contains(&part(found));
    let found = FOUND.iter().find(usual)?;
    if words.is_some_and(|words| words != found.shape.words) {
        return None;
    }
    let (load, slope) = found.loads[usize::from(once)];
    let part = part(found);
    let load = load / grown(slope, part);
    let lines = rounded(items as f64 / load, error(part)).or_else(|| {
        let Shape { words, .. } = found.shape;
        let mut curve = Curve::new(rate, found.shape, once && words > 1);
        let load = curve.stepped(load, start(words, rate))?;
        rounded(items as f64 / load, unsure(rate)).filter(|_| !curve.unsure)
    })?;
    Some((lines, found.shape))
}

/// Returns the largest part of the rate that equal hashes may take, so that the shape is still the
/// best.
fn most_part(found: &Found) -> f64 {
    // Between two numbers of probes in a word, the best number changes quickly.
    let most = if found.shape.probes.is_multiple_of(found.shape.words) { 0.2 } else { 1e-3 };
    (5e-7 / found.rate).min(most)
}

/// Returns the factor by which the lines grow if equal hashes take this part of the rate.
fn grown(slope: f64, part: f64) -> f64 {
    1.0 + slope * part * (1.0 + (slope + 1.0) / 2.0 * part)
}

/// Returns a bound for the relative error of lines that grew by this part.
fn error(part: f64) -> f64 {
    part.abs() * (1e-6 + 2e-2 * part.abs()) + 1e-12
}

/// Returns the lines that items need at this rate of the bits, but for a few more or less in a
/// finite filter, and the shape. Of less than [`FEW_LINES`] lines it returns about the number.
pub(super) fn lines(items: u64, rate: f64, once: bool, words: Option<u32>) -> Option<(f64, Shape)> {
    if let Some(known) = known(items, rate, once, words) {
        return Some(known);
    }
    let lines = |(load, shape)| (items as f64 / load, shape);
    let (quick, shape) = lines(search(rate, once, words, quick)?);
    if let Some(lines) = rounded(quick, unsure(rate)) {
        return Some((lines, shape));
    }
    let (plain, shape) = lines(search(rate, once, words, climb)?);
    Some((ceil(plain), shape))
}

/// Returns a bound of the relative difference between the loads of [`quick`] and [`climb`].
/// (Test `the_quick_search_finds_what_the_climb_finds`.)
fn unsure(rate: f64) -> f64 {
    match rate {
        0.99.. => 1e-7,
        0.9.. => 3e-9,
        1e-4.. => 3e-10,
        _ => 1e-11,
    }
}

/// Returns the lines rounded up, unless an error of this size could change the lines of the filter.
fn rounded(lines: f64, error: f64) -> Option<f64> {
    let [least, most] = [1.0 - error, 1.0 + error].map(|factor| ceil(lines * factor));
    (least == most || most < FEW_LINES as f64).then_some(least)
}

/// A search for the highest load, in items per line, that a number of words allows at a rate,
/// perhaps with locks, and the shape with the probes that allow it.
type Search = fn(words: u32, rate: f64, locked: bool) -> Option<(f64, Shape)>;

/// Returns the highest load at this rate, and the shape that allows it.
fn search(rate: f64, once: bool, words: Option<u32>, best: Search) -> Option<(f64, Shape)> {
    match words.or_else(|| usual_words(rate, once)) {
        Some(words) => best(words, rate, once && words > 1),
        None => search_all(rate, once),
    }
}

/// As [`search`] over all numbers of words.
fn search_all(rate: f64, once: bool) -> Option<(f64, Shape)> {
    // The fewest words that need at most `WORD_PRICE` times the memory of the best shape.
    let candidates = WORDS.map(|words| climb(words, rate, once && words > 1));
    let candidates = || candidates.into_iter().flatten();
    let most = candidates().map(|(load, _)| load).fold(0.0, f64::max);
    candidates().find(|(load, _)| load * WORD_PRICE >= most)
}

/// Returns the words that the search would choose, or `None` so close to a limit that rounding
/// decides.
fn usual_words(rate: f64, once: bool) -> Option<u32> {
    let limits = WORDS_BELOW[usize::from(once)];
    let close = limits.iter().any(|limit| (rate / limit - 1.0).abs() < 1e-12);
    (!close).then(|| WORDS[limits.iter().filter(|&&limit| rate < limit).count()])
}

/// Returns the least and the largest number of probes with this number of words.
fn probes_of(words: u32) -> RangeInclusive<u32> {
    words..=(words * MAX_PROBES_PER_WORD).min(MAX_PROBES)
}

/// Returns the number of probes that the search starts from.
fn start(words: u32, rate: f64) -> u32 {
    let probes = probes_of(words);
    let [least, most] = [probes.start(), probes.end()].map(|&probes| f64::from(probes));
    round(-log2(rate) * 0.85).clamp(least, most) as u32
}

/// Returns the load that the search starts from: about half of the bits of a line are set.
fn start_load(start: u32) -> f64 {
    300.0 / f64::from(start)
}

/// Finds the best number of probes step by step, with all terms of the sums. Large filters have the
/// sizes of this search: they depend on its steps.
fn climb(words: u32, rate: f64, locked: bool) -> Option<(f64, Shape)> {
    let load_of = |probes, guess, higher| {
        let mut curve = Curve::new(rate, Shape { words, probes }, locked);
        curve.all_terms = true;
        Some((curve.load(guess, higher)?, curve.shape))
    };
    let start = start(words, rate);
    let mut best = load_of(start, start_load(start), false)?;
    // The load has one maximum over the probes: climb from the start, first downwards, then
    // upwards.
    for step in [-1, 1] {
        let mut probes = start;
        while let Some(next) = probes.checked_add_signed(step) {
            if !probes_of(words).contains(&next) {
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

/// Finds what [`climb`] finds, but for a relative error of the load below [`unsure`], in fewer
/// sums.
///
/// The last step of the climb starts from the load of a neighbour of the best number of probes. Its
/// result hardly depends on that load, so this is found without the steps before. Where two numbers
/// of probes are about as good, the climb decides.
fn quick(words: u32, rate: f64, locked: bool) -> Option<(f64, Shape)> {
    let digits = -log2(rate);
    let limits = MORE_PROBES[words.ilog2() as usize].iter();
    let usual = words * (1 + limits.filter(|&&limit| digits > limit).count() as u32);
    let start = start(words, rate);
    let curve = |probes| Curve::new(rate, Shape { words, probes }, locked);
    let found = || {
        let mut best = curve(usual);
        let mut load = best.near(about(usual, digits))?;
        for step in [-1, 1] {
            loop {
                let next = best.shape.probes.wrapping_add_signed(step);
                if !probes_of(words).contains(&next) {
                    break;
                }
                let mut next = curve(next);
                let error = next.error(log(load));
                if error.abs() < CLEAR {
                    return None;
                }
                if error > 0.0 {
                    break;
                }
                load = next.near(load)?;
                best = next;
            }
        }
        let load = best.stepped(load, start)?;
        (!best.unsure).then_some((load, best.shape))
    };
    found().or_else(|| climb(words, rate, locked))
}

/// Returns about the load at a rate of this number of binary digits: the textbook's, less what the
/// variance of the items in a line takes.
fn about(probes: u32, digits: f64) -> f64 {
    let fill = libm::exp2(-digits / f64::from(probes));
    -libm::log1p(-fill) * 512.0 / f64::from(probes) * (1.0 - 0.0165 * digits).max(0.2)
}

/// Two numbers of probes are as good if their rates at the load of one differ by this part.
const CLEAR: f64 = 1e-5;

/// Bounds of the search: no rate that a 64-bit hash allows needs a load beyond them.
const LOWEST_LOG_LOAD: f64 = -40.0;
const HIGHEST_LOG_LOAD: f64 = 9.5;

/// The relative error of the rate at which the search ends: finer than a whole number of lines can
/// meet.
const CLOSE: f64 = 1e-6;

/// A search that ends with an error so close to [`CLOSE`] might end elsewhere with another guess or
/// sum.
const MARGIN: f64 = 1e-9;

/// The last step of the climb hardly depends on a guess that is farther than this part of the load.
const FAR: f64 = 1e-3;

/// It does where an end of its bracket, other than the guess, has a smaller error than this.
const NEAREST: f64 = 1e-3;

/// How the rate of a shape depends on the load, and the rate that is to be met.
struct Curve {
    shape: Shape,
    locked: bool,
    groups: line::Groups,
    rate: f64,
    log_rate: f64,
    /// Whether the sums have all terms.
    all_terms: bool,
    /// Whether the climb may find another load than [`stepped`](Self::stepped).
    unsure: bool,
    /// The least error at an end of the bracket that [`load`](Self::load) began with, other than
    /// the guess.
    nearest: f64,
}

impl Curve {
    fn new(rate: f64, shape: Shape, locked: bool) -> Self {
        let groups = line::Groups::new(shape, locked);
        Self {
            shape,
            locked,
            groups,
            rate,
            log_rate: log(rate),
            all_terms: false,
            unsure: false,
            nearest: 0.0,
        }
    }

    /// Returns the logarithm of the rate at this load, divided by the rate that is to be met.
    fn error(&mut self, log_load: f64) -> f64 {
        let load = exp(log_load);
        let stride = if self.all_terms { 1 } else { line::stride(load, self.log_rate) };
        log(self.groups.rate_at_load(stride, load)) - self.log_rate
    }

    /// As [`error`](Self::error), and notes whether it may end the search.
    fn watched_error(&mut self, log_load: f64) -> f64 {
        let error = self.error(log_load);
        self.unsure |= (error.abs() - CLOSE).abs() < MARGIN;
        error
    }

    /// Returns the load that meets the rate with an error of about 1e-8, or `None` if it is far
    /// from `guess`.
    fn near(&mut self, guess: f64) -> Option<f64> {
        let probes = f64::from(self.shape.probes);
        // About the slope, by a fit.
        let (mut at, mut slope) = (log(guess), probes * (0.7 - 0.012 * probes));
        let mut error = self.error(at);
        for _ in 0..8 {
            let next = at - error / slope;
            if !(LOWEST_LOG_LOAD..HIGHEST_LOG_LOAD).contains(&next) {
                return None;
            }
            if error.abs() < 1e-4 {
                return Some(exp(next));
            }
            let error_next = self.error(next);
            slope = (error_next - error) / (next - at);
            (at, error) = (next, error_next);
        }
        None
    }

    /// Returns the load that the climb finds for this shape, which is about `load`.
    fn stepped(&mut self, load: f64, start: u32) -> Option<f64> {
        let Shape { words, probes } = self.shape;
        if probes == start {
            return self.load(start_load(start), false);
        }
        let before = if start < probes { probes - 1 } else { probes + 1 };
        let mut before = Self::new(self.rate, Shape { words, probes: before }, self.locked);
        let mut guess = before.near(load)?;
        if (guess / load - 1.0).abs() < FAR {
            guess = before.stepped(guess, start)?;
            self.unsure |= before.unsure;
        }
        let load = self.load(guess, false);
        self.unsure |= self.nearest < NEAREST;
        load
    }

    /// Returns the load at which the expected rate is the one to be met, or `None` if it is lower
    /// than `guess` and only a `higher` one is of use. Searches from `guess`.
    fn load(&mut self, guess: f64, higher: bool) -> Option<f64> {
        // 1. Bracket the load, from the guess, by growing steps.
        let guess = log(guess);
        let (mut low, mut high) = (guess, guess);
        let mut error_low = self.watched_error(guess);
        let mut error_high = error_low;
        if higher && error_low > CLOSE {
            return None;
        }
        let mut step = 0.05;
        while error_low > 0.0 && low > LOWEST_LOG_LOAD {
            (high, error_high) = (low, error_low);
            low -= step;
            error_low = self.watched_error(low);
            step *= 2.0;
        }
        while error_high < 0.0 && high < HIGHEST_LOG_LOAD {
            (low, error_low) = (high, error_high);
            high += step;
            error_high = self.watched_error(high);
            step *= 2.0;
        }
        if error_low >= 0.0 {
            return Some(exp(low));
        }
        if error_high <= 0.0 {
            return Some(exp(high));
        }
        let ends = [(low, -error_low), (high, error_high)];
        let ends = ends.into_iter().filter(|(at, _)| *at != guess);
        self.nearest = ends.map(|(_, error)| error).fold(1.0, f64::min);
        // 2. Narrow the bracket by regula falsi, in the Illinois variant, which does not stall at
        //    one end.
        let mut side = 0;
        for _ in 0..100 {
            let middle = (low * error_high - high * error_low) / (error_high - error_low);
            let error_middle = self.watched_error(middle);
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
}

#[cfg(test)]
mod tests {
    use libm::pow;

    use super::*;

    #[test]
    fn the_known_loads_are_those_of_the_climb() {
        for found @ Found { rate, shape, loads } in &FOUND {
            for (once, (load, slope)) in [false, true].into_iter().zip(loads) {
                assert_eq!(search(*rate, once, None, climb), Some((*load, *shape)), "{rate}");
                for step in 0..200 {
                    let part = (1e-12 * pow(1.16, f64::from(step))).min(most_part(found));
                    let (found, same) = search(rate * (1.0 - part), once, None, climb).unwrap();
                    let off = (load / found / grown(*slope, part) - 1.0).abs();
                    assert!(off < error(part) / 1.5, "{rate} {part}: {off}");
                    assert_eq!(*shape, same);
                }
            }
        }
    }

    /// At 20,000 rates, with each number of words.
    #[test]
    fn the_quick_search_finds_what_the_climb_finds() {
        const RATES: u32 = 20_000;
        for step in 0..RATES {
            let rate = 0.9999 * pow(1e-14, f64::from(step) / f64::from(RATES));
            for words in WORDS {
                for locked in [false, true] {
                    let (load, shape) = climb(words, rate, locked).unwrap();
                    let (quick, same) = quick(words, rate, locked).unwrap();
                    let off = (quick / load - 1.0).abs();
                    assert_eq!(shape, same, "{words} {rate}");
                    assert!(off < unsure(rate) / 2.0, "{words} {rate}: {off}");
                }
            }
        }
    }

    #[test]
    fn the_usual_words_are_those_of_the_climb() {
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
