//! The sections whose figures are times.

use super::contenders::{inserts, is_floor, kind};
use super::figure::{count, figure, percent, rate};
use super::machine::Cache;
use super::page::{Page, Place, groups, pivot};
use super::plots;
use super::records::Records;
use super::table::{Cell, Table};
use crate::record::Record;

/// The order in which operations stand; others come behind.
const OPERATIONS: [&str; 8] =
    ["insert", "hit", "miss", "half", "mixed", "insert_many", "hit_many", "miss_many"];

/// The order of the ways to build.
const BUILDS: [&str; 3] = ["collect", "collect, length unknown", "collect in parallel"];

/// A section of times: a table for each value of `apart`, in it a column for each of `column`.
struct Section {
    axis: &'static str,
    title: &'static str,
    sentence: &'static str,
    apart: fn(&Record) -> Place,
    column: fn(&Record) -> Place,
}

const SECTIONS: [Section; 10] = [
    Section {
        axis: "operation",
        title: "Operations",
        sentence: "What each operation costs one thread.",
        apart: items,
        column: operation,
    },
    Section {
        axis: "half",
        title: "Mixed streams",
        sentence: "What hits and misses cost in random order, half of them each, and what they cost apart.",
        apart: items,
        column: |record| {
            let (order, size) = size(record);
            let (place, operation) = operation(record);
            (order * 8 + place, format!("{operation}, {size}"))
        },
    },
    Section {
        axis: "alone",
        title: "Alone",
        sentence: "What inserts cost where no other thread may touch the filter.",
        apart: items,
        column: operation,
    },
    Section {
        axis: "build",
        title: "Builds",
        sentence: "What an item costs of a thread's time when a filter is made of a slice.",
        apart: items,
        column: |record| {
            let place = place(&BUILDS, &record.operation) * 64 + record.threads;
            (place, format!("{}, {}", record.operation, threads(record.threads)))
        },
    },
    Section {
        axis: "size",
        title: "Size",
        sentence: "What an operation costs as filters outgrow the caches.",
        apart: operation,
        column: |record| (record.items, count(record.items)),
    },
    Section {
        axis: "rate",
        title: "Rate",
        sentence: "What a smaller rate of false positives costs in time.",
        apart: operation_and_items,
        column: asked,
    },
    Section {
        axis: "memory",
        title: "Equal memory",
        sentence: "What the contenders make of the same memory.",
        apart: operation_and_items,
        column: bits,
    },
    Section {
        axis: "item",
        title: "Items",
        sentence: "What URLs cost more than numbers, by their hashing.",
        apart: items,
        column: |record| {
            let place = u64::from(record.item != "u64");
            (operation(record).0 * 8 + place, format!("`{}`, {}", record.operation, record.item))
        },
    },
    Section {
        axis: "distribution",
        title: "Distribution",
        sentence: "What it saves when few items are asked for often: zipf by rank, hot a few alone.",
        apart: items,
        column: |record| {
            let place = place(&["uniform", "zipf", "hot"], &record.distribution);
            (
                operation(record).0 * 8 + place,
                format!("`{}`, {}", record.operation, record.distribution),
            )
        },
    },
    Section {
        axis: "readers",
        title: "Readers beside a writer",
        sentence: "What a thread that inserts takes from those that ask.",
        apart: items,
        column: operation,
    },
];

/// All of them, as far as there are records.
pub(super) fn add(page: &mut Page, records: &Records, caches: &[Cache]) {
    for section in &SECTIONS {
        let all = records.axis(section.axis);
        if !all.is_empty() {
            add_section(page, records, caches, section, &all);
        }
    }
    let threads = records.axis("threads");
    if !threads.is_empty() {
        add_threads(page, &threads);
    }
}

fn add_section(
    page: &mut Page,
    records: &Records,
    caches: &[Cache],
    section: &Section,
    all: &[&Record],
) {
    let filters = all.iter().copied().filter(|record| !is_floor(&record.contender));
    let tables = groups(&filters.collect::<Vec<_>>(), section.apart).into_iter();
    let tables: Vec<_> = tables
        .map(|(title, group)| (title, time_table(records, &group, section.column), group))
        .collect();
    let wins = tables.iter().map(|(_, table, _)| table.wins(|name| kind(name).is_some()));
    let (won, contests) = wins.fold((0, 0), |sum, wins| (sum.0 + wins.0, sum.1 + wins.1));
    let won = if contests == 0 {
        String::new()
    } else {
        format!(" One of ours is fastest in {won} of {contests} columns.")
    };
    let sentence = section.sentence;
    let limited = |(_, table, _): &(_, Table, _)| table.rows.iter().any(|(name, _)| is_floor(name));
    let unit = if tables.iter().any(limited) { "ns (multiple of R or W)" } else { "ns" };
    page.section(section.title, &format!("{sentence}{won} In {unit}."));
    for (title, table, group) in tables {
        page.table(Some(&title), &table);
        if section.axis == "size" {
            let operation = &group[0].operation;
            page.chart(&format!("size-{operation}"), plots::size(all, operation, caches));
        }
    }
    let measured: Vec<&Record> =
        all.iter().copied().filter(|record| record.measured_rate.is_some()).collect();
    // Elsewhere the rate is the same for all, and memory with it.
    if matches!(section.axis, "rate" | "memory") && !measured.is_empty() {
        let cell = |record: &Record| {
            let measured = rate(record.measured_rate.unwrap_or_default());
            // At the same memory the lowest rate is the best.
            let rank = record.measured_rate.filter(|_| section.axis == "memory");
            Cell { shown: format!("{measured} ({})", figure(record.bits)), rank }
        };
        page.table(Some("Rate measured (bits an item)"), &pivot(&measured, section.column, cell));
    }
}

/// The times of filters, and below them the limits of the memory at the same points.
fn time_table(records: &Records, filters: &[&Record], column: fn(&Record) -> Place) -> Table {
    let time = |record: &Record| {
        let multiple = records.multiple(record);
        let multiple = multiple.map(|(multiple, floor)| format!(" ({} {floor})", figure(multiple)));
        let shown = format!("{}{}", figure(record.value), multiple.unwrap_or_default());
        Cell { shown, rank: Some(record.value) }
    };
    let mut table = pivot(filters, column, time);
    let points: Vec<&Record> = groups(filters, column).iter().map(|(_, group)| group[0]).collect();
    for name in ["R", "W"] {
        let value = |point: &&Record| {
            let floor =
                records.floor(point, name).filter(|_| name == "R" || inserts(&point.operation));
            Cell::text(floor.map(|floor| figure(floor.value)).unwrap_or_default())
        };
        let cells: Vec<Cell> = points.iter().map(value).collect();
        if cells.iter().any(|cell| !cell.shown.is_empty()) {
            table.rows.push((name.to_owned(), cells));
        }
    }
    table
}

fn add_threads(page: &mut Page, all: &[&Record]) {
    let sentence = "What more threads do: million operations a second by all together (multiple of one thread's).";
    page.section("Threads", sentence);
    for (title, group) in groups(all, operation_and_items) {
        let gain = |record: &Record| {
            let one =
                group.iter().find(|one| one.threads == 1 && one.contender == record.contender)?;
            (record.threads > 1).then(|| plots::throughput(record) / plots::throughput(one))
        };
        let cell = |record: &Record| {
            let throughput = plots::throughput(record);
            let gain = gain(record).map(|gain| format!(" ({})", figure(gain))).unwrap_or_default();
            Cell { shown: format!("{}{gain}", figure(throughput)), rank: Some(-throughput) }
        };
        let table = pivot(&group, |record| (record.threads, record.threads.to_string()), cell);
        page.table(Some(&format!("{title}, by threads")), &table);
        let name = format!("threads-{}-{}", group[0].operation, group[0].items);
        page.chart(&name, plots::threads(&group, &title));
    }
}

/// Where a name stands in a list, or behind it.
fn place(list: &[&str], name: &str) -> u64 {
    list.iter().position(|known| *known == name).unwrap_or(list.len()) as u64
}

fn operation(record: &Record) -> Place {
    (place(&OPERATIONS, &record.operation), format!("`{}`", record.operation))
}

fn items(record: &Record) -> Place {
    (record.items, format!("{} items", count(record.items)))
}

fn operation_and_items(record: &Record) -> Place {
    let (order, operation) = operation(record);
    (order, format!("{operation}, {} items", count(record.items)))
}

/// As it stands in titles.
pub(super) fn threads(count: u64) -> String {
    if count == 1 { "1 thread".to_owned() } else { format!("{count} threads") }
}

/// The rate asked for, large ones first.
pub(super) fn asked(record: &Record) -> Place {
    ((1.0 / record.rate) as u64, percent(record.rate))
}

/// The rate asked for, large ones first, or the memory, which stands behind the rate that it is for.
fn size(record: &Record) -> Place {
    if record.rate > 0.0 {
        let (order, rate) = asked(record);
        (2 * order, rate)
    } else {
        let (order, bits) = bits(record);
        // With `b` bits per item the best rate is 0.6185^b.
        (2 * (0.6185_f64.powi(-(order as i32))) as u64 + 1, bits)
    }
}

fn bits(record: &Record) -> Place {
    (record.bits as u64, format!("{} bits an item", record.bits))
}
