//! The course: one operation on item after item, timed, with every answer checked.

use core::fmt;
use core::hint::black_box;
use core::ops::RangeInclusive;
use core::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::clock;
use crate::contender::filter::Traits;
use crate::contender::{Contender, Size};
use crate::item::{Distribution, Item};
use crate::operation::Operation;
use crate::subject::{Answers, MIXED, Subject};

/// Items from here on are never inserted.
pub const ABSENT: u64 = 1 << 63;

/// Checks the answers of a filter. A false negative is never right; the rate limits the number of
/// false positives, with tolerance for chance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judge {
    filter: Traits,
    /// The highest rate that may be measured.
    highest: f64,
}

impl Judge {
    /// The multiple of the requested rate above which something is wrong.
    const LOOSE: f64 = 1.5;

    /// The number of false answers that count as chance whatever the rate.
    const CHANCE: f64 = 50.0;

    pub(crate) fn new(filter: Traits, rate: f64) -> Self {
        Self { filter, highest: Self::LOOSE * rate.max(filter.lowest) }
    }

    /// Returns how many of new items are reported as new, where rates up to the highest are right.
    /// On the way to the capacity the rate is below that at capacity.
    fn new_of(self, items: u64) -> RangeInclusive<u64> {
        (items as f64 * (1.0 - self.highest) - Self::CHANCE).max(0.0) as u64..=items
    }

    /// Checks the answers of an operation on `asked` items.
    ///
    /// # Panics
    ///
    /// If the filter errs where it must not, or more often than it may.
    pub(crate) fn check(self, operation: Operation, asked: u64, answers: Answers) {
        let (found, new) = match operation {
            Operation::Insert | Operation::InsertMany | Operation::InsertLast => {
                (0..=0, self.new_of(asked))
            }
            Operation::Hit | Operation::HitMany => (asked..=asked, 0..=0),
            Operation::Mixed => {
                let inserted = asked / MIXED as u64;
                (asked - inserted..=asked - inserted, self.new_of(inserted))
            }
            Operation::Miss | Operation::MissMany => {
                (0..=(asked as f64 * self.highest + Self::CHANCE) as u64, 0..=0)
            }
            Operation::Half => (asked / 4..=asked, 0..=0),
            Operation::Remove if self.filter.copies => (asked..=asked, 0..=0),
            // Of two items that it cannot distinguish it finds one.
            Operation::Remove => (self.new_of(asked), 0..=0),
        };
        assert!(
            found.contains(&answers.found) && new.contains(&answers.new),
            "{}, {operation:?} of {asked}: {} found, not {found:?}, {} new, not {new:?}",
            self.filter.name,
            answers.found,
            answers.new,
        );
    }
}

/// A filter on the course.
pub struct Course<K> {
    judge: Judge,
    make: Box<dyn Fn() -> Option<Box<dyn Subject<K>>>>,
    filter: Box<dyn Subject<K>>,
    items: u64,
    /// The filter holds the items from `removed` on below `inserted`.
    removed: u64,
    inserted: u64,
    hits: Box<dyn Iterator<Item = u64>>,
    /// How many absent items were queried, and how many of them were found.
    missed: u64,
    positives: u64,
    /// How many items were inserted one by one or in batches, and how many of them were not
    /// reported as new.
    inserts: u64,
    refused: u64,
    /// How many absent items were drawn for queries in random order.
    absent: u64,
    random: SmallRng,
    chunk: Vec<K>,
}

impl<K> fmt::Debug for Course<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Course").field("items", &self.items).finish_non_exhaustive()
    }
}

impl<K: Item> Course<K> {
    /// Takes a filter of this size for `items` items; none if there is none. Hits are drawn from
    /// the items by `distribution`.
    #[must_use]
    pub fn new(
        contender: &Contender<K>,
        items: u64,
        size: Size,
        distribution: Distribution,
    ) -> Option<Self> {
        let rate = match size {
            Size::Rate(rate) => rate,
            // Eight times the rate of the best classic filter: no layout is as bad.
            Size::Bits(bits) => 8.0 * (-bits * core::f64::consts::LN_2.powi(2)).exp(),
        };
        let make = contender.make;
        let judge = Judge::new(contender.traits, rate);
        Self::of(judge, items, distribution, move || make(items, size))
    }

    /// Takes an empty filter from `make`, for `items` items; none if there is none.
    pub(crate) fn of(
        judge: Judge,
        items: u64,
        distribution: Distribution,
        make: impl Fn() -> Option<Box<dyn Subject<K>>> + 'static,
    ) -> Option<Self> {
        let filter = make()?;
        Some(Self {
            judge,
            make: Box::new(make),
            filter,
            items,
            removed: 0,
            inserted: 0,
            hits: distribution.draws(items),
            missed: 0,
            positives: 0,
            inserts: 0,
            refused: 0,
            absent: 0,
            random: SmallRng::seed_from_u64(1),
            chunk: Vec::new(),
        })
    }

    /// Returns the bits of memory per item.
    #[must_use]
    pub fn bits(&self) -> f64 {
        self.filter.bytes() as f64 * 8.0 / self.items as f64
    }

    /// Returns the share of the absent items queried so far that were found, if there were any.
    #[must_use]
    pub fn measured_rate(&self) -> Option<f64> {
        (self.missed > 0).then(|| self.positives as f64 / self.missed as f64)
    }

    /// Returns how many inserts of a fill, from empty to full, were not reported as new: the filter
    /// had no room, or it took the item for a known one.
    #[must_use]
    pub fn refused(&self) -> Option<f64> {
        (self.inserts > 0).then(|| (self.refused * self.items) as f64 / self.inserts as f64)
    }

    /// Returns the time of `count` operations, each on another item.
    ///
    /// # Panics
    ///
    /// If the filter errs where it must not, or more often than it may.
    pub fn run(&mut self, operation: Operation, count: u64) -> Duration {
        let (mut time, mut left) = (Duration::ZERO, count);
        while left > 0 {
            self.prepare(operation, left.min(K::CHUNK));
            let run = || black_box(self.filter.perform(operation, &self.chunk));
            let (answers, taken) = clock::time(run);
            time += taken;
            self.judge(operation, answers);
            left -= self.chunk.len() as u64;
        }
        time
    }

    /// Brings the filter into the state that the operation needs, and the next items, at most
    /// `most`, into the chunk.
    fn prepare(&mut self, operation: Operation, most: u64) {
        // Begin anew where nothing is left to insert, or to remove, or where items are missing.
        let start = operation.start(self.items);
        let fills = start < self.items;
        let broken = operation != Operation::Remove && self.removed > 0;
        if broken || self.removed == self.items || fills && self.inserted == self.items {
            self.empty();
        }
        self.fill_to(start);
        // Then choose the items.
        self.chunk.clear();
        match operation {
            Operation::Insert | Operation::InsertMany | Operation::InsertLast => {
                self.take_new(self.items.min(self.inserted + most));
            }
            Operation::Mixed => {
                let new = (most.div_ceil(MIXED as u64)).min(self.items - self.inserted);
                for at in 1..=most.min(new * MIXED as u64) {
                    let item = if at % MIXED as u64 == 0 {
                        self.inserted += 1;
                        self.inserted - 1
                    } else {
                        self.hits.by_ref().find(|&hit| hit < start).unwrap_or_default()
                    };
                    self.chunk.push(K::nth(item));
                }
            }
            Operation::Hit | Operation::HitMany => {
                self.chunk.extend(self.hits.by_ref().take(most as usize).map(K::nth));
            }
            Operation::Miss | Operation::MissMany => {
                let first = ABSENT + self.missed;
                self.chunk.extend((first..first + most).map(K::nth));
            }
            Operation::Half => {
                // New absent items for each chunk: the memory of the last chunk's items is in the
                // cache.
                let absent = ABSENT + self.absent..;
                for (hit, miss) in self.hits.by_ref().zip(absent).take(most as usize) {
                    self.chunk.push(K::nth(if self.random.random() { hit } else { miss }));
                }
                self.absent += most;
            }
            Operation::Remove => {
                let end = self.items.min(self.removed + most);
                self.chunk.extend((self.removed..end).map(K::nth));
                self.removed = end;
            }
        }
    }

    /// Inserts, untimed, until the filter holds the items below this.
    fn fill_to(&mut self, items: u64) {
        while self.inserted < items {
            self.take_new(items.min(self.inserted + K::CHUNK));
            let answers = self.filter.perform(Operation::Insert, &self.chunk);
            self.judge(Operation::Insert, answers);
        }
    }

    /// Puts the next items to insert into the chunk, up to this one.
    fn take_new(&mut self, end: u64) {
        self.chunk.clear();
        self.chunk.extend((self.inserted..end).map(K::nth));
        self.inserted = end;
    }

    fn empty(&mut self) {
        if !self.filter.clear() {
            self.filter = (self.make)().expect("a filter like the last");
        }
        (self.removed, self.inserted) = (0, 0);
    }

    /// Counts the answers, and checks them.
    fn judge(&mut self, operation: Operation, answers: Answers) {
        let asked = self.chunk.len() as u64;
        match operation {
            Operation::Miss | Operation::MissMany => {
                self.missed += asked;
                self.positives += answers.found;
            }
            Operation::Insert | Operation::InsertMany | Operation::InsertLast => {
                self.inserts += asked;
                self.refused += asked - answers.new;
            }
            _ => {}
        }
        self.judge.check(operation, asked, answers);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::contender::filter::Filter;

    /// An exact set with batches that loses one of every `EVERY` items.
    struct Lossy<const EVERY: u64>(HashSet<u64>);

    impl<const EVERY: u64> Filter<u64> for Lossy<EVERY> {
        const TRAITS: Traits = Traits { many: true, ..Traits::of("lossy") };

        fn new(_: u64, _: f64) -> Option<Self> {
            Some(Self(HashSet::new()))
        }

        fn bytes(&self) -> u64 {
            0
        }

        fn contains(&self, item: &u64) -> bool {
            self.0.contains(item)
        }

        fn insert(&mut self, item: &u64) -> bool {
            item % EVERY == EVERY - 1 || self.0.insert(*item)
        }

        fn remove(&mut self, item: &u64) -> bool {
            self.0.remove(item)
        }
    }

    const ITEMS: u64 = 70_000;

    /// Runs the course, beyond one fill, and no multiple of a chunk.
    fn run<const EVERY: u64>(operations: &[Operation]) {
        let lossy = Contender::of::<Lossy<EVERY>>();
        let course = Course::new(&lossy, ITEMS, Size::Rate(0.01), Distribution::Uniform);
        let mut course = course.expect("a set for any number of items");
        operations.iter().for_each(|&operation| {
            course.run(operation, 3 * ITEMS / 2);
        });
        assert_eq!((course.measured_rate(), course.refused()), (Some(0.0), Some(0.0)));
    }

    /// Returns the message of the panic.
    fn error(run: impl FnOnce() + std::panic::UnwindSafe) -> String {
        let error = std::panic::catch_unwind(run).expect_err("an error that is found out");
        *error.downcast::<String>().expect("a message")
    }

    #[test]
    fn a_set_that_loses_nothing_runs_the_course() {
        run::<{ u64::MAX }>(Operation::COMMON);
        // Queries and inserts after removals find a full or an empty filter again.
        let after = [Operation::Miss, Operation::Remove, Operation::Hit, Operation::InsertLast];
        run::<{ u64::MAX }>(&after);
    }

    #[test]
    fn one_lost_item_is_found_out() {
        for operation in [Operation::Hit, Operation::HitMany, Operation::Remove] {
            let error = error(|| run::<70_000>(&[operation]));
            assert!(error.starts_with(&format!("lossy, {operation:?} ")), "{error}");
        }
        let error = error(|| run::<50_000>(&[Operation::Mixed]));
        assert!(error.starts_with("lossy, Mixed "), "{error}");
    }

    #[test]
    fn too_many_false_positives_are_found_out() {
        let judge = Judge::new(Traits::of("lossy"), 0.01);
        let new = || {
            let set = Lossy::<{ u64::MAX }>((ABSENT..ABSENT + 1000).collect());
            Some(Box::new(set) as Box<dyn Subject<u64>>)
        };
        let error = error(|| {
            let course = Course::of(judge, 1000, Distribution::Uniform, new);
            course.expect("a set").run(Operation::Miss, 1000);
        });
        assert!(error.starts_with("lossy, Miss "), "{error}");
    }
}
