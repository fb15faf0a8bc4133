//! What all axes need: the scale, the journal, and the runs of each figure.

use std::io;
use std::thread::available_parallelism;

use crate::measure::journal::Journal;
use crate::record::Record;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub(super) quick: bool,
    /// Runs of which the fastest counts.
    pub(super) runs: usize,
    /// The least number of operations in a run, so that the clock's own time and short disturbances do not count.
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
    /// Measures at this scale, and writes to this journal.
    #[must_use]
    pub fn new(scale: Scale, journal: Journal) -> Self {
        Self { scale, journal }
    }

    /// Returns whether the journal has all of these records.
    pub(super) fn has_all(&self, records: &[Record]) -> bool {
        records.iter().all(|record| self.journal.has(record))
    }

    /// Calls `pass`, which measures one run of each figure, and writes the fastest of the runs down.
    pub(super) fn fastest(
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

pub(super) fn cores() -> u64 {
    available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// Returns the numbers of threads to measure, as far as there are cores for them.
pub(super) fn thread_counts() -> Vec<u64> {
    let cores = cores();
    [1, 2, 4, 8, 16].into_iter().filter(|&count| count <= cores).collect()
}

/// The runs of one figure.
pub(super) struct Row {
    pub(super) record: Record,
    pub(super) runs: Vec<f64>,
}

impl Row {
    /// Returns the row of this record; a new one if there is none.
    pub(super) fn of<'a>(rows: &'a mut Vec<Self>, record: &Record) -> &'a mut Self {
        let conditions = |record: &Record| record.conditions().expect("numbers");
        let known = rows.iter().position(|row| conditions(&row.record) == conditions(record));
        let index = known.unwrap_or_else(|| {
            rows.push(Self { record: record.clone(), runs: Vec::new() });
            rows.len() - 1
        });
        &mut rows[index]
    }

    /// Returns the record of a time: that of the fastest run, since all else that a machine does only adds time.
    // MEASURED: where other programs had half of a core now and then, medians of five runs varied by 100 % (busy Emerald
    // Rapids, 2 cores). There the slowest run took at most 31 % longer than the fastest for half of the figures.
    pub(super) fn fastest(self) -> Record {
        let value = self.runs.iter().copied().fold(f64::INFINITY, f64::min);
        self.record.of_runs(value, &self.runs)
    }

    /// Returns the record of anything else, reproductions included: the median of the runs.
    pub(super) fn median(self) -> Record {
        let mut sorted = self.runs.clone();
        sorted.sort_by(f64::total_cmp);
        self.record.of_runs(sorted[sorted.len() / 2], &self.runs)
    }
}
