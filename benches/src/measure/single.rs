//! The axes of one thread: each contender on the course, and the limits of the memory.

use core::time::Duration;
use std::io;

use tamis::BlockedBloomFilter;

use crate::contender::{self, BEST, Contender, RATE, Size, named};
use crate::floor::Floor;
use crate::item::{Distribution, Item};
use crate::measure::survey::{Row, Survey};
use crate::operation::Operation::{
    self, Half, Hit, HitMany, Insert, InsertLast, InsertMany, Miss, MissMany, Remove,
};
use crate::record::Record;

/// From here on a filter is filled once and not once for each run, as that would take most of the time.
const LARGE: u64 = 30_000_000;

/// A size at which only these take part, for the same reason.
const LARGEST: u64 = 1_000_000_000;
const OF_LARGEST: [&str; 6] =
    ["blocked", "once", "cuckoo", "fastbloom, atomic", "blocked, exclusive", "once, exclusive"];

/// The size at which all but sizes are varied.
const ITEMS: u64 = 100_000;

/// The sizes of filters that store fingerprints: about 90 % of a power of two, to which some peers round up.
const OF_FINGERPRINTS: [u64; 2] = [117_000, 7_500_000];

/// What is measured in one pass, contenders in turn, so that a disturbance of the machine affects all of them.
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

/// One turn of every contender.
struct Pass<'a> {
    survey: &'a Survey,
    point: Point<'a>,
    /// Runs of an operation in this turn.
    runs: usize,
    rows: &'a mut Vec<Row>,
}

impl<'a> Point<'a> {
    /// Returns the point at which other things are varied, without floors.
    fn base(axis: &'a str, operations: &'a [Operation]) -> Self {
        let (size, distribution) = (Size::Rate(RATE), Distribution::Uniform);
        Self { axis, items: ITEMS, size, distribution, operations, floors: false }
    }

    fn record<K: Item>(&self, contender: &str, operation: &str) -> Record {
        let blank = Record::blank(self.axis, contender, operation, self.items);
        let (rate, bits) = match self.size {
            Size::Rate(rate) => (rate, 0.0),
            Size::Bits(bits) => (0.0, bits),
        };
        let distribution = self.distribution.name().to_owned();
        Record { rate, bits, item: K::KIND.to_owned(), distribution, ..blank }
    }

    /// Measures what is not in the journal.
    fn measure<K: Item>(self, survey: &mut Survey, contenders: &[Contender<K>]) -> io::Result<()> {
        let mut rows = Vec::new();
        let once = self.items >= LARGE;
        let (passes, runs) = if once { (1, survey.scale.runs) } else { (survey.scale.runs, 1) };
        for _ in 0..passes {
            let mut pass = Pass { survey, point: self, runs, rows: &mut rows };
            if self.floors {
                pass.floors();
            }
            contenders.iter().for_each(|contender| pass.contender(contender));
        }
        for row in rows {
            let record = if once && row.record.operation.starts_with("insert") {
                // The runs are parts of one fill, and later parts differ from the first: the whole counts.
                let mean = row.runs.iter().sum::<f64>() / row.runs.len() as f64;
                row.record.of_runs(mean, &row.runs)
            } else {
                row.fastest()
            };
            survey.journal.append(&record)?;
        }
        Ok(())
    }
}

impl Pass<'_> {
    /// Returns the number of operations of a run: of writes whole fills, or parts of one.
    fn count(&self, operation: Operation) -> u64 {
        let (least, items) = (self.survey.scale.least, self.point.items);
        match operation {
            // Filling up to there takes longer.
            InsertLast => items / 20 * (least / 20).div_ceil(items / 20),
            _ if !operation.writes() => least,
            _ if self.runs == 1 => items * least.div_ceil(items),
            _ => items / self.runs as u64,
        }
    }

    /// Returns the nanoseconds of an operation in each run, where `run` performs the given number of them.
    fn nanos(&self, operation: Operation, mut run: impl FnMut(u64) -> Duration) -> Vec<f64> {
        let count = self.count(operation);
        (0..self.runs).map(|_| run(count).as_nanos() as f64 / count as f64).collect()
    }

    /// Measures R and W on as much memory as a blocked filter takes.
    fn floors(&mut self) {
        let [read, write] = [("R", Hit), ("W", Insert)]
            .map(|(name, operation)| self.point.record::<u64>(name, operation.name()));
        if self.survey.journal.has(&read) && self.survey.journal.has(&write) {
            return;
        }
        let rate = if let Size::Rate(rate) = self.point.size { rate } else { RATE };
        let builder = BlockedBloomFilter::<u64>::builder().capacity(self.point.items as usize);
        let geometry = builder.false_positive_rate(rate).geometry().expect("a capacity above 0");
        let bytes = geometry.size_in_bytes();
        let mut floor = Floor::new(bytes);
        // Neither is a fill: the memory has been touched, and is accessed at random.
        let reads = self.nanos(Hit, |count| floor.read(count));
        let writes = self.nanos(Hit, |count| floor.write(count));
        let bits = bytes as f64 * 8.0 / self.point.items as f64;
        for (record, runs) in [(read, reads), (write, writes)] {
            if !self.survey.journal.has(&record) {
                Row::of(self.rows, &Record { bits, ..record }).runs.extend(runs);
            }
        }
    }

    /// Measures what the contender can do of the operations.
    fn contender<K: Item>(&mut self, contender: &Contender<K>) {
        let point = self.point;
        let wanted: Vec<(Operation, Record)> = point
            .operations
            .iter()
            .filter(|&&operation| contender.can(operation))
            .map(|&operation| (operation, point.record::<K>(contender.name, operation.name())))
            .filter(|(_, record)| !self.survey.journal.has(record))
            .collect();
        // Far below the lowest rate of a filter, its figures compare with no other's.
        let too_low = matches!(point.size, Size::Rate(rate) if 4.0 * rate < contender.lowest);
        if wanted.is_empty() || too_low {
            return;
        }
        let course = (contender.course)(point.items, point.size, point.distribution);
        let Some(mut course) = course else { return };
        for (operation, record) in &wanted {
            let runs = self.nanos(*operation, |count| course.run(*operation, count));
            Row::of(self.rows, record).runs.extend(runs);
        }
        let (bits, measured_rate) = (course.bits(), course.measured_rate());
        for (_, record) in &wanted {
            let record = &mut Row::of(self.rows, record).record;
            record.measured_rate = measured_rate;
            if matches!(point.size, Size::Rate(_)) {
                record.bits = bits;
            }
        }
    }
}

/// Measures every contender and every operation; and hits, misses and both in random order, at other rates and with
/// the memory of the best classic filter, whose records are of an axis of their own.
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

/// Measures inserts with exclusive access: ours through `get_mut`, and the best of those that threads cannot share.
pub(super) fn exclusive(survey: &mut Survey) -> io::Result<()> {
    let mut contenders = contender::exclusive().to_vec();
    contenders.extend(named(&contender::all(), &["fastbloom", "sbbf-rs-safe"]));
    let sizes = if survey.scale.quick {
        [ITEMS, 1_000_000].to_vec()
    } else {
        [ITEMS, 10_000_000, LARGEST].to_vec()
    };
    for items in sizes {
        if items == LARGEST {
            contenders = named(&contenders, &OF_LARGEST);
        }
        let base = Point::base("exclusive", &[Insert, InsertMany]);
        Point { items, floors: true, ..base }.measure(survey, &contenders)?;
    }
    Ok(())
}

/// Measures the best at every size.
pub(super) fn size(survey: &mut Survey) -> io::Result<()> {
    const SIZES: [u64; 10] = [
        10_000,
        30_000,
        100_000,
        300_000,
        1_000_000,
        3_000_000,
        10_000_000,
        LARGE,
        100_000_000,
        LARGEST,
    ];
    let best = named(&contender::all(), &BEST);
    for &items in survey.scale.sizes(&SIZES, 5) {
        let best = if items == LARGEST { named(&best, &OF_LARGEST) } else { best.clone() };
        // Each figure of a large size is written down before the next is measured.
        for contenders in best.chunks(if items < LARGE { best.len() } else { 1 }) {
            let operations = [Insert, Hit, Miss, InsertMany, HitMany, MissMany];
            let base = Point::base("size", &operations);
            Point { items, floors: true, ..base }.measure(survey, contenders)?;
        }
    }
    Ok(())
}

/// Measures all at lower and lower rates.
pub(super) fn rate(survey: &mut Survey) -> io::Result<()> {
    for rate in [1e-2, 1e-3, 1e-4] {
        let base = Point::base("rate", &[Insert, Hit, Miss]);
        Point { size: Size::Rate(rate), ..base }.measure(survey, &contender::all::<u64>())?;
    }
    Ok(())
}

/// Measures all with the same memory.
pub(super) fn memory(survey: &mut Survey) -> io::Result<()> {
    for bits in [10.0, 16.0, 20.0] {
        let base = Point::base("memory", &[Insert, Hit, Miss]);
        Point { size: Size::Bits(bits), ..base }.measure(survey, &contender::all::<u64>())?;
    }
    Ok(())
}

/// Measures filters that store fingerprints from empty to full to empty: all at the rates of our shapes 4 × 16 and
/// 4 × 8, ours also at those of 8 × 8, 5 × 12 and 2 × 32.
pub(super) fn cuckoo(survey: &mut Survey) -> io::Result<()> {
    let all = contender::fingerprints();
    let ours = named(&all, &["cuckoo"]);
    for &items in survey.scale.sizes(&OF_FINGERPRINTS, 1) {
        let rates = [(2.5e-4, &all), (3e-2, &all), (6e-2, &ours), (2.5e-3, &ours), (1e-6, &ours)];
        for &(rate, contenders) in survey.scale.sizes(&rates, 2) {
            let operations = [Insert, InsertLast, Hit, Miss, Remove];
            let base = Point::base("cuckoo", &operations);
            let point = Point { items, size: Size::Rate(rate), floors: true, ..base };
            point.measure(survey, contenders)?;
        }
    }
    Ok(())
}

/// Measures integers and URLs.
pub(super) fn item(survey: &mut Survey) -> io::Result<()> {
    let point = Point::base("item", &[Insert, Hit, Miss]);
    point.measure(survey, &contender::all::<u64>())?;
    point.measure(survey, &contender::all::<String>())
}

/// Measures items queried more and less often. Only hits: a cuckoo filter stores an item that is inserted
/// repeatedly until it has no room for it.
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
