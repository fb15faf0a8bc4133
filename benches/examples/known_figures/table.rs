//! The table: cases with their rows, in columns.

use std::fmt;

/// The names of the columns.
const HEAD: [&str; 4] = ["case", "published", "formula", "ours"];

/// The rows of all cases.
#[derive(Debug, Default)]
pub(crate) struct Table {
    lines: Vec<Line>,
}

/// A line of the table.
#[derive(Debug)]
enum Line {
    /// The title of the rows below it.
    Title(String),
    Row([String; 4]),
    /// A remark on the rows above it.
    Note(String),
}

impl Table {
    /// Begins a case.
    pub(crate) fn title(&mut self, text: &str) {
        self.lines.push(Line::Title(text.to_owned()));
    }

    /// Adds a row: what is measured, the published figure, what follows from the formula, and what
    /// our filters have.
    pub(crate) fn row(
        &mut self,
        case: impl Into<String>,
        published: impl Into<String>,
        formula: impl Into<String>,
        ours: impl Into<String>,
    ) {
        self.lines.push(Line::Row([case.into(), published.into(), formula.into(), ours.into()]));
    }

    /// Adds a remark.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Note(text.into()));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = HEAD.map(str::to_owned);
        let rows = self.lines.iter().filter_map(|line| match line {
            Line::Row(row) => Some(row),
            _ => None,
        });
        let mut widths = [0; 4];
        for row in rows.chain([&head]) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let [one, two, three, _] = widths;
        let columns = |[case, published, formula, ours]: &[String; 4]| {
            format!("  {case:<one$}  {published:<two$}  {formula:<three$}  {ours}")
        };
        writeln!(f, "{}", columns(&head))?;
        for line in &self.lines {
            match line {
                Line::Row(row) => writeln!(f, "{}", columns(row).trim_end())?,
                Line::Title(text) => writeln!(f, "\n{text}")?,
                Line::Note(text) => writeln!(f, "  ({text})")?,
            }
        }
        Ok(())
    }
}

/// Returns a rate in percent, in three digits.
pub(crate) fn per_cent(rate: f64) -> String {
    let per_cent = 100.0 * rate;
    // The place of the first digit: two more follow it.
    let places =
        if per_cent > 0.0 { (2.0 - per_cent.log10().floor()).clamp(0.0, 12.0) } else { 0.0 };
    format!("{per_cent:.*} %", places as usize)
}

/// Returns a number with commas.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number of bytes in decimal units, in three digits.
pub(crate) fn bytes(bytes: f64) -> String {
    let (unit, name) = match bytes {
        1e9.. => (1e9, "GB"),
        1e6.. => (1e6, "MB"),
        1e3.. => (1e3, "KB"),
        _ => (1.0, "B"),
    };
    let value = bytes / unit;
    let places = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    let text = format!("{value:.places$}");
    let text = if places > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [8.886e-5, 0.000_303_4, 0.2329].map(per_cent),
            ["0.00889 %", "0.0303 %", "23.3 %"]
        );
        assert_eq!([per_cent(0.0), per_cent(1.0)], ["0 %", "100 %"]);
        assert_eq!([7, 999, 1000, 100_000_000].map(number), ["7", "999", "1,000", "100,000,000"]);
        assert_eq!(
            [5e9, 1.25e9, 195_000.0, 35.6].map(bytes),
            ["5 GB", "1.25 GB", "195 KB", "35.6 B"]
        );
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::default();
        table.title("a title");
        table.row("µ", "1", "2", "3");
        table.row("long", "1", "2", "3");
        let text = table.to_string();
        let at: Vec<_> =
            text.lines().filter_map(|line| line.chars().position(|c| c == '3')).collect();
        assert_eq!((at.len(), at[0]), (2, at[1]));
    }
}
