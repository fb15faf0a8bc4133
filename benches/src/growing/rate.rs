//! The published growth test: filters made for 10,000 items at a rate of 0.0005, which get many
//! more.

use crate::contender::{self, Contender, Size, named};
use crate::course::ABSENT;
use crate::operation::Operation::{HitMany, Insert, MissMany};
use crate::subject::Subject;

/// The items that the filters are made for.
pub(crate) const MADE_FOR: u64 = 10_000;

/// The rate that they are made for.
pub(crate) const REQUEST: f64 = 0.0005;

/// The items of a call.
const CHUNK: u64 = 32_000;

/// The filters with a number of items: for each its bits per item, and the share of absent items
/// that it finds.
#[derive(Debug)]
pub struct Stage {
    /// The items in each filter.
    pub items: u64,
    /// The absent items that are queried.
    pub probes: u64,
    /// The filters.
    pub rows: Vec<Row>,
}

/// A filter with the items of a stage.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// The items that it is made for.
    pub made_for: u64,
    /// Bits per item.
    pub bits: f64,
    /// The share of absent items that it finds.
    pub rate: f64,
}

/// Measures the filters with 10,000, 30,000 and `most` items.
///
/// # Panics
///
/// If a filter misses an item, or one of ours has more false positives than the rate allows, by
/// five standard deviations.
pub(super) fn stages(most: u64) -> Vec<Stage> {
    let (growing, fixed) = (contender::growing(), named(&contender::all(), &["blocked"]));
    [MADE_FOR, 3 * MADE_FOR, most]
        .map(|items| {
            // About a thousand false positives at the rate requested.
            let probes = 2_000_000;
            let sized = fixed.iter().map(|contender| (contender, items));
            let small = fixed.iter().chain(&growing).map(|contender| (contender, MADE_FOR));
            let all = sized.chain(small.skip(usize::from(items == MADE_FOR)));
            let rows = all.map(|(contender, made_for)| row(contender, made_for, items, probes));
            Stage { items, probes, rows: rows.collect() }
        })
        .into()
}

fn row(contender: &Contender<u64>, made_for: u64, items: u64, probes: u64) -> Row {
    let name = contender.traits.name;
    let mut filter = (contender.make)(made_for, Size::Rate(REQUEST)).expect("a filter");
    let mut perform = |operation, from: u64, count: u64| -> u64 {
        let mut found = 0;
        for first in (0..count).step_by(CHUNK as usize) {
            let chunk: Vec<u64> = (from + first..from + count.min(first + CHUNK)).collect();
            found += filter.perform(operation, &chunk).found;
        }
        found
    };
    perform(Insert, 0, items);
    assert_eq!(perform(HitMany, 0, items), items, "{name} misses an item");
    let rate = perform(MissMany, ABSENT, probes) as f64 / probes as f64;
    let most = REQUEST + 5.0 * (REQUEST / probes as f64).sqrt();
    let keeps = contender.traits.many && (made_for == items || name != "blocked");
    assert!(!keeps || rate < most, "{name} with {items} items: {rate}");
    Row { name, made_for, bits: bits(&*filter, items), rate }
}

fn bits(filter: &dyn Subject<u64>, items: u64) -> f64 {
    filter.bytes() as f64 * 8.0 / items as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_filter_fails_the_growth_test_and_the_others_pass() {
        let stages = stages(300_000);
        let last = stages.last().expect("a stage");
        let rate = |name: &str, made_for: u64| {
            let row = last.rows.iter().find(|row| row.name == name && row.made_for == made_for);
            row.expect("a row").rate
        };
        assert!(rate("blocked", MADE_FOR) > 0.5);
        assert!(rate("blocked", 300_000) < 1.2 * REQUEST);
        assert!(rate("scalable", MADE_FOR) < REQUEST);
        assert_eq!(stages[0].rows.len() + 1, last.rows.len());
    }
}
