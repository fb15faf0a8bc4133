//! A page of the report: sections of text and tables, and the charts that they show.

use std::collections::BTreeMap;

use super::chart::Chart;
use super::contenders::ordered;
use super::table::{Cell, Table};
use crate::record::Record;

/// The order of a column, or of a table among several, and its title.
pub(super) type Place = (u64, String);

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

/// Groups the records by their place, in the order of places.
pub(super) fn groups<'a>(
    records: &[&'a Record],
    place: impl Fn(&Record) -> Place,
) -> Vec<(String, Vec<&'a Record>)> {
    let mut groups: BTreeMap<Place, Vec<&Record>> = BTreeMap::new();
    for &record in records {
        groups.entry(place(record)).or_default().push(record);
    }
    groups.into_iter().map(|((_, title), group)| (title, group)).collect()
}

/// Returns the place of a record by the first appearance of its title.
pub(super) fn appearance<'a>(
    records: &'a [&Record],
    title: impl Fn(&Record) -> &str + 'a,
) -> impl Fn(&Record) -> Place + 'a {
    move |record| {
        let place = records.iter().position(|other| title(other) == title(record));
        (place.unwrap_or(records.len()) as u64, title(record).to_owned())
    }
}

/// Returns a table with a row per contender and a column per place.
pub(super) fn pivot(
    records: &[&Record],
    column: impl Fn(&Record) -> Place,
    cell: impl Fn(&Record) -> Cell,
) -> Table {
    let columns = groups(records, column);
    let row = |name: &str| {
        let cells = columns.iter().map(|(_, group)| {
            let record = group.iter().find(|record| record.contender == name);
            record.map(|record| cell(record)).unwrap_or_default()
        });
        cells.collect()
    };
    let rows = ordered(records).into_iter().map(|name| (name.to_owned(), row(name))).collect();
    Table { columns: columns.into_iter().map(|(title, _)| title).collect(), rows }
}
