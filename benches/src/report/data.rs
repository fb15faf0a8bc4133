//! The figures of all sections, and how the report looks them up.

use std::collections::BTreeMap;
use std::path::Path;

use crate::measure::{self, Fallible};
use crate::record::{Record, Section};

/// The sections that were measured.
#[derive(Debug, Default)]
pub(super) struct Data(pub(super) BTreeMap<&'static str, Section>);

impl Data {
    /// Reads the files in a directory.
    pub(super) fn read(directory: &Path) -> Fallible<Self> {
        let mut sections = BTreeMap::new();
        for name in measure::names() {
            let path = directory.join(name).with_extension("csv");
            if path.exists() {
                sections.insert(name, Section::read(&path)?);
            }
        }
        if sections.is_empty() {
            return Err(format!("{}: no figures", directory.display()).into());
        }
        Ok(Self(sections))
    }

    pub(super) fn records(&self, section: &str) -> &[Record] {
        self.0.get(section).map_or(&[], |section| &section.records)
    }

    /// Returns the figures of a section on one thread, of filters with this number of items at 1 %.
    pub(super) fn at(&self, section: &str, items: u64) -> Point<'_> {
        Point { records: self.records(section), items, rate: 0.01, threads: 1 }
    }

    /// Returns those of the largest filters of a section.
    pub(super) fn at_most(&self, section: &str) -> Point<'_> {
        let items = self.records(section).iter().map(|record| record.items).max();
        self.at(section, items.unwrap_or_default())
    }
}

/// The figures of a section that were measured under the same conditions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<'a> {
    pub(super) records: &'a [Record],
    pub(super) items: u64,
    pub(super) rate: f64,
    pub(super) threads: u64,
}

impl<'a> Point<'a> {
    /// Returns all of them.
    pub(super) fn all(self) -> impl Iterator<Item = &'a Record> {
        self.records.iter().filter(move |record| {
            record.items == self.items && record.rate == self.rate && record.threads == self.threads
        })
    }

    pub(super) fn record(self, contender: &str, operation: &str) -> Option<&'a Record> {
        self.all().find(|record| record.contender == contender && record.operation == operation)
    }

    /// Returns the figure.
    pub(super) fn value(self, contender: &str, operation: &str) -> Option<f64> {
        Some(self.record(contender, operation)?.value)
    }

    /// Returns the figure divided by that of another operation.
    pub(super) fn ratio(self, figure: (&str, &str), by: (&str, &str)) -> Option<f64> {
        Some(self.value(figure.0, figure.1)? / self.value(by.0, by.1)?)
    }

    /// Returns the names of all contenders, each once.
    pub(super) fn contenders(self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for record in self.all() {
            if !names.contains(&&*record.contender) {
                names.push(&record.contender);
            }
        }
        names
    }
}
