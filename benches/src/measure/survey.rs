//! What all axes need: the scale, the journal, and the runs of each figure.

use std::io;
use std::path::Path;
use std::thread::available_parallelism;

use crate::measure::journal::Journal;
use crate::record::Record;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub(super) quick: bool,
    /// Runs of which the fastest counts.
    pub(super) runs: usize,
    /// The least number of operations in a run, so that the clock's own time and short disturbances
    /// do not count.
    pub(super) least: u64,
    /// Absent items queried to measure a rate.
    pub(super) probes: u64,
}

impl Scale {
    /// Checks that all works, in two minutes.
    pub const QUICK: Self = Self { quick: true, runs: 3, least: 300_000, probes: 1_000_000 };
    /// For a report, in an hour.
    pub const FULL: Self = Self { quick: false, runs: 5, least: 2_000_000, probes: 20_000_000 };

    /// Returns the first of the sizes at the quick scale, and else all.
    pub(super) fn sizes<T>(self, all: &[T], quick: usize) -> &[T] {
        if self.quick { &all[..quick] } else { all }
    }
}

/// What all axes need.
#[derive(Debug)]
pub struct Survey {
    pub(super) scale: Scale,
    pub(super) journal: Journal,
}

impl Survey {
    /// Measures at this scale what this file does not have, and appends it; with `again` also what
    /// it has: a report takes the better of two figures.
    ///
    /// # Errors
    ///
    /// If the file cannot be read and written, or has lines that are no records.
    pub fn new(scale: Scale, file: &Path, again: bool) -> io::Result<Self> {
        let mut journal = Journal::open(file)?;
        if again {
            journal.measure_again();
        }
        Ok(Self { scale, journal })
    }

    /// Returns whether the journal has all of these records.
    pub(super) fn has_all(&self, records: &[Record]) -> bool {
        records.iter().all(|record| self.journal.has(record))
    }

    /// Calls `pass`, which measures runs of each figure, this number of times; writes down what
    /// `figure` makes of the runs of each record that the journal does not have.
    pub(super) fn passes(
        &mut self,
        count: usize,
        mut pass: impl FnMut(&Self, &mut Rows),
        figure: impl Fn(Row) -> Record,
    ) -> io::Result<()> {
        let mut rows = Rows::default();
        (0..count).for_each(|_| pass(self, &mut rows));
        let unknown: Vec<Row> =
            rows.0.into_iter().filter(|row| !self.journal.has(&row.record)).collect();
        unknown.into_iter().try_for_each(|row| self.journal.append(&figure(row)))
    }
}

pub(super) fn cores() -> u64 {
    available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// Returns the numbers of threads to measure, as far as there are cores for them.
pub(super) fn thread_counts() -> Vec<u64> {
    let cores = cores();
    [1, 2, 4, 8, 16].into_iter().filter(|&count| count <= cores).collect()
}

/// The figures of several passes.
#[derive(Default)]
pub(super) struct Rows(Vec<Row>);

impl Rows {
    /// Adds runs of the figure under the conditions of this record.
    pub(super) fn add(&mut self, record: Record, runs: impl IntoIterator<Item = f64>) {
        let conditions = |record: &Record| record.conditions().expect("numbers");
        let own = conditions(&record);
        let index = self.0.iter().position(|row| conditions(&row.record) == own);
        let index = index.unwrap_or_else(|| {
            self.0.push(Row { record: record.clone(), runs: Vec::new() });
            self.0.len() - 1
        });
        let row = &mut self.0[index];
        row.record = record;
        row.runs.extend(runs);
    }
}

/// The runs of one figure.
pub(super) struct Row {
    pub(super) record: Record,
    pub(super) runs: Vec<f64>,
}

impl Row {
    /// Returns the record of a time: that of the fastest run, since all else that a machine does
    /// only adds time.
    // MEASURED: where other programs had half of a core now and then, medians of five runs varied
    // by 100 % (busy Emerald Rapids, 2 cores). There the slowest run took at most 31 % longer than
    // the fastest for half of the figures.
    pub(super) fn fastest(self) -> Record {
        let value = self.runs.iter().copied().fold(f64::INFINITY, f64::min);
        self.record.of_runs(value, &self.runs)
    }

    /// Returns the record of a whole of which the runs are parts: their mean.
    pub(super) fn mean(self) -> Record {
        let mean = self.runs.iter().sum::<f64>() / self.runs.len() as f64;
        self.record.of_runs(mean, &self.runs)
    }

    /// Returns the record of anything else, reproductions included: the median of the runs.
    pub(super) fn median(self) -> Record {
        let mut sorted = self.runs.clone();
        sorted.sort_by(f64::total_cmp);
        self.record.of_runs(sorted[sorted.len() / 2], &self.runs)
    }
}
