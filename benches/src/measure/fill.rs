//! The rate of false positives on the way from empty to full and beyond, measured and by theory.

use std::io;

use tamis::{BlockedBloomFilter, BloomFilter, CuckooFilter, OnceBloomFilter};

use crate::contender::{Filter, RATE, Shared};
use crate::course::ABSENT;
use crate::hasher;
use crate::measure::{Survey, blank, of_runs};
use crate::record::Record;

/// The false positives to expect at least where a rate is measured: fewer tell nothing.
const TELLING: f64 = 20.0;

/// The fills at which the rate is measured, in percent of the capacity. Bloom filters go beyond.
const BLOOM: [u64; 13] = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 125, 150, 200];
const CUCKOO: &[u64] = BLOOM.split_at(10).0;

/// A layout on its way.
struct Curve<'a, F> {
    layout: &'a str,
    rate: f64,
    capacity: u64,
    filter: F,
    theory: &'a dyn Fn(u64) -> f64,
}

impl<F: Shared<u64>> Curve<'_, F> {
    fn measure(self, survey: &mut Survey, percents: &[u64]) -> io::Result<()> {
        let mut inserted = 0;
        for percent in percents {
            let items = self.capacity * percent / 100;
            let record = |what: &str| {
                let operation = format!("{} {what}", self.layout);
                let bits = self.filter.bytes() as f64 * 8.0 / items as f64;
                Record { rate: self.rate, bits, ..blank("fill", F::NAME, &operation, items) }
            };
            let (theory, measured) = (record("theory"), record("measured"));
            let rate = (self.theory)(items);
            if !survey.journal.has(&theory) {
                survey.journal.append(&of_runs(theory, rate, &[rate]))?;
            }
            let probes = survey.scale.probes;
            if survey.journal.has(&measured) || rate * (probes as f64) < TELLING {
                continue;
            }
            for item in inserted..items {
                self.filter.insert(&item);
            }
            inserted = items;
            let runs = rates(&self.filter, probes, survey.scale.runs as u64);
            let mean = runs.iter().sum::<f64>() / runs.len() as f64;
            let (low, high) = (rate / 2.0, rate * 2.0);
            assert!((low..high).contains(&mean), "{}: rate {mean}, not {rate}", self.layout);
            survey.journal.append(&of_runs(measured, mean, &runs))?;
        }
        Ok(())
    }
}

/// The share of absent items that are found, in each of some equal parts of the probes.
pub(super) fn rates<F: Filter<u64>>(filter: &F, probes: u64, parts: u64) -> Vec<f64> {
    let length = probes / parts;
    let rate = |part| {
        let first = ABSENT + part * length;
        let found = (first..first + length).filter(|item| filter.contains(item)).count();
        found as f64 / length as f64
    };
    (0..parts).map(rate).collect()
}

/// Every layout.
pub(super) fn fill(survey: &mut Survey) -> io::Result<()> {
    let capacity = if survey.scale.quick { 100_000 } else { 1_000_000 };
    macro_rules! bloom {
        ($($filter:ident)*) => {$(
            let filter = <$filter<u64> as Filter<u64>>::new(capacity, RATE).expect("memory");
            let (layout, geometry) = (<$filter<u64> as Filter<u64>>::NAME, filter.geometry());
            let theory = &|items: u64| geometry.false_positive_rate_at(items as usize);
            Curve { layout, rate: RATE, capacity, filter, theory }.measure(survey, &BLOOM)?;
        )*};
    }
    bloom!(BloomFilter BlockedBloomFilter OnceBloomFilter);
    for (slots, bits) in [(8, 8), (4, 8), (5, 12), (4, 16)] {
        let buckets = capacity.div_ceil(u64::from(slots)).next_multiple_of(2);
        let builder = CuckooFilter::<u64>::builder().buckets(buckets).slots(slots);
        let builder = builder.fingerprint_bits(bits).hasher(hasher());
        let filter = builder.build().expect("a filter that fits in memory");
        let (layout, geometry) = (format!("cuckoo {slots} × {bits}"), filter.geometry());
        let theory = &|items: u64| geometry.false_positive_rate_at(items as usize);
        let capacity = geometry.capacity();
        Curve { layout: &layout, rate: 0.0, capacity: capacity as u64, filter, theory }
            .measure(survey, CUCKOO)?;
    }
    Ok(())
}
