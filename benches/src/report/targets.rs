//! The targets of the design, and whether the measurements meet them.

use std::collections::BTreeSet;

use super::contenders::{kind, ordered};
use super::figure::count;
use super::page::{Page, groups};
use super::records::Records;
use super::table::Table;
use crate::record::Record;

/// A column: the least and the largest number of items, and the title.
type Column = (u64, u64, String);

/// The sizes of filter that have targets.
const SIZES: [(u64, u64, &str); 3] = [
    (100_000, 100_000, "100,000 items"),
    (10_000_000, 10_000_000, "10,000,000 items"),
    // The largest filters that fit in a machine's memory, at least 1 GiB.
    (500_000_000, u64::MAX, "1e9 items or so"),
];

/// Kinds of filter, their operations, the floor, and the most that an operation may cost at each
/// size, as a multiple of the floor.
type Target = (&'static [&'static str], &'static [&'static str], &'static str, [f64; SIZES.len()]);

const TARGETS: [Target; 7] = [
    (&["blocked"], &["hit_many", "miss_many"], "R", [1.3, 1.25, 1.1]),
    (&["blocked", "once"], &["hit", "miss"], "R", [1.8, 1.6, 1.4]),
    (&["blocked"], &["insert_many_with"], "W", [1.9, 1.8, 1.45]),
    (&["once"], &["insert_many_with"], "W", [1.4, 1.3, 1.3]),
    (&["blocked, exclusive", "once, exclusive"], &["insert_many_with"], "R", [1.6, 1.3, 1.1]),
    (&["cuckoo"], &["hit_many", "miss_many"], "R", [3.2, 3.0, 2.4]),
    // From empty to full, so compared with the reads that a search takes.
    (&["cuckoo"], &["insert"], "R", [22.0, 20.0, 8.0]),
];

/// The filters with targets for several threads.
const SHARED: [&str; 3] = ["blocked", "once", "cuckoo"];
/// A core builds a filter of at least this number of million items per second.
const BUILT: f64 = 150.0;
/// Readers keep this share of their speed while a thread writes.
const DURING_WRITES: f64 = 0.8;
/// Two threads do at least this multiple of the work of one.
const TWO_THREADS: f64 = 1.8;

/// Adds the section, if there are records for it.
pub(super) fn add(page: &mut Page, records: &Records) {
    let tables: Vec<Table> =
        [costs(records), building(records), sharing(records)].into_iter().flatten().collect();
    if tables.is_empty() {
        return;
    }
    page.section("DESIGN targets", "The measured figure, *of* the target of the design.");
    tables.iter().for_each(|table| page.table(None, table));
}

/// Returns the costs as multiples of the floors; none if there are no records for them.
fn costs(records: &Records) -> Option<Table> {
    let timed = records.axes(&["operation", "exclusive", "size"]);
    let columns = SIZES.map(|(least, most, title)| (least, most, title.to_owned()));
    let mut rows = Vec::new();
    for (kinds, operations, floor, most) in &TARGETS {
        for contender in of_kinds(&timed, kinds) {
            for operation in *operations {
                let cell = |(column, most): (&Column, &f64)| {
                    let record = find(&timed, contender, operation, column, None)?;
                    let multiple = record.value / records.floor(record, floor)?.value;
                    Some(at_most(multiple, *most, floor))
                };
                let cells = columns.iter().zip(most).map(cell).collect();
                rows.push((format!("{contender}, `{operation}`"), cells));
            }
        }
    }
    table(&columns, rows)
}

/// Returns the millions of items per second of which a core builds a filter; none if there are no
/// records for them.
fn building(records: &Records) -> Option<Table> {
    let builds = records.axis("build");
    let columns = by_items(&builds);
    let mut rows = Vec::new();
    for contender in of_kinds(&builds, &["blocked", "once"]) {
        for operation in ["collect", "collect in parallel"] {
            for (by, group) in groups(&builds, &[super::times::threads]) {
                let cell = |column: &Column| {
                    let record = find(&group, contender, operation, column, None)?;
                    Some(at_least(1e3 / record.value, BUILT))
                };
                let name = format!("{contender}, {operation}, {by}, 10^6 items/s per core");
                rows.push((name, columns.iter().map(cell).collect()));
            }
        }
    }
    table(&columns, rows)
}

/// Returns what several threads keep and gain; none if there are no records for it.
fn sharing(records: &Records) -> Option<Table> {
    let (readers, threads) = (records.axis("readers"), records.axis("threads"));
    let columns = by_items(&[&readers[..], &threads].concat());
    let mut rows = Vec::new();
    for contender in of_kinds(&readers, &SHARED) {
        let cell = |column: &Column| {
            let nanos = |operation| Some(find(&readers, contender, operation, column, None)?.value);
            Some(at_least(nanos("hit")? / nanos("hit during writes")?, DURING_WRITES))
        };
        let name = format!("{contender}, readers keep during writes");
        rows.push((name, columns.iter().map(cell).collect()));
    }
    for contender in of_kinds(&threads, &SHARED) {
        for operation in ["insert", "hit", "mixed"] {
            let cell = |column: &Column| {
                let of = |count| find(&threads, contender, operation, column, Some(count));
                Some(at_least(2.0 * of(1)?.value / of(2)?.value, TWO_THREADS))
            };
            let name = format!("{contender}, `{operation}`, two threads");
            rows.push((name, columns.iter().map(cell).collect()));
        }
    }
    table(&columns, rows)
}

/// Returns the first record of an operation in a column, of this number of threads if it is given.
fn find<'a>(
    records: &[&'a Record],
    contender: &str,
    operation: &str,
    &(least, most, _): &Column,
    threads: Option<u64>,
) -> Option<&'a Record> {
    let of = records.iter().filter(|r| r.contender == contender && r.operation == operation);
    let mut of = of.filter(|r| (least..=most).contains(&r.items));
    of.find(|r| threads.is_none_or(|count| r.threads == count)).copied()
}

/// Returns a column for each number of items.
fn by_items(records: &[&Record]) -> Vec<Column> {
    let sizes: BTreeSet<u64> = records.iter().map(|record| record.items).collect();
    sizes.into_iter().map(|items| (items, items, format!("{} items", count(items)))).collect()
}

/// Returns the table without empty columns and rows.
fn table(columns: &[Column], mut rows: Vec<(String, Vec<Option<String>>)>) -> Option<Table> {
    rows.retain(|(_, cells)| cells.iter().any(Option::is_some));
    let shown = |column: &usize| rows.iter().any(|(_, cells)| cells[*column].is_some());
    let shown: Vec<usize> = (0..columns.len()).filter(shown).collect();
    let mut table = Table::new(shown.iter().map(|&column| columns[column].2.as_str()));
    for (name, cells) in rows {
        table.add(name, shown.iter().map(|&column| cells[column].clone().unwrap_or_default()));
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Returns the contenders of these kinds.
fn of_kinds<'a>(records: &[&'a Record], kinds: &[&str]) -> Vec<&'a str> {
    let mut names = ordered(records);
    // `blocked, exclusive` differs from `blocked`; `cuckoo 4 × 16` is a shape of `cuckoo`.
    let alike =
        |of: &str, name: &str| kind(of) == kind(name) && of.contains(',') == name.contains(',');
    names.retain(|name| kinds.iter().any(|of| alike(of, name)));
    names
}

fn at_most(figure: f64, most: f64, unit: &str) -> String {
    format!("{figure:.2} {unit} of {most}: {}", verdict(figure - most))
}

fn at_least(figure: f64, least: f64) -> String {
    format!("{figure:.2} of {least}: {}", verdict(least - figure))
}

/// Returns whether a target is met, where `over` is how far beyond it the figure is.
fn verdict(over: f64) -> String {
    // A miss is never shown as a miss by 0.00.
    if over <= 0.0 { "met".to_owned() } else { format!("missed by {:.2}", over.max(0.01)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::{lines, record};

    fn shown(table: Option<Table>) -> String {
        table.map(|table| table.markdown()).unwrap_or_default()
    }

    #[test]
    fn targets_are_met_or_missed_by_an_amount() {
        assert_eq!(at_most(1.3, 1.3, "R"), "1.30 R of 1.3: met");
        assert_eq!(at_most(1.301, 1.3, "R"), "1.30 R of 1.3: missed by 0.01");
        assert_eq!(at_least(0.8, 0.8), "0.80 of 0.8: met");
        assert_eq!(at_least(1.25, 1.8), "1.25 of 1.8: missed by 0.55");
        assert_eq!(shown(costs(&Records::default())), "");
    }

    #[test]
    fn each_kind_of_target_compares_two_records() {
        let two = Record { threads: 2, ..record("threads", "once", "hit", 11.0) };
        let read = Records::parse(&lines(&[
            record("operation", "R", "hit", 2.0),
            record("operation", "W", "insert", 8.0),
            record("operation", "blocked", "hit", 3.0),
            record("operation", "blocked, exclusive", "hit", 3.0),
            record("operation", "cuckoo 4 × 16", "insert", 46.0),
            record("operation", "once", "insert_many_with", 8.0),
            record("exclusive", "once, exclusive", "insert_many_with", 4.0),
            record("build", "once", "collect", 5.0),
            record("readers", "once", "hit", 8.0),
            record("readers", "once", "hit during writes", 16.0),
            record("threads", "once", "hit", 10.0),
            two,
        ]));
        let head = "| | 100,000 items |\n|---|---:|\n";
        let costs_rows = "\
            | blocked, `hit` | 1.50 R of 1.8: met |\n\
            | once, `insert_many_with` | 1.00 W of 1.4: met |\n\
            | once, exclusive, `insert_many_with` | 2.00 R of 1.6: missed by 0.40 |\n\
            | cuckoo 4 × 16, `insert` | 23.00 R of 22: missed by 1.00 |\n";
        assert_eq!(shown(costs(&read)), format!("{head}{costs_rows}"));
        let built = "| once, collect, 1 thread, 10^6 items/s per core | 200.00 of 150: met |\n";
        assert_eq!(shown(building(&read)), format!("{head}{built}"));
        let shared = "\
            | once, readers keep during writes | 0.50 of 0.8: missed by 0.30 |\n\
            | once, `hit`, two threads | 1.82 of 1.8: met |\n";
        assert_eq!(shown(sharing(&read)), format!("{head}{shared}"));
    }
}
