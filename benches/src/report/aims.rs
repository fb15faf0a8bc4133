//! What the filters are meant to reach, and what was measured.

use super::data::{Data, Point};
use super::growing::Ratios;
use super::table::{MEMORY, Table};
use crate::figure::{count, figure};
use crate::measure::LARGEST;
use crate::measure::growing::{AT_THE_REQUEST, KINDS, LAST, QUERIES, TAIL};

/// The numbers of items with aims.
const SIZES: [u64; 6] = [SMALL, CACHED, MIDDLE, LONG, LARGE, LARGEST];

/// A bare read and a bare write of random memory, many at the same time.
pub(super) const READ: (&str, &str) = (MEMORY, "contains_many_with, hit");
pub(super) const WRITE: (&str, &str) = (MEMORY, "insert_many_with");

pub(super) const INSERTING: &str = "contains, hit, while one thread inserts";
pub(super) const CHURNING: &str = "contains, hit, while one thread inserts and removes";

/// Whether a figure should not exceed the limit, or should reach it.
#[derive(Clone, Copy, Debug)]
enum Limit {
    Most(f64),
    Least(f64),
}
use Limit::{Least, Most};

/// An aim: what is measured, the figure, and its limits by the number of items.
type Aim = (&'static str, fn(&Data, u64) -> Option<f64>, &'static [(u64, Limit)]);

const SMALL: u64 = 100_000;
const CACHED: u64 = 1_000_000;
const MIDDLE: u64 = 10_000_000;
const LONG: u64 = 20_000_000;
const LARGE: u64 = 100_000_000;
const BLOCKED: &str = "BlockedBloomFilter";
const SCALABLE: &str = "ScalableBloomFilter";
const CUCKOO: &str = "CuckooFilter";

const AIMS: [Aim; 17] = [
    (
        "`contains_many_with` of a `BlockedBloomFilter`, times a bare read",
        |data, items| cost(data, items, (BLOCKED, READ.1), READ),
        &[(SMALL, Most(1.3)), (MIDDLE, Most(1.25)), (LARGEST, Most(1.1))],
    ),
    (
        "`contains` of a `BlockedBloomFilter`, times a bare read",
        |data, items| cost(data, items, (BLOCKED, HIT), READ),
        &[(SMALL, Most(1.8)), (MIDDLE, Most(1.6)), (LARGEST, Most(1.4))],
    ),
    (
        "`insert_many_with` of a `BlockedBloomFilter`, times a bare write",
        |data, items| cost(data, items, (BLOCKED, WRITE.1), WRITE),
        &[(SMALL, Most(1.9)), (MIDDLE, Most(1.8)), (LARGEST, Most(1.45))],
    ),
    (
        "`insert_many_with` through `get_mut`, times a bare read",
        |data, items| cost(data, items, ("BlockedBloomFilter, get_mut", WRITE.1), READ),
        &[(SMALL, Most(1.6)), (MIDDLE, Most(1.3)), (LARGEST, Most(1.1))],
    ),
    (
        "`contains_many_with` of a `CuckooFilter`, times a bare read",
        |data, items| cost(data, items, (CUCKOO, READ.1), READ),
        &[(SMALL, Most(3.2)), (MIDDLE, Most(3.0)), (LARGEST, Most(2.4))],
    ),
    (
        "`insert` of a `CuckooFilter`, from empty to full, times a bare read",
        |data, items| cost(data, items, (CUCKOO, "insert"), READ),
        &[(SMALL, Most(22.0)), (MIDDLE, Most(20.0)), (LARGEST, Most(8.0))],
    ),
    (
        "`from_par_iter`, two threads, million items per second and thread",
        |data, items| built(data, items, 2, "collect in parallel"),
        &[(CACHED, Least(150.0)), (MIDDLE, Least(150.0)), (LARGE, Least(150.0))],
    ),
    (
        "Readers of a `BlockedBloomFilter` while one thread inserts, share of their speed",
        |data, items| kept(data, items, BLOCKED, INSERTING),
        &[(CACHED, Least(0.8)), (MIDDLE, Least(0.8))],
    ),
    (
        "Readers of a `CuckooFilter` while one thread inserts and removes, share of their speed",
        |data, items| kept(data, items, CUCKOO, CHURNING),
        &[(CACHED, Least(0.8)), (MIDDLE, Least(0.8))],
    ),
    (
        "Two threads that insert into a `BlockedBloomFilter`, times one",
        |data, items| gain(data, items, 2, (BLOCKED, "insert")),
        &[(CACHED, Least(1.8)), (MIDDLE, Least(1.8))],
    ),
    (
        "`contains_many_with`, hit, of a grown `ScalableBloomFilter`, times a fixed filter",
        |data, items| data.at("chains", items).ratio((SCALABLE, READ.1), (BLOCKED, READ.1)),
        &[(MIDDLE, Most(2.0))],
    ),
    (
        "`contains_many_with`, miss, of a grown `ScalableBloomFilter`, times a fixed filter",
        |data, items| data.at("chains", items).ratio((SCALABLE, MISSES), (BLOCKED, MISSES)),
        &[(MIDDLE, Most(3.0))],
    ),
    (
        "Queries of a growing `CuckooFilter`, times a fixed filter of the count, the median of 16",
        |data, most| grown(data, most, &QUERIES.map(|query| query.name())).map(|ends| ends[0]),
        &[(MIDDLE, Most(1.2)), (LARGE, Most(1.2))],
    ),
    (
        "Queries of a growing `CuckooFilter`, times a fixed filter of the count, the worst of 16",
        |data, most| grown(data, most, &QUERIES.map(|query| query.name())).map(|ends| ends[1]),
        &[(MIDDLE, Most(1.5)), (LARGE, Most(1.5))],
    ),
    (
        "The last inserts into a growing `CuckooFilter`, times a fixed filter, the median of 16",
        |data, most| grown(data, most, &[LAST]).map(|ends| ends[0]),
        &[(MIDDLE, Most(1.5)), (LARGE, Most(1.5))],
    ),
    (
        "The slowest of 10,000 inserts into it, times a fixed filter, the median of 16",
        |data, most| grown(data, most, &[TAIL]).map(|ends| ends[0]),
        &[(MIDDLE, Most(2.0)), (LARGE, Most(2.0))],
    ),
    (
        "The slowest of 10,000 inserts into a growing `ScalableBloomFilter`, times a fixed filter",
        |data, items| tail(data, items, SCALABLE),
        &[(LONG, Most(2.0))],
    ),
];

const HIT: &str = "contains, hit";
const MISSES: &str = "contains_many_with, miss";
pub(super) const HOT: &str = "contains, all the same item";

fn cost(data: &Data, items: u64, of: (&str, &str), by: (&str, &str)) -> Option<f64> {
    data.at("one_thread", items).ratio(of, by)
}

/// Returns the million items per second of which a thread builds a filter.
fn built(data: &Data, items: u64, threads: u64, way: &str) -> Option<f64> {
    let point = data.at("builds", items);
    Some(1e3 / Point { threads, ..point }.value("BlockedBloomFilter", way)?)
}

/// Returns the share of the rate of readers that they keep while another thread writes.
pub(super) fn kept(data: &Data, items: u64, contender: &str, writing: &str) -> Option<f64> {
    let all = data.records("threads").iter();
    let mut of = all.filter(|record| record.contender == contender && record.items == items);
    let without = format!("{writing}: without it");
    let alone = of.clone().find(|record| record.operation == without)?;
    Some(alone.value / of.find(|record| record.operation == writing)?.value)
}

/// Returns the operations per second of this number of threads, divided by those of one.
pub(super) fn gain(
    data: &Data,
    items: u64,
    threads: u64,
    (contender, operation): (&str, &str),
) -> Option<f64> {
    let one = data.at("threads", items);
    let time = Point { threads, ..one }.value(contender, operation)?;
    Some(one.value(contender, operation)? * threads as f64 / time)
}

/// Returns the median and the worst ratio of a `CuckooFilter` that grows to a filter of one size at
/// the request: of all of these operations, and of all rates, the highest.
fn grown(data: &Data, most: u64, operations: &[&str]) -> Option<[f64; 2]> {
    let of = |(operation, rate): (&str, f64)| {
        Ratios { data, kind: CUCKOO, most, rate, other: AT_THE_REQUEST }.ends(operation)
    };
    let rates = |&operation| KINDS[0].rates.iter().map(move |&rate| (operation, rate));
    let all = operations.iter().flat_map(rates).filter_map(of);
    all.reduce(|one, other| [one[0].max(other[0]), one[1].max(other[1])])
}

/// Returns the latency that one insert of 10,000 into a growing filter exceeds, divided by the same
/// of one made for all items.
fn tail(data: &Data, items: u64, contender: &str) -> Option<f64> {
    let point = Point { rate: 1e-4, threads: 2, ..data.at("latency", items) };
    let [growing, fixed] =
        ["growing", "made for all items"].map(|state| format!("{contender}, {state}"));
    point.ratio((&growing, "insert"), (&fixed, "insert"))
}

/// Returns a figure, its limit, and whether it misses that.
fn verdict(value: f64, limit: Limit) -> String {
    let (words, limit, missed) = match limit {
        Most(limit) => ("at most", limit, value > limit),
        Least(limit) => ("at least", limit, value < limit),
    };
    let missed = if missed { ", **missed**" } else { "" };
    format!("{} ({words} {limit}{missed})", figure(value))
}

/// Returns the table of all aims with a figure.
pub(super) fn table(data: &Data) -> Table {
    let cell = |aim: &Aim, items: u64| {
        let (_, figure, limits) = aim;
        let (_, limit) = limits.iter().find(|(of, _)| *of == items)?;
        Some(verdict(figure(data, items)?, *limit))
    };
    let known = |aim: &&Aim| SIZES.iter().any(|&items| cell(aim, items).is_some());
    let mut table = Table::new(AIMS.iter().filter(known).map(|aim| aim.0));
    for items in SIZES {
        table.texts(&format!("{} items", count(items)), |what| {
            cell(AIMS.iter().find(|aim| aim.0 == what)?, items)
        });
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aim_is_reached_or_missed() {
        assert_eq!(verdict(1.3, Most(1.3)), "1.30 (at most 1.3)");
        assert_eq!(verdict(1.31, Most(1.3)), "1.31 (at most 1.3, **missed**)");
        assert_eq!(verdict(0.8, Least(0.8)), "0.80 (at least 0.8)");
        assert_eq!(verdict(0.79, Least(0.8)), "0.79 (at least 0.8, **missed**)");
    }
}
