//! The main page, `REPORT.md`: filters of a fixed size, on one thread and on several.

use super::aims::{self, HOT, READ, WRITE, gain};
use super::data::{Data, Point};
use super::page::{Page, times};
use super::table::{Table, costs, head};
use crate::figure::{count, figure, percent};

const SECTIONS: [&str; 4] = ["one_thread", "bits", "builds", "threads"];

/// The operations of a table of times.
const OPERATIONS: [&str; 6] = [
    "insert",
    "contains, hit",
    "contains, miss",
    "contains, half and half",
    "insert_many_with",
    "contains_many_with, hit",
];

/// The reasons for missed aims, with what was tried. Written by hand, without measured figures.
const MISSED: &str = include_str!("missed.md");

/// Returns the page; these charts have files.
pub(super) fn page(data: &Data, charts: &[&str]) -> String {
    let mut page = Page::new("Measurements");
    page.chart(charts, "contains", "The time of a query by the number of items, for seven filters");
    page.chart(charts, "insert", "The time of an insert by the number of items, for seven filters");
    page.chart(charts, "memory", "Bits per item by the rate of false positives, for six filters");
    page.text(
        "One thread, 64-bit integers, a rate of 1 % unless a table says otherwise. \"Bare memory\" \
         is no filter: a query reads one word of a random cache line, and an insert sets one bit \
         there by an atomic operation, after the same hashing. A *bare read* and a *bare write* are \
         those in a batch, with 32 lines in flight.",
    );
    page.head("In words");
    page.list([
        cost(data, 100_000),
        cost(data, 100_000_000),
        peers(data, 100_000),
        peers(data, 100_000_000),
        threads(data, 1_000_000),
        threads(data, 10_000_000),
    ]);
    page.text(
        "[GROWING.md](GROWING.md) has the filters that grow, remove or forget, \
         [REDIS.md](REDIS.md) those in Redis, and [MEMORY.md](MEMORY.md) the memory of \
         `tamis dedup`.",
    );
    page.head("Time per item");
    page.text(
        "Nanoseconds, the fastest of the runs; the best of each column is in bold. Queries are of \
         present items (hit), absent items (miss), or both in random order. The names of other \
         crates say how threads share their filters. Some crates round sizes up, so the rate is \
         measured too.",
    );
    for items in [100_000, 10_000_000, 100_000_000] {
        let point = data.at("one_thread", items);
        if !point.contenders().is_empty() {
            page.text(&format!(
                "With {} items:\n\n{}",
                count(items),
                costs(point, &OPERATIONS).markdown()
            ));
        }
    }
    page.head("Lower rates");
    page.text(&format!("100,000 items, nanoseconds.\n\n{}", rates(data).markdown()));
    if !data.records("threads").is_empty() {
        page.head("Threads");
        page.text(&format!(
            "Filters of 1,000,000 items. Million operations per second of one thread, then of all, \
             and the multiple. The last columns have the queries per second of the readers while \
             another thread writes, as a share of those without it.\n\n{}",
            shared(data).markdown()
        ));
    }
    page.head("Aims");
    page.text(&format!("What was measured, and the aim.\n\n{}", aims::table(data).markdown()));
    page.text(MISSED);
    page.finish(data, &SECTIONS)
}

/// Returns what an item costs in a blocked filter.
fn cost(data: &Data, items: u64) -> Option<String> {
    let point = data.at("one_thread", items);
    let of = |operation: &str, by: (&str, &str)| {
        let of = ("BlockedBloomFilter", operation);
        Some((figure(point.value(of.0, of.1)?), times(point.ratio(of, by)?)))
    };
    let (query, queries) = of("contains, hit", READ)?;
    let (batch, batches) = of("contains_many_with, hit", READ)?;
    let (insert, inserts) = of("insert", WRITE)?;
    let (new, news) = of("insert_many_with", WRITE)?;
    Some(format!(
        "With {} items, a query of a `BlockedBloomFilter` takes {query} ns, {queries} a bare read \
         of random memory, and {batch} ns in a batch, {batches}. An insert takes {insert} ns, \
         {inserts} a bare write, and {new} ns in a batch, {news}.",
        count(items)
    ))
}

/// Returns how ours compare with the fastest of the others.
fn peers(data: &Data, items: u64) -> Option<String> {
    let point = data.at("one_thread", items);
    let of = |name: &str, operation: &str, ours: &str| {
        Some(times(point.ratio((name, operation), (ours, operation))?))
    };
    let shared = "fastbloom, atomic";
    let alone = "sbbf-rs-safe, one thread";
    Some(format!(
        "With {} items, fastbloom's atomic filter takes {} as long as a `BlockedBloomFilter` for a \
         query of a present item, and {} for an insert; compared with a `BloomFilter`, which has \
         the same layout, {} and {}. sbbf-rs-safe, which is for one thread, takes {} as long for a \
         query, and {} for an insert.",
        count(items),
        of(shared, "contains, hit", "BlockedBloomFilter")?,
        of(shared, "insert", "BlockedBloomFilter")?,
        of(shared, "contains, hit", "BloomFilter")?,
        of(shared, "insert", "BloomFilter")?,
        of(alone, "contains, hit", "BlockedBloomFilter")?,
        of(alone, "insert", "BlockedBloomFilter")?,
    ))
}

/// Returns what two threads gain.
fn threads(data: &Data, items: u64) -> Option<String> {
    let of = |name: &str, operation: &str| Some(times(gain(data, items, 2, (name, operation))?));
    Some(format!(
        "With {} items, two threads insert {} as many items per second as one into a \
         `BlockedBloomFilter`, and {} into a `CuckooFilter`; they query {} and {} as many. (A bare \
         write gains {}, a bare read {}.)",
        count(items),
        of("BlockedBloomFilter", "insert")?,
        of("CuckooFilter", "insert")?,
        of("BlockedBloomFilter", "contains, hit")?,
        of("CuckooFilter", "contains, hit")?,
        of(READ.0, "insert")?,
        of(READ.0, "contains, hit")?,
    ))
}

/// Returns the table of times at three rates.
fn rates(data: &Data) -> Table {
    let lowest = Point { rate: 1e-6, ..data.at("one_thread", 100_000) };
    let mut table = Table::new(lowest.contenders());
    for requested in [1e-2, 1e-4, 1e-6] {
        let point = Point { rate: requested, ..lowest };
        for operation in ["insert", "contains, hit", "contains_many_with, hit"] {
            let head = format!("{}: {}", percent(requested), head(operation));
            table.times(&head, |name| point.value(name, operation));
        }
    }
    table
}

/// Returns the table of what threads gain.
fn shared(data: &Data) -> Table {
    let one = data.at("threads", 1_000_000);
    let threads = data.records("threads").iter().map(|record| record.threads).max().unwrap_or(1);
    let mut table = Table::new(one.contenders());
    for operation in ["insert", "contains, hit", HOT] {
        table.texts(&head(operation), |name| {
            let single = one.value(name, operation)?;
            let gain = gain(data, one.items, threads, (name, operation))?;
            let [first, all] = [1e3 / single, 1e3 / single * gain].map(figure);
            Some(format!("{first} → {all} ({})", figure(gain)))
        });
    }
    for operation in [aims::INSERTING, aims::CHURNING] {
        let head = operation.replace("contains, hit, while", "readers keep while");
        table.texts(&head, |name| {
            let kept = aims::kept(data, one.items, name, operation)?;
            Some(format!("{:.0} %", 100.0 * kept))
        });
    }
    table
}
