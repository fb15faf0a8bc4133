//! Tables in Markdown, with a row per contender; the best time of each column is in bold.

use super::data::Point;
use crate::figure::{figure, rate};
use crate::record::Record;

/// The contender that cannot win.
pub(super) const MEMORY: &str = "bare memory";

/// A table, column by column. Columns without a cell are left out.
#[derive(Clone, Debug)]
pub(super) struct Table {
    names: Vec<String>,
    columns: Vec<(String, Vec<String>)>,
}

impl Table {
    /// Begins a table with these rows.
    pub(super) fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), columns: Vec::new() }
    }

    /// Adds a column of texts.
    pub(super) fn texts(&mut self, head: &str, text: impl Fn(&str) -> Option<String>) {
        let cells: Vec<String> =
            self.names.iter().map(|name| text(name).unwrap_or_default()).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            self.columns.push((head.to_owned(), cells));
        }
    }

    /// Adds a column of times, of which the lowest wins.
    pub(super) fn times(&mut self, head: &str, time: impl Fn(&str) -> Option<f64>) {
        let filters = self.names.iter().filter(|name| *name != MEMORY);
        let best = filters.filter_map(|name| time(name)).min_by(f64::total_cmp);
        self.texts(head, |name| {
            let value = time(name)?;
            let wins = Some(value) == best && name != MEMORY;
            Some(if wins { format!("**{}**", figure(value)) } else { figure(value) })
        });
    }

    pub(super) fn markdown(&self) -> String {
        let heads: Vec<&str> = self.columns.iter().map(|(head, _)| &**head).collect();
        let mut text =
            format!("| | {} |\n|---|{}\n", heads.join(" | "), "---:|".repeat(heads.len()));
        for (row, name) in self.names.iter().enumerate() {
            text += &format!("| {name} |");
            for (_, cells) in &self.columns {
                let space = if cells[row].is_empty() { "" } else { " " };
                text += &format!("{space}{} |", cells[row]);
            }
            text.push('\n');
        }
        text
    }
}

/// Returns the table of these operations, with the memory and the measured rate.
pub(super) fn costs(point: Point<'_>, operations: &[&str]) -> Table {
    let mut table = Table::new(point.contenders());
    for operation in operations {
        table.times(&head(operation), |name| point.value(name, operation));
    }
    table.texts("bits per item", |name| {
        let &Record { bits, measured_rate, .. } = point.record(name, "contains, miss")?;
        // Fewer bits than any filter of that rate has: it does not report them all.
        let least = measured_rate.filter(|&rate| rate > 0.0).map_or(0.0, |rate| -rate.log2());
        bits.filter(|&bits| bits >= least).map(figure)
    });
    table.texts("measured rate", |name| {
        Some(rate(point.record(name, "contains, miss")?.measured_rate?))
    });
    table
}

/// Returns the head of the column of an operation: the method as code, then of which items.
pub(super) fn head(operation: &str) -> String {
    match operation.split_once(", ") {
        Some((method, of)) => format!("`{method}`, {of}"),
        None if operation.contains(' ') => operation.to_owned(),
        None => format!("`{operation}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_a_column_is_bold_and_memory_cannot_win() {
        let mut table = Table::new(["bare memory", "a", "c"]);
        let time = |name: &str| if name == MEMORY { 0.5 } else { 1.0 };
        table.times("hit", |name| (name != "c").then_some(time(name)));
        table.times("no", |_| None);
        table.texts("why", |name| (name == "c").then(|| "so".to_owned()));
        let text = "| | hit | why |\n|---|---:|---:|\n| bare memory | 0.50 | |\n\
                    | a | **1.00** | |\n| c | | so |\n";
        assert_eq!(table.markdown(), text);
        let heads = ["insert", "contains, hit", "nine to one"].map(head);
        assert_eq!(heads, ["`insert`", "`contains`, hit", "nine to one"]);
    }
}
