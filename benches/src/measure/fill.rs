//! The rate of false positives on the way from empty to full and beyond, measured and by theory.

use std::io;

use tamis::cuckoo::Geometry;
use tamis::{BlockedBloomFilter, BloomFilter, CuckooFilter, OnceBloomFilter};

use crate::contender::RATE;
use crate::contender::filter::Filter;
use crate::course::ABSENT;
use crate::hasher;
use crate::measure::survey::{Row, Survey};
use crate::record::Record;
use crate::subject::SharedSubject;

/// The least number of expected false positives for a measurement of a rate.
const TELLING: f64 = 20.0;

/// The fills at which the rate is measured, in percent of the capacity. Bloom filters go beyond it.
const BLOOM: [u64; 13] = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 125, 150, 200];
const CUCKOO: &[u64] = BLOOM.split_at(10).0;

/// A layout from empty to full.
struct Curve<'a> {
    name: &'a str,
    layout: &'a str,
    rate: f64,
    capacity: u64,
    bytes: u64,
    filter: &'a dyn SharedSubject<u64>,
    /// Returns the rate with this number of items.
    theory: &'a dyn Fn(usize) -> f64,
}

impl Curve<'_> {
    fn measure(self, survey: &mut Survey, percents: &[u64]) -> io::Result<()> {
        let mut inserted = 0;
        for percent in percents {
            let items = self.capacity * percent / 100;
            let [theory, measured] = ["theory", "measured"].map(|what| {
                let operation = format!("{} {what}", self.layout);
                let bits = self.bytes as f64 * 8.0 / items as f64;
                let blank = Record::blank("fill", self.name, &operation, items);
                Record { rate: self.rate, bits, ..blank }
            });
            let rate = (self.theory)(items as usize);
            if !survey.journal.has(&theory) {
                survey.journal.append(&theory.of_runs(rate, &[rate]))?;
            }
            let expected = rate * survey.scale.probes as f64;
            if survey.journal.has(&measured) || expected < TELLING {
                continue;
            }
            self.filter.insert_all(inserted..items, false);
            inserted = items;
            let measured = Row { record: measured, runs: rates(self.filter, survey) }.mean();
            let (low, high, mean) = (rate / 2.0, rate * 2.0, measured.value);
            assert!((low..high).contains(&mean), "{}: rate {mean}, not {rate}", self.layout);
            survey.journal.append(&measured)?;
        }
        Ok(())
    }
}

/// Returns the share of absent items that are found, in each of several equal parts of the probes.
pub(super) fn rates(filter: &dyn SharedSubject<u64>, survey: &Survey) -> Vec<f64> {
    let parts = survey.scale.runs as u64;
    let length = survey.scale.probes / parts;
    let found = |part| filter.query(ABSENT + part * length..u64::MAX, 0, length);
    (0..parts).map(|part| found(part) as f64 / length as f64).collect()
}

/// Measures every layout.
pub(super) fn fill(survey: &mut Survey) -> io::Result<()> {
    let capacity = if survey.scale.quick { 100_000 } else { 1_000_000 };
    macro_rules! bloom {
        ($($filter:ident)*) => {$(
            let filter = <$filter<u64> as Filter<u64>>::new(capacity, RATE).expect("memory");
            let (name, geometry) = (<$filter<u64> as Filter<u64>>::TRAITS.name, filter.geometry());
            let theory = &|items| geometry.false_positive_rate_at(items);
            let (bytes, filter) = (filter.size_in_bytes(), &filter);
            let curve = Curve { name, layout: name, rate: RATE, capacity, bytes, filter, theory };
            curve.measure(survey, &BLOOM)?;
        )*};
    }
    bloom!(BloomFilter BlockedBloomFilter OnceBloomFilter);
    for (slots, bits) in Geometry::shapes() {
        let buckets = capacity.div_ceil(u64::from(slots)).next_multiple_of(2);
        let builder = CuckooFilter::<u64>::builder().buckets(buckets).slots(slots);
        let builder = builder.fingerprint_bits(bits).hasher(hasher());
        let filter = builder.build().expect("a filter that fits in memory");
        let (layout, geometry) = (format!("cuckoo {slots} × {bits}"), filter.geometry());
        let curve = Curve {
            name: "cuckoo",
            layout: &layout,
            rate: 0.0,
            capacity: geometry.capacity() as u64,
            bytes: filter.size_in_bytes(),
            filter: &filter,
            theory: &|items| geometry.false_positive_rate_at(items),
        };
        curve.measure(survey, CUCKOO)?;
    }
    Ok(())
}
