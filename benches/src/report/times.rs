//! The sections whose figures are times.

use super::contenders::{is_floor, kind, writes};
use super::figure::{count, figure, percent, rate};
use super::machine::Cache;
use super::page::{Page, Place, groups, pivot};
use super::plots;
use super::records::Records;
use super::table::{Cell, Table};
use crate::operation::Operation;
use crate::record::Record;

/// The order of the ways to build.
const BUILDS: [&str; 3] = ["collect", "collect, length unknown", "collect in parallel"];

/// A section of times: a table for each value of `apart`, with a column for each value of `column`.
struct Section {
    axis: &'static str,
    title: &'static str,
    apart: fn(&Record) -> Place,
    column: fn(&Record) -> Place,
    sentence: &'static str,
}

macro_rules! sections {
    ($($axis:literal $title:literal, by $apart:ident and $column:ident: $sentence:literal;)*) => {
        const SECTIONS: &[Section] = &[$(Section {
            axis: $axis, title: $title, apart: $apart, column: $column, sentence: $sentence,
        }),*];
    };
}

sections! {
    "operation" "Operations", by items and operation:
        "The cost of each operation on one thread.";
    "half" "Mixed streams", by items and operation_and_size:
        "The cost of hits and misses in random order, half of them each, and of each by itself.";
    "exclusive" "Exclusive access", by items and operation:
        "The cost of inserts where no other thread may access the filter.";
    "build" "Builds", by items and build:
        "The thread time per item when a filter is built from a slice.";
    "size" "Size", by operation and number:
        "The cost of an operation as filters outgrow the caches.";
    "rate" "Rate", by operation_and_items and asked:
        "The cost of a smaller rate of false positives in time.";
    "memory" "Equal memory", by operation_and_items and bits:
        "Times and rates of the contenders with the same memory.";
    "item" "Items", by items and operation_and_item:
        "The cost of hashing URLs instead of numbers.";
    "distribution" "Distribution", by items and operation_and_distribution:
        "The cost of hits when few items are queried often: zipf by rank, hot one item only.";
    "readers" "Readers during writes", by items and operation:
        "The cost of queries while one thread inserts.";
    "cuckoo" "Filters with fingerprints", by rate_and_items and operation:
        "The cost of operations from empty to full and, by removals, to empty.";
    "cuckoo_readers" "Readers during inserts and removals", by items and operation:
        "The cost of queries while one thread inserts and removes in turn, and of its writes. The memory is \
         two random lines read per query while bits are set in one line per write, at the pace of cuckoo.";
}

/// Adds all sections that have records.
pub(super) fn add(page: &mut Page, records: &Records, caches: &[Cache]) {
    for section in SECTIONS {
        let all = records.axis(section.axis);
        if !all.is_empty() {
            add_section(page, records, caches, section, &all);
        }
    }
    for (axis, title) in [("threads", "Threads"), ("cuckoo_threads", "Cuckoo filters by threads")] {
        let all = records.axis(axis);
        if !all.is_empty() {
            add_threads(page, axis, title, &all);
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
    let filters = all.iter().copied().filter(|record| !["R", "W"].contains(&&*record.contender));
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
    // Elsewhere the rate is the same for all, and so is the memory.
    if matches!(section.axis, "rate" | "memory" | "cuckoo") && !measured.is_empty() {
        let cell = |record: &Record| {
            let measured = rate(record.measured_rate.unwrap_or_default());
            // With the same memory the lowest rate is the best.
            let rank = record.measured_rate.filter(|_| section.axis == "memory");
            Cell { shown: format!("{measured} ({})", figure(record.bits)), rank }
        };
        let column = if section.axis == "cuckoo" { rate_and_items } else { section.column };
        page.table(Some("Rate measured (bits per item)"), &pivot(&measured, column, cell));
    }
}

/// Returns the times of filters, and below them the limits of the memory at the same points.
fn time_table(records: &Records, filters: &[&Record], column: fn(&Record) -> Place) -> Table {
    let time = |record: &Record| {
        let multiple = records.multiple(record);
        let multiple = multiple.map(|(multiple, floor)| format!(" ({} {floor})", figure(multiple)));
        let shown = format!("{}{}", figure(record.value), multiple.unwrap_or_default());
        Cell { shown, rank: (!is_floor(&record.contender)).then_some(record.value) }
    };
    let mut table = pivot(filters, column, time);
    let points: Vec<&Record> = groups(filters, column).iter().map(|(_, group)| group[0]).collect();
    for name in ["R", "W"] {
        let value = |point: &&Record| {
            let floor =
                records.floor(point, name).filter(|_| name == "R" || writes(&point.operation));
            floor.map(|floor| figure(floor.value).into()).unwrap_or_default()
        };
        let cells: Vec<Cell> = points.iter().map(value).collect();
        if cells.iter().any(|cell| !cell.shown.is_empty()) {
            table.rows.push((name.to_owned(), cells));
        }
    }
    table
}

fn add_threads(page: &mut Page, axis: &str, title: &str, all: &[&Record]) {
    let sentence =
        "Million operations per second by all threads together (multiple of one thread's).";
    page.section(title, sentence);
    for (title, group) in groups(all, work_and_items) {
        let gain = |record: &Record| {
            let one =
                group.iter().find(|one| one.threads == 1 && one.contender == record.contender)?;
            (record.threads > 1).then(|| plots::throughput(record) / plots::throughput(one))
        };
        let cell = |record: &Record| {
            let throughput = plots::throughput(record);
            let gain = gain(record).map(|gain| format!(" ({})", figure(gain))).unwrap_or_default();
            let rank = (!is_floor(&record.contender)).then_some(-throughput);
            Cell { shown: format!("{}{gain}", figure(throughput)), rank }
        };
        let table = pivot(&group, |record| (record.threads, record.threads.to_string()), cell);
        page.table(Some(&format!("{title}, by threads")), &table);
        if axis == "threads" {
            let name = format!("threads-{}-{}", group[0].operation, group[0].items);
            page.chart(&name, plots::threads(&group, &title));
        }
    }
}

/// Returns the index of a name in a list, or the length of the list.
fn place(list: &[&str], name: &str) -> u64 {
    list.iter().position(|known| *known == name).unwrap_or(list.len()) as u64
}

fn operation(record: &Record) -> Place {
    let order = Operation::ALL.map(Operation::name);
    (place(&order, &record.operation), format!("`{}`", record.operation))
}

fn items(record: &Record) -> Place {
    (record.items, format!("{} items", count(record.items)))
}

fn number(record: &Record) -> Place {
    (record.items, count(record.items))
}

fn build(record: &Record) -> Place {
    let place = place(&BUILDS, &record.operation) * 64 + record.threads;
    (place, format!("{}, {}", record.operation, threads(record.threads)))
}

fn operation_and_size(record: &Record) -> Place {
    let (order, size) = size(record);
    let (place, operation) = operation(record);
    (order * 8 + place, format!("{operation}, {size}"))
}

fn operation_and_item(record: &Record) -> Place {
    let (order, operation) = operation(record);
    (order * 8 + u64::from(record.item != "u64"), format!("{operation}, {}", record.item))
}

fn operation_and_distribution(record: &Record) -> Place {
    let (order, operation) = operation(record);
    let place = place(&["uniform", "zipf", "hot"], &record.distribution);
    (order * 8 + place, format!("{operation}, {}", record.distribution))
}

fn operation_and_items(record: &Record) -> Place {
    let (order, operation) = operation(record);
    (order, format!("{operation}, {} items", count(record.items)))
}

/// Returns the place of an operation on several threads, whose hits may be of one item only.
fn work_and_items(record: &Record) -> Place {
    let (order, title) = operation_and_items(record);
    let hot = record.distribution == "hot";
    (2 * order + u64::from(hot), if hot { format!("{title}, all the same item") } else { title })
}

fn rate_and_items(record: &Record) -> Place {
    (record.items + (1.0 / record.rate) as u64, format!("{}, {}", items(record).1, asked(record).1))
}

/// Returns a number of threads for titles.
pub(super) fn threads(count: u64) -> String {
    if count == 1 { "1 thread".to_owned() } else { format!("{count} threads") }
}

/// Returns the place of the requested rate, large ones first.
pub(super) fn asked(record: &Record) -> Place {
    ((1.0 / record.rate) as u64, percent(record.rate))
}

/// Returns the place of the requested rate, large ones first, or of the memory, after the rate that it allows.
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
    (record.bits as u64, format!("{} bits per item", record.bits))
}
