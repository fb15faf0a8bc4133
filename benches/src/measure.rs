//! What the report is made of: figures along one axis after another, each written down as it is known.
//!
//! Where an axis asks for no rate, the record's is 0.

mod bits;
mod build;
mod fill;
pub mod journal;
mod reproduction;
mod single;
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
    /// Operations of a run, at least: enough that the clock's own time and a moment's disturbance do not count.
    least: u64,
    /// Absent items asked for to measure a rate.
    probes: u64,
}

impl Scale {
    /// To see that all is well, in two minutes.
    pub const QUICK: Self = Self { quick: true, runs: 3, least: 300_000, probes: 1_000_000 };
    /// For a report, in three quarters of an hour.
    pub const FULL: Self = Self { quick: false, runs: 5, least: 2_000_000, probes: 20_000_000 };
}

/// What all axes need.
#[derive(Debug)]
pub struct Survey {
    scale: Scale,
    journal: Journal,
}

/// Measures along an axis what is not yet in the journal.
pub type Axis = fn(&mut Survey) -> io::Result<()>;

/// All axes by their names.
pub const AXES: [(&str, Axis); 13] = [
    ("operation", single::operation),
    ("alone", single::alone),
    ("build", build::build),
    ("size", single::size),
    ("rate", single::rate),
    ("memory", single::memory),
    ("threads", threads::threads),
    ("item", single::item),
    ("distribution", single::distribution),
    ("readers", threads::readers),
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
}

fn cores() -> u64 {
    available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// How many threads are put to work, as far as there are cores for them.
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
    /// The row of this record; a new one if there is none.
    fn of<'a>(rows: &'a mut Vec<Self>, record: &Record) -> &'a mut Self {
        let known = rows.iter().position(|row| {
            row.record.contender == record.contender
                && row.record.operation == record.operation
                && row.record.threads == record.threads
        });
        let index = known.unwrap_or_else(|| {
            rows.push(Self { record: record.clone(), runs: Vec::new() });
            rows.len() - 1
        });
        &mut rows[index]
    }

    /// The record of a time: the fastest run's, since all else that a machine does can only add. (Where others had
    /// half of a core now and then, medians of five runs went up and down by a factor of two.)
    fn fastest(self) -> Record {
        let value = self.runs.iter().copied().fold(f64::INFINITY, f64::min);
        of_runs(self.record, value, &self.runs)
    }

    /// The record of anything else, what is reproduced among it: the median of the runs.
    fn median(self) -> Record {
        let value = crate::median(self.runs.clone());
        of_runs(self.record, value, &self.runs)
    }
}

/// The record with this value and the spread of the runs.
fn of_runs(record: Record, value: f64, runs: &[f64]) -> Record {
    let low = runs.iter().copied().fold(f64::INFINITY, f64::min);
    let high = runs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Record { value, spread: [low, high], ..record }
}

/// A record without figures: one thread, integers, each asked for as often as any other.
fn blank(axis: &str, contender: &str, operation: &str, items: u64) -> Record {
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
