//! A page of the report: sections of text and tables, and the charts that they show.

use super::chart::Chart;
use super::contenders::ordered;
use super::table::{Cell, Table};
use crate::record::Record;

/// What records are grouped by: returns the order of a record's group, and its title.
pub(super) type Key = fn(&Record) -> (u64, String);

/// Text, and its charts by the names of their files.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) text: String,
    pub(super) charts: Vec<(String, Chart)>,
}

impl Page {
    /// Begins a section with a sentence on what it shows.
    pub(super) fn section(&mut self, title: &str, sentence: &str) {
        self.text += &format!("\n## {title}\n\n{sentence}\n");
    }

    pub(super) fn table(&mut self, title: Option<&str>, table: &Table) {
        let title = title.map(|title| format!("### {title}\n\n")).unwrap_or_default();
        self.text += &format!("\n{title}{}", table.markdown());
    }

    pub(super) fn chart(&mut self, name: &str, chart: Option<Chart>) {
        if let Some(chart) = chart {
            self.text += &format!("\n![{}](plots/{name}.svg)\n", chart.title);
            self.charts.push((name.to_owned(), chart));
        }
    }
}

/// Groups the records by all of the keys, in the order of the first key, then of the next; groups
/// of the same order stay in the order of their first records. A title is those of the keys.
pub(super) fn groups<'a>(records: &[&'a Record], keys: &[Key]) -> Vec<(String, Vec<&'a Record>)> {
    let mut groups: Vec<(Vec<u64>, String, Vec<&Record>)> = Vec::new();
    for &record in records {
        let (order, titles): (_, Vec<String>) = keys.iter().map(|key| key(record)).unzip();
        let titles: Vec<String> = titles.into_iter().filter(|title| !title.is_empty()).collect();
        let title = titles.join(", ");
        match groups.iter_mut().find(|group| group.1 == title) {
            Some((_, _, group)) => group.push(record),
            None => groups.push((order, title, vec![record])),
        }
    }
    groups.sort_by(|a, b| a.0.cmp(&b.0));
    groups.into_iter().map(|(_, title, group)| (title, group)).collect()
}

/// Returns a table with a row per contender and a column per group.
pub(super) fn pivot(records: &[&Record], columns: &[Key], cell: impl Fn(&Record) -> Cell) -> Table {
    let columns = groups(records, columns);
    let row = |name: &str| {
        let of = |group: &Vec<&Record>| {
            let record = group.iter().find(|record| record.contender == name);
            record.map(|record| cell(record)).unwrap_or_default()
        };
        columns.iter().map(|(_, group)| of(group)).collect()
    };
    let rows = ordered(records).into_iter().map(|name| (name.to_owned(), row(name))).collect();
    Table { columns: columns.into_iter().map(|(title, _)| title).collect(), rows }
}
