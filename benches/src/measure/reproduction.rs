//! Figures that others have published, and the same measured here.

use core::hash::BuildHasher;
use std::io;

use petgraph::unionfind::UnionFind;
use tamis::hash::fastrange;
use tamis::{BlockedBloomFilter, BloomFilter, CuckooFilter};

use crate::contender::RATE;
use crate::contender::filter::Filter;
use crate::course::{Course, Judge};
use crate::hasher;
use crate::item::Distribution;
use crate::measure::fill::rates;
use crate::measure::survey::{Row, Survey};
use crate::operation::Operation;
use crate::record::Record;
use crate::subject::{SharedSubject, Subject};

const ITEMS: u64 = 1_000_000;

/// Slots of the cuckoo filters.
const SLOTS: u64 = 1 << 20;

impl Survey {
    /// Writes down a published figure, and the median of the runs that `measure` makes of the same,
    /// unless the journal has them.
    fn reproduce(
        &mut self,
        operation: &str,
        published: f64,
        contender: &str,
        measure: impl FnOnce(&Self) -> Vec<f64>,
    ) -> io::Result<()> {
        let theirs = Record::blank("reproduction", "published", operation, ITEMS);
        if !self.journal.has(&theirs) {
            self.journal.append(&theirs.of_runs(published, &[published]))?;
        }
        let record = Record::blank("reproduction", contender, operation, ITEMS);
        if self.journal.has(&record) {
            return Ok(());
        }
        let runs = measure(self);
        self.journal.append(&Row { record, runs }.median())
    }
}

/// Measures them all.
pub(super) fn reproduction(survey: &mut Survey) -> io::Result<()> {
    classic_queries(survey)?;
    cuckoo_loads(survey)?;
    cuckoo_rates(survey)?;
    blocked_rate(survey)?;
    crossing(survey)
}

/// Measures a query of a classic filter with 20 bits per item.
fn classic_queries(survey: &mut Survey) -> io::Result<()> {
    for (probes, nanos, rate) in [(6, 2500.0, 3.03e-4), (14, 3700.0, 8.9e-5)] {
        let time = format!("query of 20 bits per item, {probes} probes, ns");
        let wrong = format!("rate of 20 bits per item, {probes} probes");
        let filter = move || {
            let builder = BloomFilter::<u64>::builder().bits(20 * ITEMS).probes(probes);
            builder.hasher(hasher()).build().ok()
        };
        survey.reproduce(&time, nanos, "classic", |survey| {
            let judge = Judge::new(<BloomFilter<u64> as Filter<u64>>::TRAITS, RATE);
            let make = move || Some(Box::new(filter()?) as Box<dyn Subject<u64>>);
            let course = Course::of(judge, ITEMS, Distribution::Uniform, make);
            let mut course = course.expect("a filter that fits in memory");
            let count = survey.scale.least;
            // Half of the queries are hits, which read all bits.
            let run = |_| course.run(Operation::Half, count).as_nanos() as f64 / count as f64;
            (0..survey.scale.runs).map(run).collect()
        })?;
        survey.reproduce(&wrong, rate, "classic", |survey| {
            let filter = filter().expect("a filter that fits in memory");
            filter.insert_all(0..ITEMS, false);
            rates(&filter, survey)
        })?;
    }
    Ok(())
}

/// Measures how full a cuckoo filter is when it refuses the first item.
fn cuckoo_loads(survey: &mut Survey) -> io::Result<()> {
    for (slots, bits, load) in [(1, 0, 0.5), (2, 32, 0.84), (4, 16, 0.95), (8, 8, 0.98)] {
        let operation = format!("load at the first failure, {slots} slots per bucket");
        let run = |seed| {
            if slots == 1 {
                return load_of_one_slot(seed);
            }
            let filter = filter(slots, bits);
            let first = seed * SLOTS;
            let refused = (first..).find(|item| filter.insert(item).is_err());
            refused.map_or(1.0, |item| (item - first) as f64 / SLOTS as f64)
        };
        let contender = if slots == 1 { "simulated" } else { "cuckoo" };
        survey.reproduce(&operation, load, contender, |survey| {
            (0..survey.scale.runs as u64).map(run).collect()
        })?;
    }
    Ok(())
}

fn filter(slots: u32, bits: u32) -> CuckooFilter<u64> {
    let builder = CuckooFilter::builder().buckets(SLOTS / u64::from(slots)).slots(slots);
    let builder = builder.fingerprint_bits(bits).hasher(hasher());
    builder.build().expect("a filter that fits in memory")
}

/// Returns the load at the first failure with one slot per bucket, which our filters do not have.
/// Items are then edges between their two buckets, and fit as long as no component has more edges
/// than buckets.
fn load_of_one_slot(seed: u64) -> f64 {
    let mut components = UnionFind::<usize>::new(SLOTS as usize);
    // Whether the component's edges equal its buckets in number.
    let mut full = vec![false; SLOTS as usize];
    let fits = |item: &u64| {
        let [one, other] = [0, 1].map(|half| {
            let bucket = fastrange(hasher().hash_one((seed, *item, half)), SLOTS);
            components.find_mut(bucket as usize)
        });
        let fits = !(full[one] && full[other]);
        let filled = full[one] || full[other] || one == other;
        components.union(one, other);
        full[components.find_mut(one)] = filled;
        fits
    };
    (0..).take_while(fits).count() as f64 / SLOTS as f64
}

/// Measures the rates of two widths at four slots, 95 % full.
fn cuckoo_rates(survey: &mut Survey) -> io::Result<()> {
    for (bits, rate) in [(8, 0.03), (16, 1e-4)] {
        let operation = format!("rate of 4 slots of {bits} bits at 95 % load");
        survey.reproduce(&operation, rate, "cuckoo", |survey| {
            let filter = filter(4, bits);
            let mut items = 0..;
            // With 8 bits it refuses a few items before.
            while filter.load_factor() < 0.95 {
                let _ = items.next().map(|item| filter.insert(&item));
            }
            rates(&filter, survey)
        })?;
    }
    Ok(())
}

/// Measures ours at ten bits per item; the published rate is that of RocksDB.
fn blocked_rate(survey: &mut Survey) -> io::Result<()> {
    let operation = "rate of a blocked filter of 10 bits per item";
    survey.reproduce(operation, 0.00957, "blocked", |survey| {
        let filter = <BlockedBloomFilter<u64> as Filter<u64>>::with_bits(ITEMS, 10.0);
        let filter = filter.expect("a filter of any number of bits");
        filter.insert_all(0..ITEMS, false);
        rates(&filter, survey)
    })
}

/// Computes the rate where the lines of the classic filter and of the cuckoo filter cross first.
/// They cross repeatedly, as cuckoo filters have a few shapes only.
fn crossing(survey: &mut Survey) -> io::Result<()> {
    /// The rates per decade that are computed.
    const STEPS: i32 = 50;
    let mut rates =
        (STEPS..=6 * STEPS).map(|step| 10_f64.powf(f64::from(-step) / f64::from(STEPS)));
    let cuckoo_is_smaller = |&rate: &f64| {
        let capacity = ITEMS as usize;
        let classic = BloomFilter::<u64>::builder().capacity(capacity).false_positive_rate(rate);
        let cuckoo = CuckooFilter::<u64>::builder().capacity(capacity).false_positive_rate(rate);
        let classic = classic.geometry().expect("a rate between 0 and 1").size_in_bytes();
        cuckoo.geometry().expect("a rate above 1e-9").size_in_bytes() < classic
    };
    let crossing = "highest rate at which a cuckoo filter is smaller than a classic Bloom filter";
    survey.reproduce(crossing, 0.03, "cuckoo", |_| {
        vec![rates.find(cuckoo_is_smaller).expect("at 1e-4 it is smaller")]
    })
}
