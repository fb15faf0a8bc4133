//! Cuckoo filters that grow, against filters of one size that are made for the count that they
//! have reached: their speed at counts drawn at random, since growth never rests, and their memory
//! at many counts.

use core::time::Duration;
use std::collections::BTreeMap;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use tamis::{CuckooFilter, OnceCuckooFilter};

use super::latency;
use super::setup::Setup;
use super::single::named;
use crate::contender::Contender;
use crate::contender::ours::Growing;
use crate::course::{Course, Judge};
use crate::figure::count as grouped;
use crate::filter::Filter;
use crate::operation::Operation::{self, Hit, HitMany, Insert, Miss, MissMany};
use crate::record::{Record, Runs};
use crate::subject::Subject;

/// A type of filter that grows.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// The rates that it is measured at.
    pub(crate) rates: &'static [f64],
    grow: Grow,
}

/// Makes a filter for a number of items that keeps a rate up to another number.
type Grow = fn(u64, u64, f64) -> Box<dyn Subject>;

pub(crate) const KINDS: [Kind; 2] = [
    Kind {
        name: "CuckooFilter",
        rates: &[1e-2, 1e-4, 1e-6],
        grow: |first, most, rate| Box::new(Growing::<CuckooFilter<u64>>::of(first, most, rate)),
    },
    Kind {
        name: "OnceCuckooFilter",
        rates: &[1e-2],
        grow: |first, most, rate| Box::new(Growing::<OnceCuckooFilter<u64>>::of(first, most, rate)),
    },
];

/// A filter of one size for the count, at the rate that the growing filter has there, or at the one
/// that was requested for its maximum.
pub(crate) const AT_ITS_RATE: &str = "for the count, at the rate there";
pub(crate) const AT_THE_REQUEST: &str = "for the count, at the request";

/// The inserts of the last tenth of a count, and of all of it.
pub(crate) const LAST: &str = "insert, last tenth";
pub(crate) const ALL: &str = "insert, all";

/// The latency that one insert of 10,000 exceeds.
pub(crate) const TAIL: &str = "insert, p99.99";

/// The share of the slots that are filled.
pub(crate) const LOAD: &str = "load";

pub(crate) const MEMORY: &str = "memory";

pub(crate) const QUERIES: [Operation; 4] = [Hit, Miss, HitMany, MissMany];

/// The fewest and the most items of a filter that grows: to check that all works, always, and on
/// request.
pub(crate) const RANGES: [(u64, u64); 3] =
    [(10_000, 1_000_000), (100_000, 10_000_000), (100_000, 100_000_000)];

/// The number of counts with times, drawn at random from this seed, and of those with sizes.
pub(crate) const COUNTS: usize = 16;
const SEED: u64 = 29;
const SIZES: u32 = 64;

/// The rates of the sizes.
pub(crate) const SIZED_RATES: [f64; 2] = [1e-2, 1e-4];

/// How often the filters are queried in turn at each count, in each round.
const TURNS: usize = 2;

/// Returns the name of a growing filter in records.
pub(crate) fn growing(kind: &str, most: u64) -> String {
    format!("{kind}, growing to {}", grouped(most))
}

/// Measures filters that grow from the first of these numbers to the second.
pub(super) fn measure(setup: &Setup) -> Vec<Record> {
    let [small, common, long] = RANGES;
    let ranges = match setup {
        Setup { quick: true, .. } => vec![small],
        Setup { long: true, .. } => vec![common, long],
        _ => vec![common],
    };
    let mut runs = Runs::default();
    for (first, most) in ranges {
        let counts = drawn(first, most);
        eprintln!("growing to {}, at counts of seed {SEED}: {counts:?}", grouped(most));
        for number in 0..setup.passes(most) {
            // The second type differs from the first in its inserts only.
            let kinds = if number == 0 { &KINDS[..] } else { &KINDS[..1] };
            round(kinds, (first, most), &counts, setup.least() / 6, &mut runs);
        }
    }
    let mut records = runs.medians();
    records.extend(sizes(if setup.quick { small } else { long }));
    records
}

/// Returns counts in ascending order. Each factor between two counts is as probable as another.
fn drawn(first: u64, most: u64) -> Vec<u64> {
    let mut random = SmallRng::seed_from_u64(SEED);
    let mut draw = || between(first, most, random.random());
    let mut counts: Vec<u64> = (0..COUNTS).map(|_| draw()).collect();
    counts.sort_unstable();
    counts
}

/// Returns the number at this share of the way, in equal factors.
fn between(first: u64, most: u64, share: f64) -> u64 {
    (first as f64 * (most as f64 / first as f64).powf(share)).round() as u64
}

/// Measures types at all of their rates, once.
fn round(kinds: &[Kind], range: (u64, u64), counts: &[u64], queries: u64, runs: &mut Runs) {
    for kind in kinds {
        let [fixed] = named(&[kind.name])[..] else { unreachable!("a contender of this name") };
        for &rate in kind.rates {
            let contest = Contest { kind, fixed, range, counts, rate, queries };
            contest.times(runs);
            contest.tails(runs);
        }
    }
}

/// A filter that grows, and those that it is compared with.
struct Contest<'a> {
    kind: &'a Kind,
    fixed: Contender,
    range: (u64, u64),
    /// In ascending order, and different.
    counts: &'a [u64],
    rate: f64,
    /// The number of queries in a run.
    queries: u64,
}

impl Contest<'_> {
    fn grown(&self) -> Box<dyn Subject> {
        (self.kind.grow)(self.range.0, self.range.1, self.rate)
    }

    /// Returns the filters of one size for a count: their names, and their rates.
    fn others(&self, count: u64) -> [(String, f64); 2] {
        let there = self.rate * count as f64 / self.range.1 as f64;
        [(AT_ITS_RATE, there), (AT_THE_REQUEST, self.rate)]
            .map(|(which, rate)| (format!("{}, {which}", self.kind.name), rate))
    }

    fn add(&self, runs: &mut Runs, name: &str, (operation, count): (&str, u64), value: f64) {
        runs.add(Record::new(name, operation, count, self.rate), value);
    }

    /// Adds the times of inserts, from those up to the last tenth of a count, and up to the count.
    fn add_inserts(&self, runs: &mut Runs, name: &str, count: u64, [part, all]: [Duration; 2]) {
        let last = (all - part).as_nanos() as f64 / (count - before(count)) as f64;
        self.add(runs, name, (LAST, count), last);
        self.add(runs, name, (ALL, count), all.as_nanos() as f64 / count as f64);
    }

    /// Measures the inserts and queries of one filter that grows through all counts, with the
    /// others at each of them.
    fn times(&self, runs: &mut Runs) {
        let name = growing(self.kind.name, self.range.1);
        let ((first, most), rate, grow) = (self.range, self.rate, self.kind.grow);
        let judge = Judge::new(self.fixed.traits, rate);
        let grown = Course::of(judge, first, move || Some(grow(first, most, rate)));
        let mut grown = grown.expect("a filter that grows");
        let mut stops: Vec<u64> =
            self.counts.iter().flat_map(|&count| [before(count), count]).collect();
        stops.sort_unstable();
        stops.dedup();
        // The time of all inserts up to each stop.
        let mut taken = BTreeMap::new();
        let (mut held, mut time) = (0, Duration::ZERO);
        for stop in stops {
            grown.raise(stop);
            time += grown.run(Insert, stop - held);
            held = stop;
            taken.insert(stop, time);
            if !self.counts.contains(&stop) {
                continue;
            }
            self.add_inserts(runs, &name, stop, [taken[&before(stop)], time]);
            let mut fixed = self.others(stop).map(|(name, rate)| {
                let course = Course::new(&self.fixed, stop, rate, 1);
                let mut course = course.expect("a filter of one size");
                let part = course.run(Insert, before(stop));
                let all = part + course.run(Insert, stop - before(stop));
                self.add_inserts(runs, &name, stop, [part, all]);
                (name, course)
            });
            let mut all = vec![(&*name, &mut grown)];
            all.extend(fixed.iter_mut().map(|(name, course)| (&**name, course)));
            self.query(runs, stop, &mut all);
        }
    }

    /// Measures the queries of filters that hold a count, in turn, and adds how full they are.
    fn query(&self, runs: &mut Runs, count: u64, all: &mut [(&str, &mut Course)]) {
        for operation in [QUERIES; TURNS].concat() {
            for (name, course) in &mut *all {
                let nanos = course.run(operation, self.queries).as_nanos() as f64;
                self.add(runs, name, (operation.name(), count), nanos / self.queries as f64);
            }
        }
        for (name, course) in all {
            let load = course.load().expect("a cuckoo filter");
            let record = Record::new(name, LOAD, count, self.rate);
            let record = Record { bits: Some(course.bits()), ..record };
            runs.add(Record { unit: "of the slots".to_owned(), ..record }, load);
        }
    }

    /// Measures the latency of the inserts of all filters.
    fn tails(&self, runs: &mut Runs) {
        let tail = |filter: &dyn Subject, latencies: &mut _, items| {
            latency::record(latencies, items, |item| filter.insert_all(item..item + 1) == 1);
            latencies.value_at_quantile(0.9999) as f64
        };
        let (name, grown) = (growing(self.kind.name, self.range.1), self.grown());
        let (mut latencies, mut held) = (latency::empty(), 0);
        for &count in self.counts {
            self.add(runs, &name, (TAIL, count), tail(&*grown, &mut latencies, held..count));
            held = count;
            for (name, rate) in self.others(count) {
                let fixed = (self.fixed.make)(count, rate).expect("a filter of one size");
                let tail = tail(&*fixed, &mut latency::empty(), 0..count);
                self.add(runs, &name, (TAIL, count), tail);
            }
        }
    }
}

/// Returns the number of items before the last tenth.
fn before(count: u64) -> u64 {
    count - count / 10
}

/// Measures the bits per item of a `CuckooFilter` that grows, and computes those of the others.
fn sizes((first, most): (u64, u64)) -> Vec<Record> {
    let kind = KINDS[0].name;
    let mut records = Vec::new();
    for rate in SIZED_RATES {
        let (filter, mut held) = (Growing::<CuckooFilter<u64>>::of(first, most, rate), 0);
        for number in 0..SIZES {
            let count = between(first, most, f64::from(number) / f64::from(SIZES - 1));
            let stored = |item| assert!(filter.insert_shared(&item), "no room below the maximum");
            (held..count).into_par_iter().for_each(stored);
            held = count;
            let fixed = |rate| {
                let builder = CuckooFilter::<u64>::builder().capacity(count as usize);
                let geometry = builder.false_positive_rate(rate).geometry();
                geometry.expect("sizes for a count and a rate").size_in_bytes()
            };
            let there = rate * count as f64 / most as f64;
            for (name, bytes) in [
                (growing(kind, most), Filter::bytes(&filter)),
                (format!("{kind}, {AT_ITS_RATE}"), fixed(there)),
                (format!("{kind}, {AT_THE_REQUEST}"), fixed(rate)),
            ] {
                let bits = 8.0 * bytes as f64 / count as f64;
                records.push(Record::new(&name, MEMORY, count, rate).of(bits, "bits"));
            }
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The judge of a course panics at a wrong answer.
    #[test]
    fn every_figure_is_measured_at_every_count() {
        let range = (1000, 30_000);
        let counts = drawn(range.0, range.1);
        assert_eq!(counts.len(), COUNTS);
        let mut runs = Runs::default();
        round(&KINDS, range, &counts, 1000, &mut runs);
        let records = runs.medians();
        // One growing filter and two others of each type and rate, with two figures of inserts, a
        // tail, a load, and the queries.
        let figures = 4 + QUERIES.len();
        assert_eq!(records.len(), 4 * 3 * figures * COUNTS);
        let wrong = |record: &&Record| {
            let limit = if record.operation == LOAD { 1.0 } else { f64::INFINITY };
            !(0.1..limit).contains(&record.value)
        };
        assert_eq!(records.iter().find(wrong), None);
    }

    #[test]
    fn sizes_are_measured_up_to_the_maximum() {
        let records = sizes((1000, 100_000));
        assert_eq!(records.len(), SIZED_RATES.len() * 3 * SIZES as usize);
        assert_eq!([&records[0], &records[records.len() - 1]].map(|of| of.items), [1000, 100_000]);
        let wrong = records.iter().find(|record| !(9.0..200.0).contains(&record.value));
        assert_eq!(wrong, None);
    }
}
