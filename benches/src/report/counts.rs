//! The sections whose figures are not times: memory, fill, published figures.

use super::figure::{digits, figure, rate};
use super::page::{Page, groups, pivot};
use super::plots;
use super::records::Records;
use super::table::{Cell, Table};
use super::times::asked;
use crate::record::Record;

/// A function that adds the section of an axis.
type Add = fn(&mut Page, &[&Record]);

/// Adds all sections that have records.
pub(super) fn add(page: &mut Page, records: &Records) {
    let sections: [(&str, Add); 3] =
        [("bits", add_bits), ("fill", add_fill), ("reproduction", add_reproduction)];
    for (axis, add) in sections {
        let all = records.axis(axis);
        if !all.is_empty() {
            add(page, &all);
        }
    }
}

fn add_bits(page: &mut Page, all: &[&Record]) {
    let sentence = "The memory that a rate takes: bits per item (multiple of log2(1/rate), the minimum for any filter).";
    page.section("Memory", sentence);
    let cell = |record: &Record| {
        let multiple = record.value / -record.rate.log2();
        Cell {
            shown: format!("{} ({})", figure(record.value), figure(multiple)),
            rank: Some(record.value),
        }
    };
    // The rates between are in the chart.
    let decades = all.iter().copied().filter(|record| record.rate.log10().fract().abs() < 1e-9);
    page.table(None, &pivot(&decades.collect::<Vec<_>>(), &[asked], cell));
    page.chart("memory", plots::memory(all));
}

fn add_fill(page: &mut Page, all: &[&Record]) {
    page.section("Fill", "The rate while a filter fills, measured and computed.");
    let rates = ["rate measured", "rate by theory", "measured / theory"];
    let mut table = Table::new(["points", "bits per item in the end"].into_iter().chain(rates));
    for (layout, group) in groups(all, &[|record| (0, plots::layout(record).0.to_owned())]) {
        let (theory, measured): (Vec<&Record>, Vec<&Record>) =
            group.into_iter().partition(|record| plots::layout(record).1);
        let Some(last) = measured.iter().max_by_key(|record| record.items) else { continue };
        let expected = |record: &Record| {
            theory.iter().find(|theory| theory.items == record.items).map(|theory| theory.value)
        };
        let ratios = measured.iter().filter_map(|record| Some(record.value / expected(record)?));
        let lowest = ratios.clone().min_by(f64::total_cmp);
        let range = lowest.zip(ratios.max_by(f64::total_cmp));
        let cells = [
            measured.len().to_string(),
            figure(last.bits),
            rate(last.value),
            expected(last).map(rate).unwrap_or_default(),
            range.map(|(low, high)| format!("{low:.2} to {high:.2}")).unwrap_or_default(),
        ];
        table.add(layout, cells);
    }
    page.table(None, &table);
    page.chart("fill", plots::fill(all));
}

fn add_reproduction(page: &mut Page, all: &[&Record]) {
    page.section("Reproduction", "Figures that others published, and the same measured here.");
    let mut table = Table::new(["published", "here"]);
    for (what, group) in groups(all, &[|record| (0, record.operation.clone())]) {
        let (published, here): (Vec<&Record>, Vec<&Record>) =
            group.into_iter().partition(|record| record.contender == "published");
        let published: Vec<String> = published.iter().map(|record| digits(record.value)).collect();
        let here = here.iter();
        let here: Vec<String> =
            here.map(|record| format!("{} ({})", digits(record.value), record.contender)).collect();
        table.add(what, [published.join(", "), here.join(", ")]);
    }
    page.table(None, &table);
}
