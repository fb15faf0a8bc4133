//! The page on the filters that grow, count or rotate: from figures to `GROWING.md` and its chart.

use super::chart::Chart;
use super::figure::{count, figure, percent, rate};
use super::machine;
use super::plots::{self, Curve};
use super::table::{Cell, Table};
use crate::growing::{self, CLOCK, Costs, Figures, Latency, Row, Stage};
use crate::operation::Operation::{self, HitMany, Insert, InsertMany, Miss, MissMany};

/// The reasons for missed targets, with what was found out. Written by hand: a change of the
/// figures may need a change here.
const MISSED: &str = concat!("\n", include_str!("growing.md"));

/// The quantiles of the latency in the table.
const QUANTILES: [f64; 4] = [0.5, 0.99, 0.999, 0.9999];

/// The quantile with a target, and the most that growth may multiply it by.
const LATENCY: (f64, f64) = (0.9999, 2.0);

/// The filters that grow, and the fixed filter that each is compared with.
const PAIRS: [(&str, &str); 3] =
    [("scalable", "blocked"), ("once scalable", "once"), ("scalable cuckoo", "cuckoo")];

/// What a filter that has grown may cost, as a multiple of the fixed filter's.
const HITS: f64 = 2.0;
const MISSES: f64 = 3.0;
/// As a multiple of its own miss and an insert of the fixed filter.
const INSERTS: f64 = 1.3;

/// Returns the page, and its chart, which is in the file `growing.svg`; `command` is the command
/// that reproduces them.
pub(super) fn page(figures: &Figures, command: &str) -> (String, Option<Chart>) {
    let facts = machine::facts();
    let rows: String =
        facts.iter().map(|(name, value)| format!("| {name} | {value} |\n")).collect();
    let Figures { stages, latency, growing, counting, rotating } = figures;
    let mut text = format!(
        "# Filters that grow, count or rotate\n\n| | |\n|---|---|\n{rows}| made by | `{command}` |\n\n\
         Filters of a table are measured in one process, in turn, in several rounds. A figure is the median of the rounds, and \
         a ratio is the median of the ratios of the rounds. Items are 64-bit integers, uniform. Unless a section says \
         otherwise: one thread, ns per operation in thread time, at a rate of 1 %.\n\n\
         ## Targets\n\n{}",
        targets(latency, growing).markdown()
    );
    text += MISSED;
    text += &format!(
        "\n## The growth test\n\nFilters for {} items at a rate of {}, which get more. Every item is found. The rate is \
         measured with {} absent items. The first row is a fixed filter for the right number of items. A filter that does \
         not report to what it has grown has no bits.\n\n{}",
        count(growing::MADE_FOR),
        percent(growing::REQUEST),
        stages.last().map_or(String::new(), |stage| count(stage.probes)),
        growth(stages).markdown()
    );
    let chart = plots::latencies(&curves(latency));
    let most = latency.first().map_or(0, |latency| latency.items);
    text += &format!(
        "\n## Latency of single inserts\n\nTwo writers insert {} new items one by one: into a filter that grows from {} \
         items, and into the same type of filter made for all of them, in turn. ns of wall time, the two reads of the clock \
         included; \"the clock alone\" inserts nothing and shows what the machine adds.\n\n{}",
        count(most),
        count(growing::FROM),
        latencies(latency).markdown()
    );
    if let Some(chart) = &chart {
        text += &format!("\n![{}](growing.svg)\n", chart.title);
    }
    text += &format!(
        "\n## The cost of growth\n\nFilters made for {} items that have grown to {} items, and fixed filters made for {}. \
         Inserts are timed from the first to the last item, growth included.\n\n{}",
        count(growing.items / growing::GROWTH),
        count(growing.items),
        count(growing.items),
        costs(growing).markdown()
    );
    text +=
        "\n## Filters that remove items\n\nEach is made for the number of items that it holds.\n";
    for costs in counting {
        text += &format!("\n### {} items\n\n{}", count(costs.items), self::costs(costs).markdown());
    }
    text += &format!(
        "\n## Filters of a window\n\nA window of {} items, by the number of generations, and a fixed filter for that number of \
         items that never forgets. Bits are per item of the window.\n\n{}",
        count(rotating.items),
        costs(rotating).markdown()
    );
    (text, chart)
}

/// Returns what was measured, of the target, for each filter that grows.
fn targets(latency: &[Latency], growing: &Costs) -> Table {
    let (quantile, limit) = LATENCY;
    let mut table = Table::new(PAIRS.map(|(name, _)| name));
    let shown = |value: Option<f64>, limit: f64| -> Cell {
        let Some(value) = value else { return Cell::default() };
        let missed = if value > limit { ", missed" } else { "" };
        format!("{} of {limit}{missed}", figure(value)).into()
    };
    let of_pairs = |limit: f64, ratio: &dyn Fn(&Row, &Row) -> Option<f64>| {
        PAIRS.map(|(name, fixed)| {
            shown(growing.row(name).zip(growing.row(fixed)).and_then(|(a, b)| ratio(a, b)), limit)
        })
    };
    let p = format!("p{} of single inserts, of the filter made for all", quantile * 100.0);
    let tails = PAIRS.map(|(name, _)| {
        let latency = latency.iter().find(|latency| latency.name == name);
        shown(latency.map(|latency| latency.ratio(quantile)), limit)
    });
    table.add(p, tails);
    for (operation, limit) in [(HitMany, HITS), (MissMany, MISSES)] {
        let cells = of_pairs(limit, &|grown, fixed| grown.ratio(operation, &[(fixed, operation)]));
        table.add(format!("`{}`, of the fixed filter", operation.name()), cells);
    }
    for (insert, miss) in [(Insert, Miss), (InsertMany, MissMany)] {
        let cells = of_pairs(INSERTS, &|grown, fixed| {
            grown.ratio(insert, &[(grown, miss), (fixed, insert)])
        });
        let name =
            format!("`{}`, of its own miss and an insert of the fixed filter", insert.name());
        table.add(name, cells);
        let cells = PAIRS.map(|(name, fixed)| -> Cell {
            let pair = growing.row(name).zip(growing.row(fixed));
            let ratio = pair
                .and_then(|(grown, fixed)| grown.ratio(insert, &[(fixed, miss), (fixed, insert)]));
            ratio.map(figure).unwrap_or_default().into()
        });
        let name = format!("`{}`, of a miss and an insert of the fixed filter", insert.name());
        table.add(name, cells);
    }
    table
}

/// Returns the table of the growth test: for each number of items the measured rate and the bits
/// per item.
fn growth(stages: &[Stage]) -> Table {
    let columns = stages.iter().flat_map(|stage| {
        let items = count(stage.items);
        [format!("{items}: rate"), "bits per item".to_owned()]
    });
    let mut table = Table::new(columns);
    let Some(last) = stages.last() else { return table };
    for row in &last.rows {
        // The filter of the right size is the first of each stage.
        let sized = row.made_for == last.items;
        let of = |stage: &Stage| {
            let same = |other: &&growing::RateRow| {
                other.name == row.name
                    && other.made_for == if sized { stage.items } else { row.made_for }
            };
            let same = stage.rows.iter().find(same);
            same.map_or([String::new(), String::new()], |row| {
                [rate(row.rate), bits(row.bits, row.rate)]
            })
        };
        let name = if sized { format!("{}, made for all", row.name) } else { row.name.to_owned() };
        table.add(name, stages.iter().flat_map(of));
    }
    table
}

/// Returns bits per item; nothing if they are fewer than any filter of that rate has, because the
/// filter does not report to what it has grown.
fn bits(bits: f64, rate: f64) -> String {
    if bits < (1.0 / rate).log2() && rate > 0.0 { String::new() } else { figure(bits) }
}

/// Returns the table of quantiles, and of the ratio that has a target.
fn latencies(all: &[Latency]) -> Table {
    let quantiles = QUANTILES.map(|quantile| format!("p{}", quantile * 100.0));
    let ratio = format!("ratio at p{}", LATENCY.0 * 100.0);
    let mut table = Table::new(quantiles.into_iter().chain(["maximum".to_owned(), ratio]));
    for latency in all {
        let clock = latency.name == CLOCK;
        for (rounds, name) in [(&latency.grown, "growing"), (&latency.sized, "made for all")] {
            let grown = name == "growing";
            let cells = QUANTILES.into_iter().chain([1.0]);
            let cells = cells.map(|at| figure(growing::quantile(rounds, at)));
            let ratio =
                if grown && !clock { figure(latency.ratio(LATENCY.0)) } else { String::new() };
            let name = if clock { String::new() } else { format!(", {name}") };
            if grown || !clock {
                table.add(format!("{}{name}", latency.name), cells.chain([ratio]));
            }
        }
    }
    table
}

/// Returns the curves of the chart: the latency by one over the share of slower inserts.
fn curves(all: &[Latency]) -> Vec<Curve> {
    let curve = |latency: &Latency, grown: bool| {
        let rounds = if grown { &latency.grown } else { &latency.sized };
        let most = (latency.items as f64).log10();
        let steps = (1..).map(|step| f64::from(step) / 8.0).take_while(|&step| step <= most);
        let points = steps.map(|step| {
            let one_in = 10_f64.powf(step);
            (one_in, growing::quantile(rounds, 1.0 - 1.0 / one_in))
        });
        points.collect()
    };
    let both = all.iter().flat_map(|latency| {
        [true, false].map(|grown| {
            let state = if grown { "growing" } else { "made for all" };
            let clock = latency.name == CLOCK;
            let name = if clock { CLOCK.to_owned() } else { format!("{}, {state}", latency.name) };
            (name, curve(latency, grown))
        })
    });
    // The clock is the same in both.
    both.enumerate().filter(|(at, _)| *at != 1).map(|(_, curve)| curve).collect()
}

/// Returns the table of the costs: bits, rate, and the times of the operations.
fn costs(costs: &Costs) -> Table {
    let mut columns = vec!["bits per item".to_owned(), "measured rate".to_owned()];
    columns.extend(costs.operations.iter().map(|operation| format!("`{}`", operation.name())));
    let mut table = Table::new(columns);
    for row in &costs.rows {
        let name = if row.made_for == costs.items {
            row.name.to_owned()
        } else {
            format!("{}, grown", row.name)
        };
        let time = |&operation: &Operation| row.time(operation).map(figure).unwrap_or_default();
        let cells = [bits(row.bits, row.rate), rate(row.rate)];
        table.add(name, cells.into_iter().chain(costs.operations.iter().map(time)));
    }
    table
}
