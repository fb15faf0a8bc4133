//! The axes of one thread: each contender on the course, and the limits of the memory.

use core::time::Duration;
use std::io;

use crate::contender::{self, BEST, Contender, RATE, Size, named};
use crate::course::Course;
use crate::floor::Floor;
use crate::item::{Distribution, Item};
use crate::measure::survey::{Rows, Survey};
use crate::operation::Operation::{
    self, Half, Hit, HitMany, Insert, InsertLast, InsertMany, Miss, MissMany, Remove,
};
use crate::record::Record;

/// From here on a filter is filled once and not once for each run, as that would take most of the
/// time.
const LARGE: u64 = 30_000_000;

/// A size at which only these take part, for the same reason.
const LARGEST: u64 = 1_000_000_000;
const OF_LARGEST: [&str; 6] =
    ["blocked", "once", "cuckoo", "fastbloom, atomic", "blocked, exclusive", "once, exclusive"];

/// The size at which all but sizes are varied.
const ITEMS: u64 = 100_000;

/// What is measured in one pass, contenders in turn, so that a disturbance of the machine affects
/// all of them.
#[derive(Clone, Copy)]
struct Point<'a> {
    axis: &'a str,
    items: u64,
    size: Size,
    distribution: Distribution,
    operations: &'a [Operation],
    /// Whether the limits of the memory are measured, too.
    floors: bool,
}

impl<'a> Point<'a> {
    /// Returns the point at which other things are varied, without floors.
    fn base(axis: &'a str, operations: &'a [Operation]) -> Self {
        let (size, distribution) = (Size::Rate(RATE), Distribution::Uniform);
        Self { axis, items: ITEMS, size, distribution, operations, floors: false }
    }

    fn record<K: Item>(&self, contender: &str, operation: Operation) -> Record {
        let blank = Record::blank(self.axis, contender, operation.name(), self.items);
        let (rate, bits) = match self.size {
            Size::Rate(rate) => (rate, 0.0),
            Size::Bits(bits) => (0.0, bits),
        };
        let distribution = self.distribution.name().to_owned();
        Record { rate, bits, item: K::KIND.to_owned(), distribution, ..blank }
    }

    /// Measures what is not in the journal.
    fn measure<K: Item>(self, survey: &mut Survey, contenders: &[Contender<K>]) -> io::Result<()> {
        let once = self.items >= LARGE;
        let (passes, runs) = if once { (1, survey.scale.runs) } else { (survey.scale.runs, 1) };
        let pass = |survey: &Survey, rows: &mut Rows| {
            if self.floors {
                self.floors(survey, runs, rows);
            }
            contenders.iter().for_each(|contender| self.contender(survey, contender, runs, rows));
        };
        survey.passes(passes, pass, |row| {
            // The runs of a single fill are its parts, and later parts differ from the first.
            let parts = once && row.record.operation.starts_with("insert");
            if parts { row.mean() } else { row.fastest() }
        })
    }

    /// Returns the nanoseconds of an operation in each run, where `run` performs the given number
    /// of them: of writes whole fills, or parts of one.
    fn nanos(
        &self,
        survey: &Survey,
        runs: usize,
        operation: Operation,
        mut run: impl FnMut(u64) -> Duration,
    ) -> Vec<f64> {
        let (least, items) = (survey.scale.least, self.items);
        let count = match operation {
            // Filling up to there takes longer.
            InsertLast => items / 20 * (least / 20).div_ceil(items / 20),
            _ if !operation.writes() => least,
            _ if runs == 1 => items * least.div_ceil(items),
            _ => items / runs as u64,
        };
        (0..runs).map(|_| run(count).as_nanos() as f64 / count as f64).collect()
    }

    /// Measures R and W on as much memory as a blocked filter takes.
    fn floors(&self, survey: &Survey, runs: usize, rows: &mut Rows) {
        let records = [("R", Hit), ("W", Insert)].map(|(name, of)| self.record::<u64>(name, of));
        if survey.has_all(&records) {
            return;
        }
        let rate = if let Size::Rate(rate) = self.size { rate } else { RATE };
        let mut floor = Floor::of_blocked(self.items, rate);
        // Neither is a fill: the memory has been touched, and is accessed at random.
        let reads = self.nanos(survey, runs, Hit, |count| floor.read(count));
        let writes = self.nanos(survey, runs, Hit, |count| floor.write(count));
        let bits = floor.bytes() as f64 * 8.0 / self.items as f64;
        for (record, nanos) in records.into_iter().zip([reads, writes]) {
            rows.add(Record { bits, ..record }, nanos);
        }
    }

    /// Measures what the contender can do of the operations.
    fn contender<K: Item>(
        &self,
        survey: &Survey,
        contender: &Contender<K>,
        runs: usize,
        rows: &mut Rows,
    ) {
        let possible = self.operations.iter().filter(|&&operation| contender.can(operation));
        let records = possible.map(|&of| (of, self.record::<K>(contender.traits.name, of)));
        let wanted: Vec<(Operation, Record)> =
            records.filter(|(_, record)| !survey.journal.has(record)).collect();
        // Far below the lowest rate of a filter, its figures compare with no other's.
        let too_low = matches!(self.size, Size::Rate(rate) if 4.0 * rate < contender.traits.lowest);
        if wanted.is_empty() || too_low {
            return;
        }
        let course = Course::new(contender, self.items, self.size, self.distribution);
        let Some(mut course) = course else { return };
        let nanos: Vec<Vec<f64>> = wanted
            .iter()
            .map(|&(of, _)| self.nanos(survey, runs, of, |count| course.run(of, count)))
            .collect();
        let (measured_rate, refused) = (course.measured_rate(), course.refused());
        for ((_, record), nanos) in wanted.into_iter().zip(nanos) {
            let bits = if record.bits > 0.0 { record.bits } else { course.bits() };
            rows.add(Record { bits, measured_rate, refused, ..record }, nanos);
        }
    }
}

/// Measures every contender and every operation; and hits, misses and both in random order, at
/// other rates and with the memory of the best classic filter, whose records are of an axis of
/// their own.
pub(super) fn operation(survey: &mut Survey) -> io::Result<()> {
    let all = contender::all::<u64>();
    let best = named(&all, &BEST);
    let quick = survey.scale.quick;
    let large = if quick { 1_000_000 } else { 10_000_000 };
    let base = Point { floors: true, ..Point::base("operation", Operation::COMMON) };
    base.measure(survey, &all)?;
    Point { items: large, ..base }.measure(survey, if quick { &best } else { &all })?;
    for (items, contenders) in [(ITEMS, &all), (large, &best)] {
        for size in [Size::Rate(RATE), Size::Bits(10.0), Size::Rate(1e-4), Size::Rate(1e-6)] {
            let base = Point::base("half", &[Hit, Miss, Half]);
            Point { items, size, ..base }.measure(survey, contenders)?;
        }
    }
    Ok(())
}

/// Measures single operations of the best, and of ours with exclusive access, in turn.
pub(super) fn single_table(survey: &mut Survey) -> io::Result<()> {
    let contenders = [named(&contender::all(), &BEST), contender::exclusive().to_vec()].concat();
    for &items in survey.scale.sizes(&[ITEMS, 10_000_000], 1) {
        let base = Point::base("single_table", &[Insert, Hit, Miss]);
        Point { items, floors: true, ..base }.measure(survey, &contenders)?;
    }
    Ok(())
}

/// Measures inserts with exclusive access: ours through `get_mut`, and the best of those that
/// threads cannot share.
pub(super) fn exclusive(survey: &mut Survey) -> io::Result<()> {
    let mut contenders = contender::exclusive().to_vec();
    contenders.extend(named(&contender::all(), &["fastbloom", "sbbf-rs-safe"]));
    let large: &[u64] = if survey.scale.quick { &[1_000_000] } else { &[10_000_000, LARGEST] };
    for &items in [ITEMS].iter().chain(large) {
        if items == LARGEST {
            contenders = named(&contenders, &OF_LARGEST);
        }
        let base = Point::base("exclusive", &[Insert, InsertMany]);
        Point { items, floors: true, ..base }.measure(survey, &contenders)?;
    }
    Ok(())
}

/// Measures the classic filter and the peer with the same layout, inlined into the loop and by a
/// call, and at a rate at which hits and misses take different times.
pub(super) fn caller(survey: &mut Survey) -> io::Result<()> {
    let inlined = named(&contender::all(), &["classic", "fastbloom, atomic"]);
    let contenders = [inlined, contender::called()].concat();
    let points = [(ITEMS, RATE), (ITEMS, 1e-6), (10_000_000, RATE), (100_000_000, RATE)];
    for &(items, rate) in survey.scale.sizes(&points, 2) {
        let base = Point::base("caller", &[Insert, Hit, Miss, Half]);
        Point { items, size: Size::Rate(rate), ..base }.measure(survey, &contenders)?;
    }
    Ok(())
}

/// Measures the best at every size.
pub(super) fn size(survey: &mut Survey) -> io::Result<()> {
    let small = [10_000, 30_000, 100_000, 300_000, 1_000_000];
    let sizes = [&small[..], &[3_000_000, 10_000_000, LARGE, 100_000_000, LARGEST]].concat();
    let best = named(&contender::all(), &BEST);
    for &items in survey.scale.sizes(&sizes, small.len()) {
        let best = if items == LARGEST { named(&best, &OF_LARGEST) } else { best.clone() };
        // Each figure of a large size is written down before the next is measured.
        for contenders in best.chunks(if items < LARGE { best.len() } else { 1 }) {
            let base = Point::base("size", &[Insert, Hit, Miss, InsertMany, HitMany, MissMany]);
            Point { items, floors: true, ..base }.measure(survey, contenders)?;
        }
    }
    Ok(())
}

/// Measures all at each of these rates, or with this memory.
fn sizes(survey: &mut Survey, axis: &str, sizes: [Size; 3]) -> io::Result<()> {
    sizes.into_iter().try_for_each(|size| {
        let base = Point::base(axis, &[Insert, Hit, Miss]);
        Point { size, ..base }.measure(survey, &contender::all::<u64>())
    })
}

/// Measures all at lower and lower rates.
pub(super) fn rate(survey: &mut Survey) -> io::Result<()> {
    sizes(survey, "rate", [1e-2, 1e-3, 1e-4].map(Size::Rate))
}

/// Measures all with the same memory.
pub(super) fn memory(survey: &mut Survey) -> io::Result<()> {
    sizes(survey, "memory", [10.0, 16.0, 20.0].map(Size::Bits))
}

/// Measures filters that store fingerprints from empty to full to empty: all at the rates of our
/// shapes 4 × 16 and 4 × 8, ours also at those of 8 × 8, 5 × 12 and 7 × 18. At that of 5 × 25,
/// measures all operations of ours and of the alternatives.
pub(super) fn cuckoo(survey: &mut Survey) -> io::Result<()> {
    let all = contender::fingerprints();
    let ours = named(&all, &["cuckoo"]);
    let rates = [(2.5e-4, &all), (3e-2, &all), (6e-2, &ours), (2.5e-3, &ours), (1e-4, &ours)];
    // About 90 % of a power of two, to which some peers round up.
    for &items in survey.scale.sizes(&[117_000, 7_500_000], 1) {
        for &(rate, contenders) in survey.scale.sizes(&rates, 2) {
            let base = Point::base("cuckoo", &[Insert, InsertLast, Hit, Miss, Remove]);
            let point = Point { items, size: Size::Rate(rate), floors: true, ..base };
            point.measure(survey, contenders)?;
        }
    }
    for &items in survey.scale.sizes(&[ITEMS, 10_000_000], 1) {
        let base = Point::base("cuckoo", &Operation::ALL);
        let point = Point { items, size: Size::Rate(1e-6), floors: true, ..base };
        point.measure(survey, &contender::low_rate())?;
    }
    Ok(())
}

/// Measures integers and URLs.
pub(super) fn item(survey: &mut Survey) -> io::Result<()> {
    let point = Point::base("item", &[Insert, Hit, Miss]);
    point.measure(survey, &contender::all::<u64>())?;
    point.measure(survey, &contender::all::<String>())
}

/// Measures items queried more and less often. Only hits: a cuckoo filter stores an item that is
/// inserted repeatedly until it has no room for it.
pub(super) fn distribution(survey: &mut Survey) -> io::Result<()> {
    let best = named(&contender::all(), &BEST);
    // So large that it matters whether queried items are in a cache near the core.
    let large = if survey.scale.quick { 1_000_000 } else { 10_000_000 };
    for distribution in [Distribution::Uniform, Distribution::Zipf, Distribution::Hot] {
        for items in [ITEMS, large] {
            let base = Point::base("distribution", &[Hit]);
            Point { items, distribution, ..base }.measure(survey, &best)?;
        }
    }
    Ok(())
}

/// Measures the memory of every contender at every rate.
pub(super) fn bits(survey: &mut Survey) -> io::Result<()> {
    /// Just below 95 % of a power of two, so that filters that round up to one are not charged for
    /// it.
    const ITEMS: u64 = 950_000;
    /// About three per decade, as cuckoo filters have a few shapes only.
    const RATES: [f64; 16] = [
        1e-1, 5e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2e-6,
        1e-6,
    ];
    for rate in RATES {
        for contender in contender::all::<u64>() {
            let blank = Record::blank("bits", contender.traits.name, "bits per item", ITEMS);
            let record = Record { rate, ..blank };
            if contender.traits.exact
                || rate < contender.traits.lowest
                || survey.journal.has(&record)
            {
                continue;
            }
            if let Some(filter) = (contender.make)(ITEMS, Size::Rate(rate)) {
                let bits = filter.bytes() as f64 * 8.0 / ITEMS as f64;
                survey.journal.append(&Record { bits, ..record }.of_runs(bits, &[bits]))?;
            }
        }
    }
    Ok(())
}
