//! The time of operations of several filters, in rounds.

use crate::contender::{Contender, RATE, Size};
use crate::course::{Course, Judge};
use crate::item::Distribution;
use crate::operation::Operation;

/// The queries of a run.
const QUERIES: u64 = 1_000_000;

/// The inserts and removals of a run, at least.
const WRITES: u64 = 1_000_000;

/// The figures of several filters with the same number of items.
#[derive(Debug)]
pub struct Costs {
    /// The items in each filter.
    pub items: u64,
    /// The operations, in the order of the columns.
    pub operations: Vec<Operation>,
    /// The filters.
    pub rows: Vec<Row>,
}

/// The figures of a filter.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// The items that it is made for.
    pub made_for: u64,
    /// Bits per item when it holds all.
    pub bits: f64,
    /// The share of absent items that are found.
    pub rate: f64,
    /// Nanoseconds per operation in each round; none for an operation that it cannot do.
    pub times: Vec<(Operation, Vec<f64>)>,
}

impl Costs {
    /// Measures these operations of filters that are made for `items` divided by the given number,
    /// and that hold `items`. Writes are timed over whole fills, growth included.
    pub(super) fn measure(
        contenders: &[(Contender<u64>, u64)],
        items: u64,
        rounds: usize,
        operations: &[Operation],
    ) -> Self {
        let mut courses: Vec<(Course<u64>, Row)> = contenders
            .iter()
            .filter_map(|&(contender, growth)| {
                // Those of other crates may exceed their rate when they grow; the page shows by how
                // much.
                let loose = if growth > 1 && !contender.traits.many { 10.0 } else { 1.0 };
                let judge = Judge::new(contender.traits, loose * RATE);
                let made_for = items / growth;
                let make = move || (contender.make)(made_for, Size::Rate(RATE));
                let course = Course::of(judge, items, Distribution::Uniform, make)?;
                let can = operations.iter().filter(|&&operation| contender.can(operation));
                let times = can.map(|&operation| (operation, Vec::new())).collect();
                let name = contender.traits.name;
                Some((course, Row { name, made_for, bits: 0.0, rate: 0.0, times }))
            })
            .collect();
        for _ in 0..rounds {
            for &operation in operations {
                for (course, row) in &mut courses {
                    let count = match operation {
                        _ if !operation.writes() => QUERIES,
                        _ => items * WRITES.div_ceil(items),
                    };
                    let times = row.times.iter_mut().find(|(of, _)| *of == operation);
                    let Some((_, times)) = times else { continue };
                    times.push(course.run(operation, count).as_nanos() as f64 / count as f64);
                    // Before a removal empties it.
                    if !operation.writes() {
                        row.bits = course.bits();
                    }
                }
            }
        }
        let rows = courses.into_iter().map(|(course, row)| {
            let rate = course.measured_rate().unwrap_or_default();
            Row { rate, ..row }
        });
        Self { items, operations: operations.to_vec(), rows: rows.collect() }
    }

    /// Returns the row of this name.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }
}

impl Row {
    /// Returns the times of an operation in each round; none if the filter cannot do it.
    fn times(&self, operation: Operation) -> &[f64] {
        self.times.iter().find(|(of, _)| *of == operation).map_or(&[], |(_, times)| times)
    }

    /// Returns the median time of an operation.
    #[must_use]
    pub fn time(&self, operation: Operation) -> Option<f64> {
        median(self.times(operation).to_vec())
    }

    /// Returns the median of the ratios between this filter's times and the sums of the other
    /// times.
    #[must_use]
    pub fn ratio(&self, operation: Operation, of: &[(&Self, Operation)]) -> Option<f64> {
        let sum = |round: usize| -> Option<f64> {
            of.iter().map(|(row, operation)| row.times(*operation).get(round).copied()).sum()
        };
        let rounds = self.times(operation).iter().enumerate();
        median(rounds.filter_map(|(round, time)| Some(time / sum(round)?)).collect())
    }
}

/// Returns the middle one; none of none.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender;

    #[test]
    fn a_ratio_is_the_median_of_the_rounds() {
        let row = |times: &[(Operation, &[f64])]| Row {
            name: "",
            made_for: 1,
            bits: 0.0,
            rate: 0.0,
            times: times.iter().map(|(of, times)| (*of, times.to_vec())).collect(),
        };
        // One round with three times the time of the others, for both.
        let one = row(&[(Operation::Insert, &[4.0, 12.0, 5.0])]);
        let two =
            row(&[(Operation::Insert, &[1.0, 3.0, 1.0]), (Operation::Miss, &[1.0, 3.0, 1.0])]);
        assert_eq!(one.ratio(Operation::Insert, &[(&two, Operation::Insert)]), Some(4.0));
        let both = [(&two, Operation::Insert), (&two, Operation::Miss)];
        assert_eq!(one.ratio(Operation::Insert, &both), Some(2.0));
        assert_eq!(one.ratio(Operation::Insert, &[(&one, Operation::Remove)]), None);
        assert_eq!(one.time(Operation::Insert), Some(5.0));
    }

    /// The course panics at a false negative, or at too many false positives.
    #[test]
    fn filters_that_grow_count_or_rotate_pass_the_course() {
        let growing = contender::growing().into_iter().map(|contender| (contender, 100));
        let others = [contender::counting(), contender::rotating()].concat();
        let others = others.into_iter().map(|contender| (contender, 1));
        let all: Vec<_> = growing.chain(others).collect();
        let operations =
            [Operation::Insert, Operation::HitMany, Operation::Miss, Operation::Remove];
        let costs = Costs::measure(&all, 100_000, 1, &operations);
        assert_eq!(costs.rows.len(), all.len());
        let blooms = ["scalable", "once scalable"].map(|name| costs.row(name).expect("a row"));
        assert!(blooms.iter().all(|row| row.rate < RATE && row.bits > 10.0), "{blooms:?}");
    }
}
