//! The charts of the pages, from the figures.

use super::axis::{Axis, Unit};
use super::chart::{Chart, Line};
use super::data::Data;
use super::table::MEMORY;
use crate::figure::{count, percent};
use crate::measure::growing::{self, AT_ITS_RATE, AT_THE_REQUEST, SIZED_RATES};
use crate::record::Record;

/// Names of contenders, each with the number of its colour.
type Names = &'static [(&'static str, usize)];

const TIMED: Names = &[
    (MEMORY, 0),
    ("BlockedBloomFilter", 1),
    ("BloomFilter", 2),
    ("CuckooFilter", 3),
    ("fastbloom, atomic", 4),
    ("fastbloom, one thread", 5),
    ("sbbf-rs-safe, one thread", 6),
];

const SIZED: Names = &[
    ("BlockedBloomFilter", 1),
    ("BloomFilter", 2),
    ("CuckooFilter", 3),
    ("atomic-cuckoo-filter, atomic", 4),
    ("qfilter, one thread", 5),
    ("sbbf-rs-safe, one thread", 6),
];

const GROWN: Names = &[
    ("the clock alone", 0),
    ("ScalableBloomFilter, growing", 1),
    ("ScalableBloomFilter, made for all items", 1),
    ("CuckooFilter, growing", 3),
    ("CuckooFilter, made for all items", 3),
];

/// Returns all charts that there are figures for, by the names of their files.
pub(super) fn all(data: &Data) -> Vec<(&'static str, Chart)> {
    let charts = [
        ("contains", times(data, "contains, hit", "Query of a present item")),
        ("insert", times(data, "insert", "Insert of a new item")),
        ("memory", memory(data)),
        ("latency", latency(data)),
        ("growth", growth(data)),
        ("dedup", dedup(data)),
    ];
    charts.into_iter().filter_map(|(name, chart)| Some((name, chart?))).collect()
}

/// Time against items, for one operation; the caches of the machine are marks.
fn times(data: &Data, operation: &str, title: &str) -> Option<Chart> {
    let records = data.records("one_thread");
    let of = |record: &&Record| record.operation == operation && record.rate == 0.01;
    let records: Vec<&Record> = records.iter().filter(of).collect();
    let mut lines = curves(&records, TIMED, |record| record.items as f64);
    lines.iter_mut().for_each(|line| line.marked = line.style > 0);
    // A blocked filter of this number of items fills the cache.
    let memory = records.iter().find(|record| record.contender == MEMORY);
    let bits = memory.and_then(|record| record.bits)?;
    let caches = data.0.get("one_thread")?.facts.iter().find(|(name, _)| name == "caches");
    let caches = caches.map_or("", |(_, caches)| caches).split(", ");
    let marks = caches.filter_map(|cache| Some((8.0 * size(cache)? / bits, cache.to_owned())));
    let mut chart = chart(
        format!("{title}, one by one, at a rate of 1 %"),
        ("items in the filter", Unit::Number),
        ("time per item", Unit::Time),
        lines,
    )?;
    chart.marks = marks.collect();
    Some(chart)
}

/// Returns the bytes of a cache, which is written as `L2 1 MiB`.
fn size(cache: &str) -> Option<f64> {
    let mut words = cache.split(' ').skip(1);
    let number: f64 = words.next()?.parse().ok()?;
    let units = ["B", "KiB", "MiB", "GiB"];
    let unit = words.next()?;
    let power = units.iter().position(|known| *known == unit)?;
    Some(number * 1024_f64.powi(power as i32))
}

/// Bits per item against the rate, and the minimum for any filter.
fn memory(data: &Data) -> Option<Chart> {
    let records = data.records("bits");
    let rates = records.iter().map(|record| (1.0 / record.rate, -record.rate.log2()));
    let minimum = line("the minimum for any filter", 0, rates);
    let sized = curves(&records.iter().collect::<Vec<_>>(), SIZED, |record| 1.0 / record.rate);
    chart(
        "Memory by the rate of false positives".to_owned(),
        ("rate of false positives", Unit::Rate),
        ("bits per item", Unit::Bits),
        [vec![minimum], sized].concat(),
    )
}

/// Latency against one over the share of slower inserts.
fn latency(data: &Data) -> Option<Chart> {
    let records = data.records("latency");
    let shares: Vec<&Record> = records.iter().filter(|record| record.rate > 0.0).collect();
    let mut lines = curves(&shares, GROWN, |record| 1.0 / record.rate);
    lines.iter_mut().for_each(|line| line.dashed = line.name.ends_with("made for all items"));
    let items = records.first()?.items;
    chart(
        format!("Latency of single inserts, two threads, {} items", count(items)),
        ("one insert in this number takes longer", Unit::Number),
        ("time, with two reads of the clock", Unit::Time),
        lines,
    )
}

/// Bits per item against items, of filters that grow and of others for each count.
fn growth(data: &Data) -> Option<Chart> {
    let records: Vec<&Record> = data
        .records("growing")
        .iter()
        .filter(|record| record.operation == growing::MEMORY)
        .collect();
    let mut lines = Vec::new();
    for (rate, style) in SIZED_RATES.into_iter().zip([1, 4]) {
        for (words, name, style, dashed) in [
            ("growing", "growing to", style, false),
            ("the rate there", AT_ITS_RATE, style, true),
            ("the request", AT_THE_REQUEST, 0, true),
        ] {
            let points = records.iter();
            let points =
                points.filter(|record| record.contender.contains(name) && record.rate == rate);
            let points = points.map(|record| (record.items as f64, record.value));
            let name = format!("{}, {words}", percent(rate));
            lines.push(Line { dashed, ..line(&name, style, points) });
        }
    }
    chart(
        "Memory of a CuckooFilter that grows, and of fixed filters of the count".to_owned(),
        ("items in the filter", Unit::Number),
        ("bits per item", Unit::Bits),
        lines,
    )
}

/// Bits per line against lines, with and without the memory of one line.
fn dedup(data: &Data) -> Option<Chart> {
    let [first, stops @ ..] = data.records("dedup") else { return None };
    let bits = |fixed: f64| {
        let bits = move |record: &Record| 8.0 * (record.value - fixed) / record.items as f64;
        stops.iter().map(move |record| (record.items as f64, bits(record)))
    };
    let limit = stops.iter().map(|record| (record.items as f64, 100.0));
    chart(
        "Peak memory of tamis dedup".to_owned(),
        ("distinct lines", Unit::Number),
        ("bits per line", Unit::Number),
        vec![
            line("all memory", 1, bits(0.0)),
            Line { dashed: true, ..line("without that of one line", 2, bits(first.value)) },
            line("100 bits per line", 0, limit),
        ],
    )
}

/// Returns a line for each name, with the figures by what `x` returns.
fn curves(records: &[&Record], names: Names, x: fn(&Record) -> f64) -> Vec<Line> {
    let curve = |&(name, style): &(&str, usize)| {
        let of = records.iter().filter(|record| record.contender == name);
        line(name, style, of.map(|record| (x(record), record.value)))
    };
    names.iter().map(curve).collect()
}

/// Returns a line through these points, from left to right.
fn line(name: &str, style: usize, points: impl Iterator<Item = (f64, f64)>) -> Line {
    let mut points: Vec<(f64, f64)> = points.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Line { name: name.to_owned(), style, dashed: false, marked: false, points }
}

/// Makes a chart of the lines; none without a point.
fn chart(
    title: String,
    x: (&'static str, Unit),
    y: (&'static str, Unit),
    mut lines: Vec<Line>,
) -> Option<Chart> {
    lines.retain(|line| !line.points.is_empty());
    let points = || lines.iter().flat_map(|line| &line.points);
    points().next()?;
    let x = Axis::new(x, points().map(|point| point.0));
    let y = Axis::new(y, points().map(|point| point.1));
    Some(Chart { title, x, y, lines, marks: Vec::new() })
}
