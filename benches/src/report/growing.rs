//! The page `GROWING.md`: filters that grow, remove or forget.

use super::data::Data;
use super::page::Page;
use super::table::{Table, costs, head};
use crate::contender::ours::GROWTH;
use crate::figure::{count, figure, percent};
use crate::measure::growing::{
    self, ALL, AT_ITS_RATE, AT_THE_REQUEST, COUNTS, KINDS, LAST, LOAD, MEMORY, QUERIES, RANGES,
    SIZED_RATES, TAIL,
};
use crate::record::Record;

/// The operations of the tables of filters that grow, remove or forget.
const OPERATIONS: [&str; 7] = [
    "insert",
    "contains, hit",
    "contains, miss",
    "remove",
    "insert_many_with",
    "contains_many_with, hit",
    "contains_many_with, miss",
];

/// The filters of one size that a growing one is compared with, and how the table says so.
const OTHERS: [(&str, &str); 2] =
    [(AT_ITS_RATE, "the rate there"), (AT_THE_REQUEST, "the request")];

/// Ratios of a growing filter to one of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratios<'a> {
    pub(super) data: &'a Data,
    /// The type of filter, and the most items of the growing one.
    pub(super) kind: &'static str,
    pub(super) most: u64,
    pub(super) rate: f64,
    /// Which filter of one size.
    pub(super) other: &'static str,
}

impl<'a> Ratios<'a> {
    /// Returns the figures of an operation of the growing filter, in the order of the counts.
    fn grown(self, operation: &str) -> impl Iterator<Item = &'a Record> {
        let name = growing::growing(self.kind, self.most);
        let all = self.data.records("growing").iter();
        all.filter(move |record| {
            record.contender == name && record.operation == operation && record.rate == self.rate
        })
    }

    /// Returns the figure of the filter of one size for the same as this.
    fn other(self, grown: &Record) -> Option<&'a Record> {
        let name = format!("{}, {}", self.kind, self.other);
        self.data.records("growing").iter().find(|record| {
            (&record.contender, &record.operation) == (&name, &grown.operation)
                && (record.items, record.rate) == (grown.items, grown.rate)
        })
    }

    /// Returns the ratio at a count.
    fn at(self, operation: &str, items: u64) -> Option<f64> {
        let grown = self.grown(operation).find(|record| record.items == items)?;
        Some(grown.value / self.other(grown)?.value)
    }

    /// Returns the ratios at all counts, in ascending order.
    fn all(self, operation: &str) -> Vec<f64> {
        let counts = self.grown(operation).map(|record| record.items);
        let mut all: Vec<f64> = counts.filter_map(|items| self.at(operation, items)).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    /// Returns the median and the highest of the ratios.
    pub(super) fn ends(self, operation: &str) -> Option<[f64; 2]> {
        let all = self.all(operation);
        Some([*all.get(all.len() / 2)?, *all.last()?])
    }
}

/// Returns the fewest and the most items of the growing filters that have figures of an operation.
fn extents(data: &Data, operation: &'static str) -> impl Iterator<Item = (u64, u64)> {
    RANGES.into_iter().filter(move |&(_, most)| {
        let ratios = |rate| Ratios { data, kind: KINDS[0].name, most, rate, other: AT_ITS_RATE };
        SIZED_RATES.into_iter().any(|rate| ratios(rate).grown(operation).next().is_some())
    })
}

/// Returns the page.
pub(super) fn page(data: &Data, charts: &[&str]) -> String {
    let mut page = Page::new("Filters that grow, remove or forget");
    page.chart(charts, "latency", "The latency of single inserts, growing and not");
    page.text(
        "The chart shows the time that one insert of 10, of 100 and so on exceeds. The aims of \
         growth are in [REPORT.md](REPORT.md#aims).",
    );
    if let Some((first, _)) = extents(data, LAST).next() {
        page.text(&format!(
            "A filter made for {} items grows. At {COUNTS} counts, drawn at random, it is compared \
             with two fixed filters made for just that count: one at the rate that the growing \
             filter has there (the request × the count / the last count), and one at the request. \
             All run on one thread, in one process, in turn. The memory of a fixed filter is \
             touched before it is filled. A figure of a count is the median of all runs, and a \
             ratio is the figure of the growing filter divided by that of the fixed one. Below are \
             the median and the highest of the {COUNTS} ratios. The inserts are those of the last \
             tenth before the count, all inserts up to the count, and the time that one insert of \
             10,000 exceeds.",
            count(first),
        ));
    }
    for (_, most) in extents(data, LAST) {
        page.head(&format!(
            "Growing to {} items, against a fixed filter of the count",
            count(most)
        ));
        page.text(&against(data, most).markdown());
        page.text(&format!(
            "The loads of a growing `CuckooFilter` at 1 % and of both fixed filters, by count, and \
             the ratios to the fixed filter at the request:\n\n{}",
            at_counts(data, most).markdown()
        ));
    }
    if let Some((_, most)) = extents(data, MEMORY).last() {
        page.head("The memory of growth");
        page.chart(charts, "growth", "Bits per item at 64 counts, of growing and fixed filters");
        page.text(&format!(
            "A `CuckooFilter` that grows to {} items: its bits per item, with locks and versions, \
             divided by those of a fixed filter of the count.\n\n{}",
            count(most),
            sizes(data, most).markdown()
        ));
    }
    for (section, title) in
        [("chains", "The cost of growth"), ("removing", "Filters that forget or remove")]
    {
        if data.records(section).is_empty() {
            continue;
        }
        let point = data.at_most(section);
        let items = count(point.items);
        let text = match section {
            "chains" => format!(
                "The first three rows are fixed filters made for {items} items, the others filters \
                 made for {} items that have grown to {items}. Nanoseconds per item, the fastest of the \
                 runs, on one thread at a rate of 1 %. Inserts are timed from the first to the \
                 last item, growth included. Bits are missing where a filter does not report its \
                 present size.",
                count(point.items / GROWTH)
            ),
            _ => format!(
                "The filters are made for the {items} items that they hold. This number is also \
                 the window of the `RotatingBloomFilter`. The `OnceBloomFilter`, which never \
                 forgets, is for comparison. Nanoseconds per item, the fastest of the runs, on one \
                 thread at a rate of 1 %."
            ),
        };
        page.head(title);
        page.text(&format!("{text}\n\n{}", costs(point, &OPERATIONS).markdown()));
    }
    page.finish(data, &["latency", "growing", "chains", "removing"])
}

/// Returns the table of ratios: a row for each type, rate and filter of one size.
fn against(data: &Data, most: u64) -> Table {
    let mut rows = Vec::new();
    for kind in &KINDS {
        for &rate in kind.rates {
            for (other, words) in OTHERS {
                let name = format!("{}, {}, at {words}", kind.name, percent(rate));
                rows.push((name, Ratios { data, kind: kind.name, most, rate, other }));
            }
        }
    }
    let mut table = Table::new(rows.iter().map(|(name, _)| name));
    let operations = QUERIES.map(|operation| operation.name());
    for operation in [&[LAST, ALL, TAIL][..], &operations].concat() {
        table.texts(&head(operation), |name| {
            let (_, ratios) = rows.iter().find(|row| row.0 == name)?;
            let [median, worst] = ratios.ends(operation)?.map(figure);
            Some(format!("{median}, {worst}"))
        });
    }
    table
}

/// Returns the table with a row for each count.
fn at_counts(data: &Data, most: u64) -> Table {
    let of = |other| Ratios { data, kind: KINDS[0].name, most, rate: SIZED_RATES[0], other };
    let [there, request] = [of(AT_ITS_RATE), of(AT_THE_REQUEST)];
    let loads: Vec<&Record> = request.grown(LOAD).collect();
    let mut table = Table::new(loads.iter().map(|load| count(load.items)));
    let load = |name: &str| loads.iter().copied().find(|load| count(load.items) == name);
    let share = |load: &Record| format!("{:.0} %", 100.0 * load.value);
    table.texts("load, growing", |name| load(name).map(share));
    table.texts("at the rate there", |name| there.other(load(name)?).map(share));
    table.texts("at the request", |name| request.other(load(name)?).map(share));
    for operation in [LAST, TAIL].into_iter().chain(QUERIES.map(|operation| operation.name())) {
        table.texts(&head(operation), |name| {
            Some(figure(request.at(operation, load(name)?.items)?))
        });
    }
    table
}

/// Returns the table of sizes, with a row for each rate and filter of one size.
fn sizes(data: &Data, most: u64) -> Table {
    let mut rows = Vec::new();
    for rate in SIZED_RATES {
        for (other, words) in OTHERS {
            let ratios = Ratios { data, kind: KINDS[0].name, most, rate, other };
            rows.push((format!("{}, at {words}", percent(rate)), ratios));
        }
    }
    let mut table = Table::new(rows.iter().map(|(name, _)| name));
    let of = |name: &str| rows.iter().find(|row| row.0 == name).map(|row| row.1);
    let ends = |name: &str, last: bool| {
        let counts: Vec<u64> = of(name)?.grown(MEMORY).map(|record| record.items).collect();
        let items = if last { counts.last() } else { counts.first() };
        of(name)?.at(MEMORY, *items?).map(figure)
    };
    table.texts("at the first count", |name| ends(name, false));
    table.texts("at the maximum", |name| ends(name, true));
    table.texts("on average", |name| {
        let all = of(name)?.all(MEMORY);
        Some(figure(all.iter().sum::<f64>() / all.len() as f64))
    });
    table.texts("at most", |name| of(name)?.all(MEMORY).last().copied().map(figure));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Section;

    #[test]
    fn ratios_are_of_the_same_count_and_rate() {
        let most = 1_000_000;
        let mut records = Vec::new();
        let mut add = |name: &str, items, rate, value| {
            records.push(Record::new(name, LAST, items, rate).of(value, "ns"));
        };
        for items in [10, 20, 30] {
            add(&growing::growing("CuckooFilter", most), items, 1e-2, 3.0 * items as f64);
            add("CuckooFilter, for the count, at the request", items, 1e-2, 30.0);
            add("CuckooFilter, for the count, at the request", items, 1e-4, 7.0);
        }
        let section = Section { facts: Vec::new(), records };
        let data = Data([("growing", section)].into());
        let [other, there] = [AT_THE_REQUEST, AT_ITS_RATE];
        let of = |other| Ratios { data: &data, kind: "CuckooFilter", most, rate: 1e-2, other };
        assert_eq!(of(other).all(LAST), [1.0, 2.0, 3.0]);
        assert_eq!((of(other).ends(LAST), of(there).ends(LAST)), (Some([2.0, 3.0]), None));
        let page = page(&data, &[]);
        assert!(page.contains("| CuckooFilter, 1 %, at the request | 2.00, 3.00 |"), "{page}");
        assert!(!page.contains("The memory of growth"), "{page}");
    }
}
