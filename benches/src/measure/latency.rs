//! The latency of single inserts by two writers, while a filter grows and while it does not.

use core::hint::black_box;
use core::ops::Range;
use std::sync::Mutex;
use std::time::Instant;

use hdrhistogram::Histogram;
use tamis::{CuckooFilter, OnceScalableBloomFilter, ScalableBloomFilter};

use super::setup::Setup;
use crate::hasher;
use crate::record::{Record, Runs};
use crate::together::together;

/// The threads that insert.
const WRITERS: u64 = 2;

/// The number of items from which the filters grow.
const FROM: u64 = 10_000;

/// The longest latency that is recorded, in nanoseconds: a minute.
const LONGEST: u64 = 60_000_000_000;

/// Measures the clock alone, and each filter that grows beside one that is made for all items.
pub(super) fn measure(setup: &Setup) -> Vec<Record> {
    let (items, rounds) = if setup.quick { (1_000_000, 1) } else { (20_000_000, 3) };
    rounds_of(items, rounds)
}

fn rounds_of(items: u64, rounds: usize) -> Vec<Record> {
    let mut runs = Runs::default();
    for _ in 0..rounds {
        add(&mut runs, "the clock alone", &inserts(items, |item| item == 0));
        for (capacity, state) in [(FROM, "growing"), (items, "made for all items")] {
            macro_rules! bloom {
                ($filter:ident) => {{
                    let builder = $filter::<u64>::builder().capacity(capacity as usize);
                    let filter = builder.hasher(hasher()).build().expect("memory");
                    let name = format!("{}, {state}", stringify!($filter));
                    add(&mut runs, &name, &inserts(items, |item| filter.insert(&item)));
                }};
            }
            bloom!(ScalableBloomFilter);
            bloom!(OnceScalableBloomFilter);
            let builder = CuckooFilter::<u64>::builder().capacity(capacity as usize);
            let builder = builder.max_capacity(items as usize).hasher(hasher());
            let filter = builder.build().expect("memory");
            let insert = |item| filter.insert(&item).is_ok();
            add(&mut runs, &format!("CuckooFilter, {state}"), &inserts(items, insert));
            assert_eq!(filter.len() as u64, items, "it takes all items up to its maximum");
        }
    }
    runs.medians()
}

/// Adds the latency that a share of the inserts exceeds, eight shares per factor of ten, and the
/// longest.
fn add(runs: &mut Runs, name: &str, latencies: &Histogram<u64>) {
    let mut add = |share: f64| {
        let value = latencies.value_at_quantile(1.0 - share);
        let record = Record::new(name, "insert", latencies.len(), share);
        runs.add(Record { threads: WRITERS, ..record }, value as f64);
    };
    let most = (latencies.len() as f64).log10();
    let steps = (1..).map(|step| f64::from(step) / 8.0).take_while(|&step| step <= most);
    steps.for_each(|step| add(format!("{:.3e}", 10_f64.powf(-step)).parse().expect("a number")));
    add(0.0);
}

/// Returns a histogram without a latency.
pub(super) fn empty() -> Histogram<u64> {
    Histogram::new_with_max(LONGEST, 3).expect("valid bounds")
}

/// Times each insert of these items, on this thread.
pub(super) fn record(
    latencies: &mut Histogram<u64>,
    items: Range<u64>,
    insert: impl Fn(u64) -> bool,
) {
    for item in items {
        let start = Instant::now();
        black_box(insert(black_box(item)));
        latencies.saturating_record(start.elapsed().as_nanos() as u64);
    }
}

/// Times each insert of these items, half of them on each of two threads.
fn inserts(items: u64, insert: impl Fn(u64) -> bool + Sync) -> Histogram<u64> {
    let all = Mutex::new(empty());
    together(WRITERS, |writer| {
        let mut own = empty();
        let part = items / WRITERS;
        record(&mut own, part * writer..part * (writer + 1), &insert);
        all.lock().expect("no panic").add(own).expect("the same bounds");
    });
    all.into_inner().expect("no panic")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_insert_is_timed_once() {
        let records = rounds_of(200_000, 1);
        assert!(records.iter().all(|record| record.items == 200_000), "{records:?}");
        let median = |name: &str| {
            let mut of = records.iter().filter(|record| record.contender == name);
            of.find(|record| record.rate < 0.5).expect("a latency").value
        };
        assert!(median("ScalableBloomFilter, growing") >= median("the clock alone"));
    }
}
