//! The measurements of the report: figures along one axis after another, each written down as soon as it is known.
//!
//! Where an axis requests no rate, the record's is 0.

mod bits;
mod build;
mod fill;
pub mod journal;
mod reproduction;
mod single;
mod team;
mod threads;

use std::io;
use std::thread::available_parallelism;

use crate::measure::journal::Journal;
use crate::record::Record;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    quick: bool,
    /// Runs of which the fastest counts.
    runs: usize,
    /// The least number of operations in a run, so that the clock's own time and short disturbances do not count.
    least: u64,
    /// Absent items queried to measure a rate.
    probes: u64,
}

impl Scale {
    /// Checks that all works, in two minutes.
    pub const QUICK: Self = Self { quick: true, runs: 3, least: 300_000, probes: 1_000_000 };
    /// For a report, in an hour.
    pub const FULL: Self = Self { quick: false, runs: 5, least: 2_000_000, probes: 20_000_000 };

    /// Returns the first of the sizes at the quick scale, and else all.
    fn sizes<T>(self, all: &[T], quick: usize) -> &[T] {
        if self.quick { &all[..quick] } else { all }
    }
}

/// What all axes need.
#[derive(Debug)]
pub struct Survey {
    scale: Scale,
    journal: Journal,
}

/// Measures along an axis what is not in the journal.
pub type Axis = fn(&mut Survey) -> io::Result<()>;

/// All axes by their names.
pub const AXES: [(&str, Axis); 15] = [
    ("operation", single::operation),
    ("exclusive", single::exclusive),
    ("build", build::build),
    ("size", single::size),
    ("rate", single::rate),
    ("memory", single::memory),
    ("cuckoo", single::cuckoo),
    ("threads", threads::threads),
    ("cuckoo_threads", threads::cuckoo_threads),
    ("item", single::item),
    ("distribution", single::distribution),
    ("readers", threads::during_writes),
    ("fill", fill::fill),
    ("bits", bits::bits),
    ("reproduction", reproduction::reproduction),
];

impl Survey {
    /// Measures at this scale, and writes to this journal.
    #[must_use]
    pub fn new(scale: Scale, journal: Journal) -> Self {
        Self { scale, journal }
    }

    /// Returns whether the journal has all of these records.
    fn has_all(&self, records: &[Record]) -> bool {
        records.iter().all(|record| self.journal.has(record))
    }

    /// Calls `pass`, which measures one run of each figure, and writes the fastest of the runs down.
    fn fastest(
        &mut self,
        runs: usize,
        mut pass: impl FnMut(&Self, &mut Vec<Row>),
    ) -> io::Result<()> {
        let mut rows = Vec::new();
        for _ in 0..runs {
            pass(self, &mut rows);
        }
        rows.into_iter().try_for_each(|row| self.journal.append(&row.fastest()))
    }
}

fn cores() -> u64 {
    available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// Returns the numbers of threads to measure, as far as there are cores for them.
fn thread_counts() -> Vec<u64> {
    let cores = cores();
    [1, 2, 4, 8, 16].into_iter().filter(|&count| count <= cores).collect()
}

/// The runs of one figure.
struct Row {
    record: Record,
    runs: Vec<f64>,
}

impl Row {
    /// Returns the row of this record; a new one if there is none.
    fn of<'a>(rows: &'a mut Vec<Self>, record: &Record) -> &'a mut Self {
        let conditions = |record: &Record| record.conditions().expect("numbers");
        let known = rows.iter().position(|row| conditions(&row.record) == conditions(record));
        let index = known.unwrap_or_else(|| {
            rows.push(Self { record: record.clone(), runs: Vec::new() });
            rows.len() - 1
        });
        &mut rows[index]
    }

    /// Returns the record of a time: that of the fastest run, since all else that a machine does only adds time.
    // MEASURED: where other programs had half of a core now and then, medians of five runs went up and down by a
    // factor of two (busy Emerald Rapids, 2 cores).
    fn fastest(self) -> Record {
        let value = self.runs.iter().copied().fold(f64::INFINITY, f64::min);
        of_runs(self.record, value, &self.runs)
    }

    /// Returns the record of anything else, reproductions included: the median of the runs.
    fn median(self) -> Record {
        let mut sorted = self.runs.clone();
        sorted.sort_by(f64::total_cmp);
        of_runs(self.record, sorted[sorted.len() / 2], &self.runs)
    }
}

/// Returns the record with this value and the spread of the runs.
fn of_runs(record: Record, value: f64, runs: &[f64]) -> Record {
    let low = runs.iter().copied().fold(f64::INFINITY, f64::min);
    let high = runs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Record { value, spread: [low, high], ..record }
}

/// Returns a record without figures: one thread, integers, uniformly distributed.
pub(crate) fn blank(axis: &str, contender: &str, operation: &str, items: u64) -> Record {
    Record {
        axis: axis.to_owned(),
        contender: contender.to_owned(),
        operation: operation.to_owned(),
        items,
        rate: 0.0,
        measured_rate: None,
        bits: 0.0,
        threads: 1,
        item: "u64".to_owned(),
        distribution: "uniform".to_owned(),
        value: 0.0,
        spread: [0.0; 2],
    }
}
