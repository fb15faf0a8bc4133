//! Tables in Markdown, the best figure of each column in bold.

use core::fmt::Write as _;

/// A cell, and its rank among those of its column: the lowest wins.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cell {
    pub(super) shown: String,
    pub(super) rank: Option<f64>,
}

/// A table with a row per contender. Rows without ranks cannot win.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<(String, Vec<Cell>)>,
}

impl<T: Into<String>> From<T> for Cell {
    /// Returns a cell without a rank.
    fn from(shown: T) -> Self {
        Self { shown: shown.into(), rank: None }
    }
}

impl Table {
    pub(super) fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    pub(super) fn add(&mut self, name: String, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        self.rows.push((name, cells.into_iter().map(Into::into).collect()));
    }

    /// Returns the best rank of each column; none where fewer than two rows have one.
    fn best(&self) -> Vec<Option<f64>> {
        let ranks =
            |column: usize| self.rows.iter().filter_map(move |(_, cells)| cells[column].rank);
        (0..self.columns.len())
            .map(|column| {
                ranks(column).min_by(f64::total_cmp).filter(|_| ranks(column).count() > 1)
            })
            .collect()
    }

    /// Returns in how many columns one of `ours` wins, and the number of columns with a winner.
    pub(super) fn wins(&self, ours: impl Fn(&str) -> bool) -> (usize, usize) {
        let best = self.best();
        let won = best.iter().enumerate().filter(|(column, best)| {
            let mut ours = self.rows.iter().filter(|(name, _)| ours(name));
            best.is_some() && ours.any(|(_, cells)| cells[*column].rank == **best)
        });
        (won.count(), best.iter().flatten().count())
    }

    pub(super) fn markdown(&self) -> String {
        let best = self.best();
        let mut text = format!(
            "| | {} |\n|---|{}\n",
            self.columns.join(" | "),
            "---:|".repeat(self.columns.len())
        );
        for (name, cells) in &self.rows {
            // `Mutex<HashSet>` is no tag.
            let _ = write!(text, "| {} |", name.replace('<', "&lt;"));
            for (cell, best) in cells.iter().zip(&best) {
                let bold = if cell.rank.is_some() && cell.rank == *best { "**" } else { "" };
                let space = if cell.shown.is_empty() { "" } else { " " };
                let _ = write!(text, "{space}{bold}{}{bold} |", cell.shown);
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let cell = |value: f64| Cell { shown: value.to_string(), rank: Some(value) };
        let mut table = Table::new(["hit", "miss"]);
        table.add("once".to_owned(), [cell(3.0), cell(5.0)]);
        table.add("peer<T>".to_owned(), [cell(4.0), Cell::default()]);
        table.add("R".to_owned(), ["1", "1"]);
        table
    }

    #[test]
    fn the_best_of_a_column_is_bold() {
        let markdown = "| | hit | miss |\n|---|---:|---:|\n| once | **3** | 5 |\n| peer&lt;T> | 4 | |\n| R | 1 | 1 |\n";
        assert_eq!(table().markdown(), markdown);
    }

    #[test]
    fn only_columns_with_two_ranks_have_a_winner() {
        assert_eq!(table().wins(|name| name == "once"), (1, 1));
        assert_eq!(table().wins(|name| name == "peer<T>"), (0, 1));
    }
}
