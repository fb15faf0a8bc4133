//! How many first occurrences a run is expected to have lost to false positives.
//!
//! A new item arrives at a shard. With probability `q` one of the older slices reports it as
//! present; these slices are full (a cuckoo filter, one time in a million, not quite). With
//! probability `p(x)` the newest slice does, where `x` is the number of new items that have reached
//! it, inserted or not. (An item that was not inserted would have set nothing, so the slice is as
//! full as after `x` inserts.) If the slice has taken in `n` items, then `x − ∫p = n` determines
//! `x`, and `∫p + x·q / (1 − q)` items have been lost since the slice became the newest.
//!
//! All shards have slices of the same sizes, so `∫p` is tabulated once for all slices with the same
//! number.

use super::growth::{Growth, SliceSpec};

/// The number of intervals in the table. Half as many change the result by less than 0.1 %.
const POINTS: usize = 64;

/// The expected number of lost items, given the number of items in each slice of each shard.
pub(super) fn lost(growth: &Growth, fills: &[&[u64]]) -> f64 {
    let slices = fills.iter().map(|fill| fill.len()).max().unwrap_or(0);
    let mut lost = 0.0;
    // The probability `1 − q` that no older slice reports a new item as present.
    let mut passes = 1.0;
    for number in 0..slices {
        let Ok(spec) = growth.get(number) else { break };
        let table = Table::new(&spec);
        for &items in fills.iter().filter_map(|fill| fill.get(number)) {
            let reached = table.reached(items as f64);
            lost += table.integral(reached) + reached * (1.0 - passes) / passes;
        }
        // For the slices after this one, it is full.
        let full = table.reached(spec.items as f64);
        passes *= 1.0 - spec.geometry.false_positive_rate_at(full as u64);
    }
    let items: f64 = fills.iter().copied().flatten().map(|&items| items as f64).sum();
    lost + equal_hashes(items)
}

/// The expected number of pairs among `items` with equal 64-bit hashes.
fn equal_hashes(items: f64) -> f64 {
    items * (items - 1.0).max(0.0) / 2.0_f64.powi(65)
}

/// The rate of a slice and its integral, at evenly spaced numbers of items.
struct Table {
    /// The number of items between two points.
    step: f64,
    rates: Vec<f64>,
    integrals: Vec<f64>,
}

impl Table {
    fn new(spec: &SliceSpec) -> Self {
        let rate = |items: f64| spec.geometry.false_positive_rate_at(items as u64);
        // The table ends at the number of items that have reached a slice when it is full.
        let most = spec.items as f64 / (1.0 - rate(spec.items as f64)).max(0.5);
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
        // The interval in the table, and the part of it before `items`.
        let place = (items / self.step).min(POINTS as f64);
        let point = (place as usize).min(POINTS - 1);
        let part = place - point as f64;
        // Interpolate geometrically, as `area` does; a rate of 0 allows only a straight line.
        let (low, high) = (self.rates[point], self.rates[point + 1]);
        let rate = if low > 0.0 { low * (high / low).powf(part) } else { high * part };
        self.integrals[point] + area(low, rate) * part * self.step
    }

    /// The `x` for which `x − ∫p = items`.
    fn reached(&self, items: f64) -> f64 {
        // Fixed-point iteration of `x = items + ∫p(x)`: it converges because rates are below 1.
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

/// The mean of a rate that grows from `low` to `high` exponentially. Rates are steep powers of the
/// fill, which a straight line would overestimate. The rate of a cuckoo filter is a straight line;
/// over all the points of a table, the result is as good as exact for it too.
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
    use crate::dedup::Options;
    use crate::kind::Kind;

    /// Compares with the plain sum over every item, slice by slice.
    #[test]
    fn agrees_with_the_sum_over_all_items() {
        for kind in Kind::ALL {
            for rate in [1e-6, 1e-2, 0.2] {
                let capacity = Some(64 * 500);
                let options = Options { capacity, ..Options::default() };
                let growth = Growth::new(kind, rate, &options).expect("a small filter");
                let items: Vec<u64> =
                    (0..3).map(|number| growth.get(number).expect("small").items).collect();
                for fill in [
                    vec![items[0] / 3],
                    vec![items[0]],
                    vec![items[0], items[1], 1],
                    vec![items[0], items[1], items[2] / 2],
                ] {
                    let slow = summed(&growth, &fill);
                    let fast = lost(&growth, &[&fill]);
                    let off = (fast / slow - 1.0).abs();
                    assert!(off < 0.02 || slow < 1e-9, "{kind} {rate} {fill:?}: {fast} {slow}");
                }
            }
        }
    }

    fn summed(growth: &Growth, fill: &[u64]) -> f64 {
        let mut lost = 0.0;
        let mut passes = 1.0;
        for (number, &items) in fill.iter().enumerate() {
            let geometry = growth.get(number).expect("small").geometry;
            let mut reached = 0.0;
            for _ in 0..items {
                // The expected number of arrivals until one is inserted.
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
