//! What the design promises, beside what was measured.

use std::collections::BTreeSet;

use super::contenders::{kind, ordered};
use super::figure::count;
use super::page::Page;
use super::records::Records;
use super::table::{Cell, Table};
use crate::record::Record;

/// The sizes of filter that targets are given for: from how many items to how many, and its name.
const SIZES: [(u64, u64, &str); 3] = [
    (100_000, 100_000, "100,000 items"),
    (10_000_000, 10_000_000, "10,000,000 items"),
    // What a machine's memory holds, 1 GiB at least.
    (500_000_000, u64::MAX, "1e9 items or so"),
];

/// An operation costs at most so many times the floor, at each size.
struct Target {
    kinds: &'static [&'static str],
    operations: &'static [&'static str],
    floor: &'static str,
    most: [f64; SIZES.len()],
}

const TARGETS: [Target; 7] = [
    Target {
        kinds: &["blocked"],
        operations: &["hit_many", "miss_many"],
        floor: "R",
        most: [1.3, 1.25, 1.1],
    },
    Target {
        kinds: &["blocked", "once"],
        operations: &["hit", "miss"],
        floor: "R",
        most: [1.8, 1.6, 1.4],
    },
    Target {
        kinds: &["blocked"],
        operations: &["insert_many"],
        floor: "W",
        most: [1.9, 1.8, 1.45],
    },
    Target { kinds: &["once"], operations: &["insert_many"], floor: "W", most: [1.4, 1.3, 1.3] },
    Target {
        kinds: &["blocked, alone", "once, alone"],
        operations: &["insert_many"],
        floor: "R",
        most: [1.6, 1.3, 1.1],
    },
    Target {
        kinds: &["cuckoo"],
        operations: &["hit_many", "miss_many"],
        floor: "R",
        most: [3.2, 3.0, 2.4],
    },
    // From empty to full, so against the reads that a search takes.
    Target { kinds: &["cuckoo"], operations: &["insert"], floor: "R", most: [22.0, 20.0, 8.0] },
];

/// Those that the targets of several threads are for.
const SHARED: [&str; 3] = ["blocked", "once", "cuckoo"];
/// A core builds a filter of so many million items a second.
const BUILT: f64 = 150.0;
/// Readers keep this share of their speed beside a writer.
const BESIDE_A_WRITER: f64 = 0.8;
/// Two threads do this many times the work of one.
const TWO_THREADS: f64 = 1.8;

/// The section, if there are records for it.
pub(super) fn add(page: &mut Page, records: &Records) {
    let tables: Vec<Table> =
        [costs(records), building(records), sharing(records)].into_iter().flatten().collect();
    if tables.is_empty() {
        return;
    }
    page.section("DESIGN targets", "What is measured, *of* what the design asks for.");
    tables.iter().for_each(|table| page.table(None, table));
}

/// The costs as multiples of the floors; none if there are no records for it.
fn costs(records: &Records) -> Option<Table> {
    let at_hand = ["operation", "alone", "size"].map(|axis| records.axis(axis)).concat();
    let mut table =
        Table { columns: SIZES.map(|(.., name)| name.to_owned()).to_vec(), rows: Vec::new() };
    for Target { kinds, operations, floor, most } in &TARGETS {
        for contender in of_kinds(&at_hand, kinds) {
            for operation in *operations {
                let cell = |((from, to, _), most): (&(u64, u64, _), &f64)| {
                    let mut of = at_hand.iter().filter(|r| r.contender == contender);
                    let record = of.find(|record| {
                        record.operation == *operation && (from..=to).contains(&&record.items)
                    })?;
                    let multiple = record.value / records.floor(record, floor)?.value;
                    Some(at_most(multiple, *most, floor))
                };
                let cells = cells(SIZES.iter().zip(most), cell);
                table.rows.push((format!("{contender}, `{operation}`"), cells));
            }
        }
    }
    kept(table)
}

/// Millions of items a second that a core builds a filter of; none if there are no records for it.
fn building(records: &Records) -> Option<Table> {
    let builds = records.axis("build");
    let sizes: BTreeSet<u64> = builds.iter().map(|record| record.items).collect();
    let columns = sizes.iter().map(|&items| format!("{} items", count(items))).collect();
    let mut table = Table { columns, rows: Vec::new() };
    let threads: BTreeSet<u64> = builds.iter().map(|record| record.threads).collect();
    for contender in of_kinds(&builds, &["blocked", "once"]) {
        for operation in ["collect", "collect in parallel"] {
            for &threads in &threads {
                let cell = |&items: &u64| {
                    let mut of = builds.iter().filter(|r| r.contender == contender);
                    let record = of.find(|record| {
                        (&*record.operation, record.items, record.threads)
                            == (operation, items, threads)
                    });
                    record.map(|record| at_least(1e3 / record.value, BUILT))
                };
                let by = super::times::threads(threads);
                table.rows.push((
                    format!("{contender}, {operation}, {by}, 10^6 items/s a core"),
                    cells(&sizes, cell),
                ));
            }
        }
    }
    kept(table)
}

/// What several threads keep and gain; none if there are no records for it.
fn sharing(records: &Records) -> Option<Table> {
    let (readers, threads) = (records.axis("readers"), records.axis("threads"));
    let sizes: BTreeSet<u64> = readers.iter().chain(&threads).map(|record| record.items).collect();
    let columns = sizes.iter().map(|&items| format!("{} items", count(items))).collect();
    let mut table = Table { columns, rows: Vec::new() };
    for contender in of_kinds(&readers, &SHARED) {
        let cell = |&items: &u64| {
            let of = readers.iter().filter(|r| r.contender == contender && r.items == items);
            let value = |operation| of.clone().find(|r| r.operation == operation).map(|r| r.value);
            let kept = value("hit").zip(value("hit beside a writer"));
            kept.map(|(alone, beside)| at_least(alone / beside, BESIDE_A_WRITER))
        };
        table
            .rows
            .push((format!("{contender}, readers beside a writer keep"), cells(&sizes, cell)));
    }
    for contender in of_kinds(&threads, &SHARED) {
        for operation in ["insert", "hit", "mixed"] {
            let cell = |&items: &u64| {
                let of = threads.iter().filter(|r| r.contender == contender && r.items == items);
                let of = of.filter(|r| r.operation == operation);
                let value = |threads| of.clone().find(|r| r.threads == threads).map(|r| r.value);
                value(1).zip(value(2)).map(|(one, two)| at_least(2.0 * one / two, TWO_THREADS))
            };
            table
                .rows
                .push((format!("{contender}, `{operation}`, two threads"), cells(&sizes, cell)));
        }
    }
    kept(table)
}

/// A cell for each column; empty where there is nothing.
fn cells<T>(columns: impl IntoIterator<Item = T>, cell: impl Fn(T) -> Option<String>) -> Vec<Cell> {
    columns.into_iter().map(|column| Cell::text(cell(column).unwrap_or_default())).collect()
}

/// The contenders of those kinds.
fn of_kinds<'a>(records: &[&'a Record], kinds: &[&str]) -> Vec<&'a str> {
    let mut names = ordered(records);
    // `blocked, alone` is another thing than `blocked`, `cuckoo 4 × 16` a shape of `cuckoo`.
    let alike =
        |of: &str, name: &str| kind(of) == kind(name) && of.contains(',') == name.contains(',');
    names.retain(|name| kinds.iter().any(|of| alike(of, name)));
    names
}

/// The table without columns and rows that hold nothing.
fn kept(mut table: Table) -> Option<Table> {
    table.rows.retain(|(_, cells)| cells.iter().any(|cell| !cell.shown.is_empty()));
    for column in (0..table.columns.len()).rev() {
        if table.rows.iter().all(|(_, cells)| cells[column].shown.is_empty()) {
            table.columns.remove(column);
            table.rows.iter_mut().for_each(|(_, cells)| drop(cells.remove(column)));
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

fn at_most(figure: f64, most: f64, unit: &str) -> String {
    format!("{figure:.2} {unit} of {most}: {}", verdict(figure - most))
}

fn at_least(figure: f64, least: f64) -> String {
    format!("{figure:.2} of {least}: {}", verdict(least - figure))
}

/// `over` is how far beyond the target the figure is.
fn verdict(over: f64) -> String {
    // No miss is by nothing.
    if over <= 0.0 { "met".to_owned() } else { format!("missed by {:.2}", over.max(0.01)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::{lines, record};

    fn shown(table: Option<Table>) -> Vec<(String, Vec<String>)> {
        let rows = table.into_iter().flat_map(|table| table.rows);
        rows.map(|(name, cells)| (name, cells.into_iter().map(|cell| cell.shown).collect()))
            .collect()
    }

    #[test]
    fn targets_are_met_or_missed_by_so_much() {
        assert_eq!(at_most(1.3, 1.3, "R"), "1.30 R of 1.3: met");
        assert_eq!(at_most(1.301, 1.3, "R"), "1.30 R of 1.3: missed by 0.01");
        assert_eq!(at_least(0.8, 0.8), "0.80 of 0.8: met");
        assert_eq!(at_least(1.25, 1.8), "1.25 of 1.8: missed by 0.55");
    }

    #[test]
    fn costs_are_held_against_the_floor_of_the_target() {
        let read = Records::parse(&lines(&[
            record("operation", "R", "hit", 2.0),
            record("operation", "W", "insert", 8.0),
            record("operation", "blocked", "hit", 3.0),
            record("operation", "blocked, alone", "hit", 3.0),
            record("operation", "cuckoo 4 × 16", "insert", 46.0),
            record("operation", "once", "insert_many", 8.0),
        ]));
        let cell = |name: &str, verdict: &str| (name.to_owned(), vec![verdict.to_owned()]);
        assert_eq!(
            shown(costs(&read)),
            [
                cell("blocked, `hit`", "1.50 R of 1.8: met"),
                cell("once, `insert_many`", "1.00 W of 1.4: met"),
                cell("cuckoo 4 × 16, `insert`", "23.00 R of 22: missed by 1.00"),
            ]
        );
        assert!(costs(&Records::default()).is_none());
    }

    #[test]
    fn what_one_thread_has_alone_and_builds_have_targets_of_their_own() {
        let read = Records::parse(&lines(&[
            record("alone", "R", "hit", 2.0),
            record("alone", "once, alone", "insert_many", 4.0),
            record("build", "once", "collect", 5.0),
        ]));
        let once = (
            "once, alone, `insert_many`".to_owned(),
            vec!["2.00 R of 1.6: missed by 0.40".to_owned()],
        );
        assert_eq!(shown(costs(&read)), [once]);
        let collect = "once, collect, 1 thread, 10^6 items/s a core".to_owned();
        assert_eq!(shown(building(&read)), [(collect, vec!["200.00 of 150: met".to_owned()])]);
    }

    #[test]
    fn sharing_is_a_ratio_of_two_records() {
        let mut two = record("threads", "once", "hit", 11.0);
        two.threads = 2;
        let read = Records::parse(&lines(&[
            record("readers", "once", "hit", 8.0),
            record("readers", "once", "hit beside a writer", 16.0),
            record("threads", "once", "hit", 10.0),
            two,
        ]));
        let found = shown(sharing(&read));
        assert_eq!(found[0].1, ["0.50 of 0.8: missed by 0.30"]);
        assert_eq!(found[1].1, ["1.82 of 1.8: met"]);
    }
}
