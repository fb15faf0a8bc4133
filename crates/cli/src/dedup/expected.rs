//! How many first occurrences a run is expected to have lost to false positives.
//!
//! An item that is new arrives at a shard. With chance `q` one of the older slices, which are full (a
//! cuckoo filter, one time in a million, a little less), takes it for its own; with chance `p(x)` the
//! newest does, that `x` new items have reached, taken in or not (one that was not taken in would have
//! changed nothing, so the slice is as full as after `x` items). Where `n` have been taken in,
//! `x − ∫p = n` has reached it, and `∫p + x·q / (1 − q)` has been lost since it became the newest.
//!
//! All shards have the same slices, so `∫p` is tabulated once a level.

use super::levels::{Level, Levels};

/// Points of the table: halving them changes the result by less than 0.1 %.
const POINTS: usize = 64;

/// The expected number of lost items, given the items taken in by each slice of each shard.
pub(super) fn lost(levels: &Levels, fills: &[Vec<u64>]) -> f64 {
    let slices = fills.iter().map(Vec::len).max().unwrap_or(0);
    let mut lost = 0.0;
    // The chance that no older slice takes the item for its own.
    let mut passes = 1.0;
    for number in 0..slices {
        let Ok(level) = levels.get(number) else { break };
        let table = Table::new(&level);
        for &items in fills.iter().filter_map(|fill| fill.get(number)) {
            let reached = table.reached(items as f64);
            lost += table.integral(reached) + reached * (1.0 - passes) / passes;
        }
        let full = table.reached(level.items as f64);
        passes *= 1.0 - level.geometry.false_positive_rate_at(full as u64);
    }
    let items: f64 = fills.iter().flatten().map(|&items| items as f64).sum();
    lost + equal_hashes(items)
}

/// Pairs among `items` whose 64-bit hashes are equal.
fn equal_hashes(items: f64) -> f64 {
    items * (items - 1.0).max(0.0) / 2.0_f64.powi(65)
}

/// The rate of a slice and its integral, at evenly spaced numbers of items.
struct Table {
    step: f64,
    rates: Vec<f64>,
    integrals: Vec<f64>,
}

impl Table {
    fn new(level: &Level) -> Self {
        let rate = |items: f64| level.geometry.false_positive_rate_at(items as u64);
        // Where as many have been taken in as it may hold, this many have reached it.
        let most = level.items as f64 / (1.0 - rate(level.items as f64)).max(0.5);
        let step = most / POINTS as f64;
        let rates: Vec<f64> = (0..=POINTS).map(|point| rate(point as f64 * step)).collect();
        let mut integrals = vec![0.0];
        let mut sum = 0.0;
        for pair in rates.windows(2) {
            sum += area(pair[0], pair[1]) * step;
            integrals.push(sum);
        }
        Self { step, rates, integrals }
    }

    /// `∫p` from 0 to `items`.
    fn integral(&self, items: f64) -> f64 {
        let place = (items / self.step).min(POINTS as f64);
        let point = (place as usize).min(POINTS - 1);
        let part = place - point as f64;
        let (low, high) = (self.rates[point], self.rates[point + 1]);
        let rate = if low > 0.0 { low * (high / low).powf(part) } else { high * part };
        self.integrals[point] + area(low, rate) * part * self.step
    }

    /// The `x` for which `x − ∫p = items`.
    fn reached(&self, items: f64) -> f64 {
        let mut reached = items;
        for _ in 0..200 {
            let next = items + self.integral(reached);
            if (next - reached).abs() <= 1e-12 * next {
                break;
            }
            reached = next;
        }
        reached
    }
}

/// The mean of a rate that goes from `low` to `high` by a constant factor: rates are steep powers
/// of the fill, which a straight line would overestimate. A cuckoo filter's is one, and all
/// the points together are as good as exact for it.
fn area(low: f64, high: f64) -> f64 {
    if low <= 0.0 || (high - low).abs() <= 1e-6 * high {
        (low + high) / 2.0
    } else {
        (high - low) / (high / low).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use crate::dedup::Options;

    /// Against the plain sum over every item, level by level.
    #[test]
    fn agrees_with_the_sum_over_all_items() {
        for kind in Kind::ALL {
            for rate in [1e-6, 1e-2, 0.2] {
                let capacity = Some(64 * 500);
                let options = Options { kind, rate, capacity, ..Options::default() };
                let levels = Levels::new(&options).expect("a small filter");
                let items: Vec<u64> =
                    (0..3).map(|number| levels.get(number).expect("small").items).collect();
                for fill in [
                    vec![items[0] / 3],
                    vec![items[0]],
                    vec![items[0], items[1], 1],
                    vec![items[0], items[1], items[2] / 2],
                ] {
                    let slow = summed(&levels, &fill);
                    let fast = lost(&levels, std::slice::from_ref(&fill));
                    let off = (fast / slow - 1.0).abs();
                    assert!(off < 0.02 || slow < 1e-9, "{kind} {rate} {fill:?}: {fast} {slow}");
                }
            }
        }
    }

    fn summed(levels: &Levels, fill: &[u64]) -> f64 {
        let mut lost = 0.0;
        let mut passes = 1.0;
        for (number, &items) in fill.iter().enumerate() {
            let geometry = levels.get(number).expect("small").geometry;
            let mut reached = 0.0;
            for _ in 0..items {
                // The arrivals that it takes until one is taken in.
                let here = geometry.false_positive_rate_at(reached as u64);
                let taken = passes * (1.0 - here);
                lost += 1.0 / taken - 1.0;
                reached += 1.0 / (1.0 - here);
            }
            passes *= 1.0 - geometry.false_positive_rate_at(reached as u64);
        }
        lost
    }
}
