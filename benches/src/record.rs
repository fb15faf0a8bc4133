//! A measured figure, and the file of the figures of a section: CSV, after comments with the facts
//! of the run.

use core::error::Error;
use std::fs;
use std::path::Path;

use csv::ReaderBuilder;
use serde::{Deserialize, Serialize};

/// A figure, and all that it depends on. The fields are the columns of the file.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Record {
    /// Whose figure.
    pub(crate) contender: String,
    /// What is measured.
    pub(crate) operation: String,
    /// The number of items that the filter holds.
    pub(crate) items: u64,
    /// The requested rate of false positives; of a latency the share of slower inserts.
    pub(crate) rate: f64,
    /// Threads at work.
    pub(crate) threads: u64,
    /// The figure: of a time the fastest run, of all else the median.
    pub(crate) value: f64,
    /// The unit of the figure. Times are those of one operation of one thread.
    pub(crate) unit: String,
    /// The lowest and the highest run.
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    /// Bits of memory per item.
    pub(crate) bits: Option<f64>,
    /// The share of absent items that were found.
    pub(crate) measured_rate: Option<f64>,
}

impl Record {
    /// Returns a record without figures, of a time in nanoseconds on one thread.
    pub(crate) fn new(contender: &str, operation: &str, items: u64, rate: f64) -> Self {
        Self {
            contender: contender.to_owned(),
            operation: operation.to_owned(),
            items,
            rate,
            threads: 1,
            unit: "ns".to_owned(),
            ..Self::default()
        }
    }

    /// Returns the record with this only run.
    pub(crate) fn of(self, value: f64, unit: &str) -> Self {
        let value = short(value);
        Self { value, lowest: value, highest: value, unit: unit.to_owned(), ..self }
    }

    /// Returns whether both are figures of the same.
    fn same(&self, other: &Self) -> bool {
        (&self.contender, &self.operation) == (&other.contender, &other.operation)
            && (self.items, self.threads) == (other.items, other.threads)
            && self.rate == other.rate
    }
}

/// Returns the value with four digits: more differ from run to run.
fn short(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The runs of several figures.
#[derive(Debug, Default)]
pub(crate) struct Runs(Vec<(Record, Vec<f64>)>);

impl Runs {
    /// Adds a run of the figure under the conditions of this record.
    pub(crate) fn add(&mut self, record: Record, value: f64) {
        match self.0.iter_mut().find(|(other, _)| other.same(&record)) {
            Some((_, runs)) => runs.push(value),
            None => self.0.push((record, vec![value])),
        }
    }

    /// Returns the records of times: those of the fastest run, since all else that a machine does
    /// only adds time.
    // MEASURED: where other programs had half of a core now and then, medians of five runs varied
    // by 100 % (busy Emerald Rapids, 2 cores). There the slowest run took at most 31 % longer than
    // the fastest for half of the figures.
    pub(crate) fn fastest(self) -> Vec<Record> {
        self.records(|runs| runs[0])
    }

    /// Returns the records of anything else: the medians.
    pub(crate) fn medians(self) -> Vec<Record> {
        self.records(|runs| runs[runs.len() / 2])
    }

    fn records(self, value: impl Fn(&[f64]) -> f64) -> Vec<Record> {
        let record = |(record, mut runs): (Record, Vec<f64>)| {
            runs.sort_by(f64::total_cmp);
            let [lowest, highest] = [runs[0], runs[runs.len() - 1]].map(short);
            Record { value: short(value(&runs)), lowest, highest, ..record }
        };
        self.0.into_iter().map(record).collect()
    }
}

/// What a run was, as pairs of a name and a value.
pub(crate) type Facts = Vec<(String, String)>;

/// The figures of a section, and the facts of the run that measured them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Section {
    pub(crate) facts: Facts,
    pub(crate) records: Vec<Record>,
}

impl Section {
    pub(crate) fn read(path: &Path) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let text = fs::read_to_string(path)?;
        let facts = text.lines().filter_map(|line| line.strip_prefix("# ")?.split_once(": "));
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut reader = ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let records = reader.deserialize().collect::<Result<_, _>>();
        Ok(Self {
            facts,
            records: records.map_err(|error| format!("{}: {error}", path.display()))?,
        })
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        self.records.iter().try_for_each(|record| writer.serialize(record))?;
        let facts: String =
            self.facts.iter().map(|(name, value)| format!("# {name}: {value}\n")).collect();
        Ok(fs::write(path, facts + &String::from_utf8(writer.into_inner()?)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_read_as_it_was_written() {
        let mut runs = Runs::default();
        for value in [3.0, 1.23456, 2.0] {
            runs.add(Record::new("a \"b\", c", "insert", 1000, 1e-6), value);
            runs.add(Record { threads: 2, ..Record::new("a", "insert", 1000, 1e-6) }, 7.0);
        }
        let mut records = runs.fastest();
        assert_eq!((records.len(), records[0].value, records[0].highest), (2, 1.235, 3.0));
        records.push(Record { bits: Some(9.5), ..records[0].clone() }.of(4.0, "bits"));
        let facts = vec![("processor".to_owned(), "one: fast".to_owned())];
        let section = Section { facts, records };
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("a.csv");
        section.write(&path).expect("a file");
        assert_eq!(Section::read(&path).expect("the file"), section);
        fs::write(&path, "contender\n1\n").expect("a file");
        assert!(Section::read(&path).is_err());
    }

    #[test]
    fn a_median_is_the_middle_run() {
        let mut runs = Runs::default();
        for value in [9.0, 1.0, 2.0] {
            runs.add(Record::new("a", "b", 1, 0.0), value);
        }
        assert_eq!(runs.medians()[0].value, 2.0);
    }
}
