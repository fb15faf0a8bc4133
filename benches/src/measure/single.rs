//! The axes of one thread: each contender on the course, beside the limits of the memory.

use std::io;

use tamis::BlockedBloomFilter;

use crate::contender::{self, BEST, Contender, RATE, Visitor};
use crate::course::{Course, Operation};
use crate::floor::Floor;
use crate::item::{Distribution, Item};
use crate::measure::{Row, Survey, blank, of_runs};
use crate::record::Record;

/// From here on a filter is filled once and not once for each run, as that would take most of the time.
const LARGE: u64 = 30_000_000;
/// Where only some take part, for the same reason.
const LARGEST: u64 = 1_000_000_000;
const OF_LARGEST: [&str; 4] = ["blocked", "once", "cuckoo", "fastbloom, atomic"];

/// What one thread has to itself, and what takes part at the largest size.
const ALONE: [&str; 5] =
    ["blocked, alone", "once, alone", "classic, alone", "fastbloom", "sbbf-rs-safe"];
const OF_LARGEST_ALONE: [&str; 2] = ["blocked, alone", "once, alone"];

/// The size at which all but sizes are varied.
const ITEMS: u64 = 100_000;

/// How large a filter is.
#[derive(Clone, Copy)]
enum Size {
    Rate(f64),
    Bits(f64),
}

/// What is measured in one go, contenders in turn, so that what else the machine does meets all of them.
struct Point<'a> {
    axis: &'a str,
    items: u64,
    size: Size,
    distribution: Distribution,
    operations: &'a [Operation],
    /// Their names; all, if none is named.
    who: &'a [&'a str],
    /// Whether the limits of the memory are measured, too.
    floors: bool,
}

/// One turn of every contender.
struct Pass<'a> {
    survey: &'a Survey,
    point: &'a Point<'a>,
    /// Runs of an operation in this turn.
    runs: usize,
    rows: &'a mut Vec<Row>,
}

impl<'a> Point<'a> {
    /// At the size and the rate at which other things are varied, for all contenders.
    fn base(axis: &'a str, operations: &'a [Operation]) -> Self {
        Self {
            axis,
            items: ITEMS,
            size: Size::Rate(RATE),
            distribution: Distribution::Uniform,
            operations,
            who: &[],
            floors: false,
        }
    }

    fn record<K: Item>(&self, contender: &str, operation: &str) -> Record {
        let blank = blank(self.axis, contender, operation, self.items);
        let (rate, bits) = match self.size {
            Size::Rate(rate) => (rate, 0.0),
            Size::Bits(bits) => (0.0, bits),
        };
        let distribution = self.distribution.name().to_owned();
        Record { rate, bits, item: K::KIND.to_owned(), distribution, ..blank }
    }

    /// Measures what is not in the journal. `show` shows a pass the contenders.
    fn measure(&self, survey: &mut Survey, show: impl Fn(&mut Pass<'_>)) -> io::Result<()> {
        let mut rows = Vec::new();
        let once = self.items >= LARGE;
        let (passes, runs) = if once { (1, survey.scale.runs) } else { (survey.scale.runs, 1) };
        for _ in 0..passes {
            let mut pass = Pass { survey, point: self, runs, rows: &mut rows };
            if self.floors {
                pass.floors();
            }
            show(&mut pass);
        }
        for row in rows {
            let record = if once && row.record.operation.starts_with("insert") {
                // The runs are parts of one fill, and the last are not like the first: the whole counts.
                let mean = row.runs.iter().sum::<f64>() / row.runs.len() as f64;
                of_runs(row.record, mean, &row.runs)
            } else {
                row.fastest()
            };
            survey.journal.append(&record)?;
        }
        Ok(())
    }
}

impl Pass<'_> {
    /// The operations of a run: of inserts whole fills, or parts of one.
    fn count(&self, operation: Operation) -> u64 {
        let (least, items) = (self.survey.scale.least, self.point.items);
        match (operation.inserts(), self.runs) {
            (false, _) => least,
            (true, 1) => items * least.div_ceil(items),
            (true, runs) => items / runs as u64,
        }
    }

    /// The time of an operation in each run, and how to do `count` of them.
    fn nanos(
        &self,
        operation: Operation,
        mut run: impl FnMut(u64) -> core::time::Duration,
    ) -> Vec<f64> {
        let count = self.count(operation);
        (0..self.runs).map(|_| run(count).as_nanos() as f64 / count as f64).collect()
    }

    /// R and W on as much memory as a blocked filter takes.
    fn floors(&mut self) {
        let [read, write] = [("R", Operation::Hit), ("W", Operation::Insert)]
            .map(|(name, operation)| self.point.record::<u64>(name, operation.name()));
        if self.survey.journal.has(&read) && self.survey.journal.has(&write) {
            return;
        }
        let builder = BlockedBloomFilter::<u64>::builder().capacity(self.point.items as usize);
        let geometry = builder.false_positive_rate(RATE).geometry().expect("a capacity above 0");
        let bytes = geometry.size_in_bytes();
        let mut floor = Floor::new(bytes);
        // Neither is a fill: the memory has been touched, and where it is touched again is at random.
        let reads = self.nanos(Operation::Hit, |count| floor.read(count));
        let writes = self.nanos(Operation::Hit, |count| floor.write(count));
        let bits = bytes as f64 * 8.0 / self.point.items as f64;
        for (record, runs) in [(read, reads), (write, writes)] {
            if !self.survey.journal.has(&record) {
                Row::of(self.rows, &Record { bits, ..record }).runs.extend(runs);
            }
        }
    }
}

impl<K: Item> Visitor<K> for Pass<'_> {
    fn visit<C: Contender<K> + 'static>(&mut self) {
        let point = self.point;
        if !point.who.is_empty() && !point.who.contains(&C::NAME) {
            return;
        }
        let wanted: Vec<(Operation, Record)> = point
            .operations
            .iter()
            .filter(|operation| C::MANY || !operation.is_many())
            .map(|&operation| (operation, point.record::<K>(C::NAME, operation.name())))
            .filter(|(_, record)| !self.survey.journal.has(record))
            .collect();
        if wanted.is_empty() {
            return;
        }
        let (items, size) = (point.items, point.size);
        let course = match size {
            // Its figures would compare with none at such a rate.
            Size::Rate(rate) if 4.0 * rate < C::LOWEST => None,
            Size::Rate(rate) => {
                Course::new(items, rate, point.distribution, move || C::new(items, rate))
            }
            Size::Bits(bits) => {
                // Eight times the rate of the best classic filter: no layout is as bad.
                let rate = 8.0 * (-bits * core::f64::consts::LN_2.powi(2)).exp();
                Course::new(items, rate, point.distribution, move || C::with_bits(items, bits))
            }
        };
        let Some(mut course) = course else { return };
        for (operation, record) in &wanted {
            let runs = self.nanos(*operation, |count| course.run(*operation, count));
            Row::of(self.rows, record).runs.extend(runs);
        }
        let (bits, measured_rate) = (course.bits(), course.measured_rate());
        for (_, record) in &wanted {
            let record = &mut Row::of(self.rows, record).record;
            record.measured_rate = measured_rate;
            if matches!(size, Size::Rate(_)) {
                record.bits = bits;
            }
        }
    }
}

/// Every contender and every operation; and hits, misses and both in random order, at other rates and with the
/// memory of the best classic filter, whose records are of an axis of their own.
pub(super) fn operation(survey: &mut Survey) -> io::Result<()> {
    let base = Point { floors: true, ..Point::base("operation", &Operation::ALL) };
    base.measure(survey, |pass| contender::each::<u64>(pass))?;
    let (items, who): (_, &[&str]) =
        if survey.scale.quick { (1_000_000, &BEST) } else { (10_000_000, &[]) };
    let large = Point { items, who, ..base };
    large.measure(survey, |pass| contender::each::<u64>(pass))?;
    let operations = [Operation::Hit, Operation::Miss, Operation::Half];
    for items in [ITEMS, items] {
        for size in [Size::Rate(RATE), Size::Bits(10.0), Size::Rate(1e-4), Size::Rate(1e-6)] {
            let who = if items == ITEMS { &[][..] } else { &BEST };
            let point = Point { items, size, who, ..Point::base("half", &operations) };
            point.measure(survey, |pass| contender::each::<u64>(pass))?;
        }
    }
    Ok(())
}

/// What one thread has to itself: ours through `get_mut`, and the best of those that are not shared.
pub(super) fn alone(survey: &mut Survey) -> io::Result<()> {
    let operations = [Operation::Insert, Operation::InsertMany];
    let (items, largest) =
        if survey.scale.quick { (1_000_000, 1_000_000) } else { (10_000_000, LARGEST) };
    for items in [ITEMS, items, largest] {
        let who = if items == LARGEST { &OF_LARGEST_ALONE[..] } else { &ALONE[..] };
        let point = Point { items, who, floors: true, ..Point::base("alone", &operations) };
        point.measure(survey, |pass| {
            contender::each_alone(pass);
            contender::each::<u64>(pass);
        })?;
    }
    Ok(())
}

/// The best at every size.
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
    let operations = [Operation::Insert, Operation::Hit, Operation::Miss];
    let many = [Operation::InsertMany, Operation::HitMany, Operation::MissMany];
    let operations = [operations, many].concat();
    let largest = if survey.scale.quick { 1_000_000 } else { LARGEST };
    for items in SIZES.into_iter().filter(|&items| items <= largest) {
        let who = if items == LARGEST { &OF_LARGEST[..] } else { &BEST[..] };
        // Of the large ones each is written down before the next.
        for who in who.chunks(if items < LARGE { who.len() } else { 1 }) {
            let point = Point { items, who, floors: true, ..Point::base("size", &operations) };
            point.measure(survey, |pass| contender::each::<u64>(pass))?;
        }
    }
    Ok(())
}

/// All at lower and lower rates.
pub(super) fn rate(survey: &mut Survey) -> io::Result<()> {
    let operations = [Operation::Insert, Operation::Hit, Operation::Miss];
    for rate in [1e-2, 1e-3, 1e-4] {
        let point = Point { size: Size::Rate(rate), ..Point::base("rate", &operations) };
        point.measure(survey, |pass| contender::each::<u64>(pass))?;
    }
    Ok(())
}

/// All with the same memory.
pub(super) fn memory(survey: &mut Survey) -> io::Result<()> {
    let operations = [Operation::Insert, Operation::Hit, Operation::Miss];
    for bits in [10.0, 16.0, 20.0] {
        let point = Point { size: Size::Bits(bits), ..Point::base("memory", &operations) };
        point.measure(survey, |pass| contender::each::<u64>(pass))?;
    }
    Ok(())
}

/// Integers against URLs.
pub(super) fn item(survey: &mut Survey) -> io::Result<()> {
    let operations = [Operation::Insert, Operation::Hit, Operation::Miss];
    let point = Point::base("item", &operations);
    point.measure(survey, |pass| contender::each::<u64>(pass))?;
    point.measure(survey, |pass| contender::each::<String>(pass))
}

/// Items asked for more and less often. Hits alone: an item that is inserted again and again is in a
/// cuckoo filter as often as it has room.
pub(super) fn distribution(survey: &mut Survey) -> io::Result<()> {
    let operations = [Operation::Hit];
    // Large enough that it matters whether what is asked for is in a cache near the core.
    let items = if survey.scale.quick { 1_000_000 } else { 10_000_000 };
    for distribution in [Distribution::Uniform, Distribution::Zipf, Distribution::Hot] {
        for items in [ITEMS, items] {
            let base = Point::base("distribution", &operations);
            let point = Point { items, distribution, who: &BEST, ..base };
            point.measure(survey, |pass| contender::each::<u64>(pass))?;
        }
    }
    Ok(())
}
