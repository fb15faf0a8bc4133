//! Makes charts of records.

use core::iter;

use plotters::style::RGBColor;

use super::axis::{Axis, Scale};
use super::chart::{Chart, Line, Look, Marker};
use super::contenders::{is_floor, kind, ordered, writes};
use super::figure::bytes;
use super::machine::Cache;
use super::page::groups;
use crate::record::Record;

/// More lines than this cannot be distinguished; the others are in the table.
const MAX_LINES: usize = 7;
const GREY: RGBColor = RGBColor(119, 119, 119);
const NO_MARKER: Look = Look { colour: GREY, marker: Marker::None, dash: None, bold: false };

const SQUARE: Marker = Marker::Polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]);
const DIAMOND: Marker = Marker::Polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]);
const UP: Marker = Marker::Polygon(&[(0.0, -1.3), (1.15, 0.85), (-1.15, 0.85)]);
const DOWN: Marker = Marker::Polygon(&[(0.0, 1.3), (1.15, -0.85), (-1.15, -0.85)]);

/// Okabe and Ito's colours, which colour-blind readers can distinguish, without the yellow, which
/// is too faint on white; each with a marker, for print in grey. Those of our kinds, and those that
/// all others share.
const OURS: [(RGBColor, Marker); 5] = [
    (RGBColor(0, 114, 178), Marker::Circle),
    (RGBColor(213, 94, 0), UP),
    (RGBColor(0, 158, 115), SQUARE),
    (RGBColor(204, 121, 167), DIAMOND),
    (RGBColor(230, 159, 0), DOWN),
];
const OTHERS: [(RGBColor, Marker); 3] =
    [(RGBColor(0, 0, 0), Marker::Circle), (RGBColor(86, 180, 233), SQUARE), (GREY, DIAMOND)];
/// The dashes of lines that are not ours, and the gaps between them.
const DASHES: [(i32, i32); 3] = [(7, 3), (2, 3), (12, 4)];

/// Makes the chart of the rate while filters fill: theory as lines, measurements as points.
pub(super) fn fill(records: &[&Record]) -> Option<Chart> {
    let layouts = groups(records, &[|record| (0, layout(record).0.to_owned())]);
    let names: Vec<&str> = layouts.iter().map(|(name, _)| name.as_str()).collect();
    let series = |group: &[&Record], theory: bool| {
        let those = group.iter().filter(|r| layout(r).1 == theory && r.value > 0.0);
        sorted(those.map(|record| (512.0 / record.bits, record.value)))
    };
    let lines = layouts.iter().zip(looks(&names));
    let mut lines: Vec<Line> = lines
        .map(|((name, group), look)| Line {
            name: name.clone(),
            // All layouts are ours: only a second layout of a colour needs dashes.
            look: Look { dash: look.dash.filter(|&dash| dash != DASHES[0]), ..look },
            line: series(group, true),
            points: series(group, false),
        })
        .collect();
    // Rates far below the lowest measured one are theory only.
    lines.retain(|line| !line.points.is_empty());
    let measured = lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let least = measured.min_by(f64::total_cmp).unwrap_or(0.0) / 3.0;
    lines.iter_mut().for_each(|line| line.line.retain(|point| point.1 >= least));
    chart(
        "Rate while a filter fills: theory as lines, measured as points".to_owned(),
        ("items for each 64 bytes of memory", Scale::LINEAR),
        ("rate of false positives, log scale", Scale::SHARE),
        merged(lines),
    )
}

/// Returns the layout of a figure, and whether the figure is theory.
pub(super) fn layout(record: &Record) -> (&str, bool) {
    let operation = record.operation.as_str();
    match operation.strip_suffix(" theory") {
        Some(layout) => (layout, true),
        None => (operation.strip_suffix(" measured").unwrap_or(operation), false),
    }
}

/// Makes the chart of time against the size of the filter, for one operation; the caches of the
/// machine are marks.
pub(super) fn size(records: &[&Record], operation: &str, caches: &[Cache]) -> Option<Chart> {
    // R is part of every operation, W only of inserts.
    let shown = records.iter().filter(|record| {
        record.operation == operation
            || record.contender == "R"
            || (record.contender == "W" && writes(operation))
    });
    let shown: Vec<&Record> = shown.copied().collect();
    let point = |record: &Record| (record.items as f64 * record.bits / 8.0, record.value);
    let chart = chart(
        format!("{operation}: time against size, one thread"),
        ("memory of the filter, log scale", Scale::BYTES),
        ("ns per operation, log scale", Scale::LOG),
        lines(&shown, point),
    )?;
    let marks = caches.iter().map(|(name, size)| (*size as f64, name));
    let marks = marks.map(|(size, name)| (size, format!("{name}: {}", bytes(size)))).collect();
    Some(Chart { marks, ..chart })
}

/// Makes the chart of throughput against threads; none if all figures are of one thread.
pub(super) fn threads(records: &[&Record], title: &str) -> Option<Chart> {
    records.iter().find(|record| record.threads > 1)?;
    chart(
        format!("{}: throughput by threads", title.replace('`', "")),
        ("threads", Scale::DOUBLING),
        ("million operations per second, all threads together", Scale::LINEAR),
        lines(records, |record| (record.threads as f64, throughput(record))),
    )
}

/// Returns millions of operations per second by all threads.
pub(super) fn throughput(record: &Record) -> f64 {
    record.threads as f64 * 1000.0 / record.value
}

/// Makes the chart of bits per item against the rate, and of the minimum for any filter.
pub(super) fn memory(records: &[&Record]) -> Option<Chart> {
    // Lines far above ours would compress the others.
    let ours = records.iter().filter(|record| kind(&record.contender).is_some());
    let most = ours.map(|record| 2.0 * record.value).max_by(f64::total_cmp);
    let most = most.unwrap_or(f64::INFINITY);
    let mut lines = lines_of_all(records, |record| (1.0 / record.rate, record.value));
    lines.retain(|line| line.points.iter().all(|point| point.1 <= most));
    let mut lines = merged(lines);
    lines.truncate(MAX_LINES);
    let rates = lines.iter().flat_map(|line| &line.points).map(|point| (point.0, point.0.log2()));
    lines.push(Line {
        name: "minimum: log2(1/rate)".to_owned(),
        look: NO_MARKER,
        line: sorted(rates),
        points: Vec::new(),
    });
    chart(
        "Memory for a rate".to_owned(),
        ("rate of false positives, log scale", Scale::ONE_IN),
        ("bits per item", Scale::LINEAR),
        lines,
    )
}

/// Makes the chart of curves of bits per line against lines, by name, and of a limit.
pub(super) fn peaks(curves: &[Curve], limit: f64) -> Option<Chart> {
    let ends = curves.iter().flat_map(|(_, points)| points).map(|point| (point.0, limit));
    let limit = Line {
        name: format!("{limit} bits"),
        look: NO_MARKER,
        line: sorted(ends),
        points: Vec::new(),
    };
    // The points are too many for markers.
    let curves = curves.iter().zip(OURS).zip(iter::once(None).chain(DASHES.map(Some)));
    let curves = curves.map(|(((name, points), (colour, _)), dash)| Line {
        name: name.clone(),
        look: Look { colour, marker: Marker::None, dash, bold: dash.is_none() },
        line: points.clone(),
        points: Vec::new(),
    });
    chart(
        "Peak memory of tamis dedup".to_owned(),
        ("distinct lines, log scale", Scale::LOG),
        ("bits per line, log scale", Scale::LOG),
        curves.chain([limit]).collect(),
    )
}

/// A curve by its name.
pub(super) type Curve = (String, Vec<(f64, f64)>);

/// Makes the chart of latencies by one over the share of slower inserts: a curve of the clock, then
/// two for each filter, of which the second has dashes.
pub(super) fn latencies(curves: &[Curve]) -> Option<Chart> {
    let looks = [NO_MARKER].into_iter().chain(OURS.into_iter().flat_map(|(colour, _)| {
        [None, Some(DASHES[0])].map(|dash| Look { colour, dash, bold: dash.is_none(), ..NO_MARKER })
    }));
    let lines = curves.iter().zip(looks).map(|((name, points), look)| Line {
        name: name.clone(),
        look,
        line: points.clone(),
        points: Vec::new(),
    });
    chart(
        "Latency of single inserts by two writers".to_owned(),
        ("one insert of this number is slower, log scale", Scale::LOG),
        ("ns, log scale", Scale::LOG),
        lines.collect(),
    )
}

/// Returns a line for each contender, no more than can be distinguished.
fn lines(records: &[&Record], point: impl Fn(&Record) -> (f64, f64)) -> Vec<Line> {
    let all = lines_of_all(records, point).into_iter();
    let (floors, mut lines): (Vec<_>, Vec<_>) = all.partition(|line| is_floor(&line.name));
    lines.truncate(MAX_LINES);
    lines.extend(floors);
    lines
}

fn lines_of_all(records: &[&Record], point: impl Fn(&Record) -> (f64, f64)) -> Vec<Line> {
    let names = ordered(records);
    let line = |(name, look): (&&str, Look)| {
        let own = records.iter().filter(|record| record.contender == *name);
        let points = sorted(own.map(|record| point(record)));
        Line { name: (*name).to_owned(), look, line: points.clone(), points }
    };
    names.iter().zip(looks(&names)).map(line).collect()
}

/// Returns how the lines of these names look. The first of each of our kinds looks the same in
/// every chart.
fn looks(names: &[&str]) -> Vec<Look> {
    let (mut seen, mut others) = ([false; OURS.len()], 0);
    let mut look = |name: &&str| {
        if is_floor(name) {
            return Look { dash: (*name == "W").then_some((2, 3)), ..NO_MARKER };
        }
        let ours = kind(name);
        if let Some(kind) = ours.filter(|&kind| !core::mem::replace(&mut seen[kind], true)) {
            let (colour, marker) = OURS[kind];
            return Look { colour, marker, dash: None, bold: true };
        }
        // Dashes distinguish the second of a colour from the first.
        let (colour, marker) = OTHERS[others % OTHERS.len()];
        let dash = Some(DASHES[others / OTHERS.len() % DASHES.len()]);
        others += 1;
        Look { colour, marker, dash, bold: ours.is_some() }
    };
    names.iter().map(&mut look).collect()
}

/// Merges lines that coincide; the name of the merged line shows it.
fn merged(lines: Vec<Line>) -> Vec<Line> {
    let mut merged: Vec<(Line, Vec<String>)> = Vec::new();
    for line in lines {
        match merged.iter_mut().find(|(other, _)| coincide(other, &line)) {
            Some((other, names)) => {
                names.push(line.name);
                // Points that are not on the line are measurements of their own.
                if line.points != line.line {
                    other.points.extend(line.points);
                }
            }
            None => merged.push((line, Vec::new())),
        }
    }
    let named = merged.into_iter().map(|(line, others)| match &others[..] {
        [] => line,
        [other] => Line { name: format!("{}, {other}", line.name), ..line },
        [..] => Line { name: format!("{} (and {} alike)", line.name, others.len()), ..line },
    });
    named.collect()
}

/// Returns whether the lines differ by less than 2 % everywhere.
fn coincide(a: &Line, b: &Line) -> bool {
    let near = |(a, b): (&(f64, f64), &(f64, f64))| {
        (a.0 / b.0 - 1.0).abs() < 0.02 && (a.1 / b.1 - 1.0).abs() < 0.02
    };
    !a.line.is_empty() && a.line.len() == b.line.len() && a.line.iter().zip(&b.line).all(near)
}

fn sorted(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut points: Vec<_> = points.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Makes a chart of the lines; none without a point.
fn chart(
    title: String,
    x: (&'static str, Scale),
    y: (&'static str, Scale),
    mut lines: Vec<Line>,
) -> Option<Chart> {
    lines.retain(|line| !(line.line.is_empty() && line.points.is_empty()));
    let points = || lines.iter().flat_map(|line| line.line.iter().chain(&line.points));
    points().next()?;
    let x = Axis::new(x, points().map(|point| point.0));
    let y = Axis::new(y, points().map(|point| point.1));
    Some(Chart { title, x, y, lines, marks: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::record;

    /// A chart's lines by their names.
    fn names(chart: Option<Chart>) -> Vec<String> {
        chart.into_iter().flat_map(|chart| chart.lines).map(|line| line.name).collect()
    }

    #[test]
    fn no_more_filters_than_can_be_distinguished() {
        let contenders = ["R", "a", "b", "c", "d", "e", "f", "g", "h", "once"];
        let records = contenders.map(|name| record("size", name, "hit", 5.0));
        let records: Vec<&Record> = records.iter().collect();
        let names = names(size(&records, "hit", &[]));
        assert_eq!(names, ["once", "a", "b", "c", "d", "e", "f", "R"]);
    }

    #[test]
    fn lines_that_coincide_are_one() {
        let records = [
            ("blocked", 10.0),
            ("once", 10.1),
            ("classic", 9.0),
            ("x", 9.0),
            ("y", 9.0),
            ("set", 99.0),
        ]
        .map(|(name, bits)| record("bits", name, "bits per item", bits));
        let records: Vec<&Record> = records.iter().collect();
        let minimum = "minimum: log2(1/rate)";
        assert_eq!(names(memory(&records)), ["blocked, once", "classic (and 2 alike)", minimum]);
    }

    #[test]
    fn theory_is_a_line_and_measurements_are_points() {
        let records = [("once theory", 1e-3), ("once measured", 2e-3), ("once theory", 1e-9)]
            .map(|(operation, value)| record("fill", "once", operation, value));
        let records: Vec<&Record> = records.iter().collect();
        let chart = fill(&records).expect("a chart");
        assert_eq!(chart.lines[0].line, [(51.2, 1e-3)], "the rest is far below what is measured");
        assert_eq!(chart.lines[0].points, [(51.2, 2e-3)]);
    }
}
