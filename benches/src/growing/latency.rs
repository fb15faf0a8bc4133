//! The latency of single inserts by two writers, while a filter grows and while it does not.

use core::hint::black_box;
use std::sync::Mutex;
use std::time::Instant;

use hdrhistogram::Histogram;
use tamis::{OnceScalableBloomFilter, ScalableBloomFilter, ScalableCuckooFilter};

use super::cost::median;
use crate::hasher;
use crate::together::together;

/// The threads that insert.
pub(crate) const WRITERS: u64 = 2;

/// The number of items from which the filters grow.
pub(crate) const FROM: u64 = 10_000;

/// The name of the run that inserts nothing.
pub(crate) const CLOCK: &str = "the clock alone";

/// The longest latency that is recorded, in nanoseconds: a minute.
const LONGEST: u64 = 60_000_000_000;

/// The latencies of inserts into one kind of filter, in each round.
#[derive(Debug)]
pub struct Latency {
    /// The filter's name.
    pub name: &'static str,
    /// The inserts of a round.
    pub items: u64,
    /// Those of a filter that grows from [`FROM`] items.
    pub grown: Vec<Histogram<u64>>,
    /// Those of a filter that is made for all items.
    pub sized: Vec<Histogram<u64>>,
}

/// Measures the clock alone and each filter that grows, in rounds.
pub(super) fn all(items: u64, rounds: usize) -> Vec<Latency> {
    let new = |name| Latency { name, items, grown: Vec::new(), sized: Vec::new() };
    let mut all = [CLOCK, "scalable", "once scalable", "scalable cuckoo"].map(new);
    for round in 0..rounds {
        // Which of the two comes first changes from round to round.
        for growth in if round % 2 == 0 { [true, false] } else { [false, true] } {
            let capacity = if growth { FROM } else { items } as usize;
            macro_rules! bloom {
                ($filter:ident) => {{
                    let builder = $filter::<u64>::builder().capacity(capacity).hasher(hasher());
                    let filter = builder.build().expect("a filter that fits in memory");
                    inserts(items, |item| filter.insert(&item))
                }};
            }
            let clock = inserts(items, |item| item == 0);
            let builder = ScalableCuckooFilter::<u64>::builder().capacity(capacity);
            let builder = builder.max_capacity(items as usize).hasher(hasher());
            let cuckoo = || {
                let filter = builder.build().expect("a filter that fits in memory");
                inserts(items, |item| {
                    filter.insert(&item).expect("no more items than the maximum");
                    true
                })
            };
            let of_all =
                [clock, bloom!(ScalableBloomFilter), bloom!(OnceScalableBloomFilter), cuckoo()];
            for (latency, histogram) in all.iter_mut().zip(of_all) {
                if growth { &mut latency.grown } else { &mut latency.sized }.push(histogram);
            }
        }
    }
    all.into()
}

/// Times each insert of these items.
fn inserts(items: u64, insert: impl Fn(u64) -> bool + Sync) -> Histogram<u64> {
    let empty = || Histogram::new_with_max(LONGEST, 3).expect("valid bounds");
    let all = Mutex::new(empty());
    together(WRITERS, |writer| {
        let mut own = empty();
        for item in items / WRITERS * writer..items / WRITERS * (writer + 1) {
            let start = Instant::now();
            black_box(insert(black_box(item)));
            own.saturating_record(start.elapsed().as_nanos() as u64);
        }
        all.lock().expect("no panic").add(own).expect("the same bounds");
    });
    all.into_inner().expect("no panic")
}

impl Latency {
    /// Returns the median over the rounds of the grown filter's quantile divided by that of the
    /// other; 1 without a round.
    #[must_use]
    pub fn ratio(&self, quantile: f64) -> f64 {
        let at = |histogram: &Histogram<u64>| histogram.value_at_quantile(quantile) as f64;
        let ratios = self.grown.iter().zip(&self.sized).map(|(grown, sized)| at(grown) / at(sized));
        median(ratios.collect()).unwrap_or(1.0)
    }
}

/// Returns the median over the rounds of a quantile, in nanoseconds.
pub(crate) fn quantile(rounds: &[Histogram<u64>], quantile: f64) -> f64 {
    let at = rounds.iter().map(|histogram| histogram.value_at_quantile(quantile) as f64);
    median(at.collect()).expect("a round")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_insert_is_timed_once() {
        let all = all(200_000, 1);
        for latency in &all {
            let counts = [&latency.grown[0], &latency.sized[0]].map(Histogram::len);
            assert_eq!(counts, [200_000, 200_000], "{}", latency.name);
        }
        assert!(quantile(&all[1].grown, 0.5) >= quantile(&all[0].grown, 0.5));
    }
}
