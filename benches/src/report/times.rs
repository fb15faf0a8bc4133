//! The sections whose figures are times, or throughputs.

use super::contenders::{is_floor, kind, writes};
use super::figure::{count, figure, percent, rate};
use super::machine::Cache;
use super::page::{Key, Page, groups, pivot};
use super::plots::{self, throughput};
use super::records::Records;
use super::table::{Cell, Table};
use crate::operation::Operation;
use crate::record::Record;

/// A section: a table for each group by `apart`, with a column for each group by `columns`.
struct Section {
    axis: &'static str,
    title: &'static str,
    apart: &'static [Key],
    columns: &'static [Key],
    sentence: &'static str,
}

macro_rules! sections {
    ($($axis:literal $title:literal, by $apart:tt and $columns:tt: $sentence:literal;)*) => {
        const SECTIONS: &[Section] = &[$(Section {
            axis: $axis, title: $title, apart: &$apart, columns: &$columns, sentence: $sentence,
        }),*];
    };
}

sections! {
    "operation" "Operations", by [items] and [operation]:
        "The cost of each operation on one thread.";
    "single_table" "Single operations", by [items] and [operation]:
        "The cost of an operation of the best on one thread, and of ours with exclusive access, which took turns.";
    "half" "Mixed streams", by [items] and [size, operation]:
        "The cost of hits and misses in random order, half of them each, and of each by itself.";
    "exclusive" "Exclusive access", by [items] and [operation]:
        "The cost of inserts where no other thread may access the filter.";
    "build" "Builds", by [items] and [way, threads]:
        "The thread time per item when a filter is built from a slice.";
    "size" "Size", by [operation] and [number]:
        "The cost of an operation as filters outgrow the caches.";
    "rate" "Rate", by [operation, items] and [asked]:
        "The cost of a smaller rate of false positives in time.";
    "memory" "Equal memory", by [operation, items] and [bits]:
        "Times and rates of the contenders with the same memory.";
    "item" "Items", by [items] and [operation, item]:
        "The cost of hashing URLs instead of numbers.";
    "distribution" "Distribution", by [items] and [operation, distribution]:
        "The cost of hits when few items are queried often: zipf by rank, hot one item only.";
    "readers" "Readers during writes", by [items] and [operation]:
        "The cost of queries while one thread inserts.";
    "cuckoo" "Filters with fingerprints", by [items, asked] and [operation]:
        "The cost of operations from empty to full and, by removals, to empty; at the lowest rate next to ours \
         without fingerprints.";
    "cuckoo_readers" "Readers during inserts and removals", by [items] and [operation]:
        "The cost of queries while one thread inserts and removes in turn, and of its writes. The memory is \
         two random lines read per query while bits are set in one line per write, at the pace of cuckoo.";
    "threads" "Threads", by [operation, items, sameness] and [thread_count]:
        "Million operations per second by all threads together (multiple of one thread's).";
    "cuckoo_threads" "Cuckoo filters by threads", by [operation, items, sameness] and [thread_count]:
        "Million operations per second by all threads together (multiple of one thread's).";
}

/// Adds all sections that have records.
pub(super) fn add(page: &mut Page, records: &Records, caches: &[Cache]) {
    for section in SECTIONS {
        let all = records.axis(section.axis);
        if !all.is_empty() {
            add_section(page, records, caches, section, &all);
        }
    }
}

fn add_section(
    page: &mut Page,
    records: &Records,
    caches: &[Cache],
    section: &Section,
    all: &[&Record],
) {
    let &Section { axis, title, apart, columns, sentence } = section;
    let by_threads = axis.ends_with("threads");
    let filters = all.iter().copied().filter(|record| !["R", "W"].contains(&&*record.contender));
    let table = |(title, group): (String, Vec<_>)| {
        let table =
            if by_threads { throughputs(&group, columns) } else { times(records, &group, columns) };
        (title, table, group)
    };
    let tables = groups(&filters.collect::<Vec<_>>(), apart).into_iter().map(table);
    let tables: Vec<(String, Table, Vec<&Record>)> = tables.collect();
    let mut sentence = sentence.to_owned();
    if !by_threads {
        let wins = tables.iter().map(|(_, table, _)| table.wins(|name| kind(name).is_some()));
        let (won, contests) = wins.fold((0, 0), |sum, wins| (sum.0 + wins.0, sum.1 + wins.1));
        if contests > 0 {
            sentence += &format!(" One of ours is fastest in {won} of {contests} columns.");
        }
        let mut rows = tables.iter().flat_map(|(_, table, _)| &table.rows);
        let limited = rows.any(|(name, _)| is_floor(name));
        sentence += if limited { " In ns (multiple of R or W)." } else { " In ns." };
    }
    page.section(title, &sentence);
    for (title, table, group) in tables {
        let suffix = if by_threads { ", by threads" } else { "" };
        page.table(Some(&(title.clone() + suffix)), &table);
        let Record { operation, items, .. } = group[0];
        match axis {
            "size" => {
                page.chart(&format!("size-{operation}"), plots::size(all, operation, caches));
            }
            "threads" => {
                page.chart(&format!("threads-{operation}-{items}"), plots::threads(&group, &title));
            }
            _ => {}
        }
    }
    let measured: Vec<&Record> =
        all.iter().copied().filter(|record| record.measured_rate.is_some()).collect();
    // Elsewhere the rate is the same for all, and so is the memory.
    if matches!(axis, "rate" | "memory" | "cuckoo") && !measured.is_empty() {
        let cell = |record: &Record| {
            let measured = rate(record.measured_rate.unwrap_or_default());
            // With the same memory the lowest rate is the best.
            let rank = record.measured_rate.filter(|_| axis == "memory");
            Cell { shown: format!("{measured} ({})", figure(record.bits)), rank }
        };
        let columns = if axis == "cuckoo" { apart } else { columns };
        page.table(Some("Rate measured (bits per item)"), &pivot(&measured, columns, cell));
    }
    let mut filled = all.to_vec();
    filled.retain(|record| record.refused.is_some() && axis == "cuckoo");
    if !filled.is_empty() {
        let title = "Inserts refused per fill; or taken for known, by filters that do not store an item twice";
        let cell = |record: &Record| figure(record.refused.unwrap_or_default()).into();
        page.table(Some(title), &pivot(&filled, apart, cell));
    }
}

/// Returns the times of filters, and below them the limits of the memory at the same points.
fn times(records: &Records, filters: &[&Record], columns: &[Key]) -> Table {
    let time = |record: &Record| {
        let multiple = records.multiple(record);
        let multiple = multiple.map(|(multiple, floor)| format!(" ({} {floor})", figure(multiple)));
        let shown = format!("{}{}", figure(record.value), multiple.unwrap_or_default());
        Cell { shown, rank: (!is_floor(&record.contender)).then_some(record.value) }
    };
    let mut table = pivot(filters, columns, time);
    let points: Vec<&Record> = groups(filters, columns).iter().map(|(_, group)| group[0]).collect();
    for name in ["R", "W"] {
        let value = |point: &&Record| {
            let limits = name == "R" || writes(&point.operation);
            let floor = records.floor(point, name).filter(|_| limits);
            floor.map(|floor| figure(floor.value).into()).unwrap_or_default()
        };
        let cells: Vec<Cell> = points.iter().map(value).collect();
        if cells.iter().any(|cell| !cell.shown.is_empty()) {
            table.rows.push((name.to_owned(), cells));
        }
    }
    table
}

/// Returns the throughputs of filters, also as multiples of one thread's.
fn throughputs(filters: &[&Record], columns: &[Key]) -> Table {
    pivot(filters, columns, |record| {
        let mut own = filters.iter().filter(|one| one.contender == record.contender);
        let one = own.find(|one| one.threads == 1).filter(|_| record.threads > 1);
        let gain = one.map(|one| throughput(record) / throughput(one));
        let gain = gain.map(|gain| format!(" ({})", figure(gain))).unwrap_or_default();
        let rank = (!is_floor(&record.contender)).then_some(-throughput(record));
        Cell { shown: format!("{}{gain}", figure(throughput(record))), rank }
    })
}

/// Returns the index of a name in a list, or the length of the list.
fn place(list: &[&str], name: &str) -> u64 {
    list.iter().position(|known| *known == name).unwrap_or(list.len()) as u64
}

fn operation(record: &Record) -> (u64, String) {
    let order = Operation::ALL.map(Operation::name);
    (place(&order, &record.operation), format!("`{}`", record.operation))
}

/// A way to build.
fn way(record: &Record) -> (u64, String) {
    let order = ["collect", "collect, length unknown", "collect in parallel"];
    (place(&order, &record.operation), record.operation.clone())
}

fn items(record: &Record) -> (u64, String) {
    (record.items, format!("{} items", count(record.items)))
}

fn number(record: &Record) -> (u64, String) {
    (record.items, count(record.items))
}

fn item(record: &Record) -> (u64, String) {
    (u64::from(record.item != "u64"), record.item.clone())
}

fn distribution(record: &Record) -> (u64, String) {
    (place(&["uniform", "zipf", "hot"], &record.distribution), record.distribution.clone())
}

/// Several threads may all query one item.
fn sameness(record: &Record) -> (u64, String) {
    let same = record.distribution == "hot";
    (u64::from(same), if same { "all the same item" } else { "" }.to_owned())
}

pub(super) fn threads(record: &Record) -> (u64, String) {
    let unit = if record.threads == 1 { "thread" } else { "threads" };
    (record.threads, format!("{} {unit}", record.threads))
}

fn thread_count(record: &Record) -> (u64, String) {
    (record.threads, record.threads.to_string())
}

/// The requested rate, large ones first.
pub(super) fn asked(record: &Record) -> (u64, String) {
    ((1.0 / record.rate) as u64, percent(record.rate))
}

fn bits(record: &Record) -> (u64, String) {
    (record.bits as u64, format!("{} bits per item", record.bits))
}

/// The requested rate, or the memory, after the rate that it allows.
fn size(record: &Record) -> (u64, String) {
    if record.rate > 0.0 {
        let (order, rate) = asked(record);
        (2 * order, rate)
    } else {
        let (order, bits) = bits(record);
        // With `b` bits per item the best rate is 0.6185^b.
        (2 * (0.6185_f64.powi(-(order as i32))) as u64 + 1, bits)
    }
}
