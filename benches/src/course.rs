//! The course: one operation on item after item, timed, with every answer checked.

use core::hint::black_box;
use core::ops::RangeInclusive;
use core::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::clock;
use crate::contender::Contender;
use crate::filter::Traits;
use crate::operation::Operation;
use crate::subject::{Answers, Subject};

/// Items from here on are never inserted.
pub(crate) const ABSENT: u64 = 1 << 63;

/// The number of items that are made, then timed: enough that the clock's own time does not count,
/// and few enough that they stay in a cache near the core.
const CHUNK: u64 = 32_000;

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
        if self.filter.memory {
            return;
        }
        let (found, new) = match operation {
            Operation::Insert | Operation::InsertMany => (0..=0, self.new_of(asked)),
            Operation::Hit | Operation::HitMany => (asked..=asked, 0..=0),
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
#[expect(missing_debug_implementations, reason = "the filter has no type")]
pub struct Course {
    judge: Judge,
    make: Box<dyn Fn() -> Option<Box<dyn Subject>>>,
    filter: Box<dyn Subject>,
    items: u64,
    /// The filter holds the items from `removed` on below `inserted`.
    removed: u64,
    inserted: u64,
    /// The number of hits so far: they go through the items again and again.
    hits: u64,
    /// How many absent items were queried by themselves, and how many of them were found.
    missed: u64,
    positives: u64,
    /// How many absent items were drawn for queries in random order.
    absent: u64,
    random: SmallRng,
    chunk: Vec<u64>,
}

impl Course {
    /// Takes a filter for `items` items at this rate; none if there is none. If `growth` is more
    /// than 1, the filter is made for that part of the items, and grows.
    #[must_use]
    pub fn new(contender: &Contender, items: u64, rate: f64, growth: u64) -> Option<Self> {
        let &Contender { traits, make, .. } = contender;
        // Those of other crates may exceed their rate when they grow; a table shows by how much.
        let loose = if growth > 1 && !traits.many { 10.0 } else { 1.0 };
        let judge = Judge::new(traits, loose * rate);
        Self::of(judge, items, move || make(items / growth, rate))
    }

    /// Takes an empty filter from `make`, for `items` items; none if there is none.
    pub(crate) fn of(
        judge: Judge,
        items: u64,
        make: impl Fn() -> Option<Box<dyn Subject>> + 'static,
    ) -> Option<Self> {
        let filter = make()?;
        Some(Self {
            judge,
            make: Box::new(make),
            filter,
            items,
            removed: 0,
            inserted: 0,
            hits: 0,
            missed: 0,
            positives: 0,
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

    /// Returns the share of the slots that are filled, if the filter reports it.
    #[must_use]
    pub fn load(&self) -> Option<f64> {
        self.filter.load()
    }

    /// Makes the filter one for more items, of which it holds those so far.
    #[cfg(feature = "report")]
    pub(crate) fn raise(&mut self, items: u64) {
        self.items = items;
    }

    /// Returns the share of the absent items queried so far that were found, if there were any.
    #[must_use]
    pub fn measured_rate(&self) -> Option<f64> {
        (self.missed > 0 && !self.judge.filter.memory)
            .then(|| self.positives as f64 / self.missed as f64)
    }

    /// Returns the time of `count` operations, each on another item.
    ///
    /// # Panics
    ///
    /// If the filter errs where it must not, or more often than it may.
    pub fn run(&mut self, operation: Operation, count: u64) -> Duration {
        let (mut time, mut left) = (Duration::ZERO, count);
        while left > 0 {
            self.prepare(operation, left.min(CHUNK));
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
        let fills = matches!(operation, Operation::Insert | Operation::InsertMany);
        let broken = operation != Operation::Remove && self.removed > 0;
        if broken || self.removed == self.items || fills && self.inserted == self.items {
            if !self.filter.clear() {
                self.filter = (self.make)().expect("a filter like the last");
            }
            (self.removed, self.inserted) = (0, 0);
        }
        if !fills {
            self.fill();
        }
        // Then choose the items.
        self.chunk.clear();
        match operation {
            Operation::Insert | Operation::InsertMany => self.take_new(most),
            Operation::Hit | Operation::HitMany => {
                self.chunk.extend((self.hits..self.hits + most).map(|hit| hit % self.items));
                self.hits += most;
            }
            Operation::Miss | Operation::MissMany => {
                let first = ABSENT + self.missed;
                self.chunk.extend(first..first + most);
            }
            Operation::Half => {
                // New absent items for each chunk: the memory of the last chunk's items is in the
                // cache.
                let absent = ABSENT + self.absent..;
                for (hit, miss) in (self.hits..self.hits + most).zip(absent) {
                    self.chunk.push(if self.random.random() { hit % self.items } else { miss });
                }
                self.hits += most;
                self.absent += most;
            }
            Operation::Remove => {
                let end = self.items.min(self.removed + most);
                self.chunk.extend(self.removed..end);
                self.removed = end;
            }
        }
    }

    /// Inserts, untimed, until the filter holds all items.
    fn fill(&mut self) {
        while self.inserted < self.items {
            self.take_new(CHUNK);
            let answers = self.filter.perform(Operation::Insert, &self.chunk);
            self.judge(Operation::Insert, answers);
        }
    }

    /// Puts the next items to insert into the chunk, at most this number.
    fn take_new(&mut self, most: u64) {
        let end = self.items.min(self.inserted + most);
        self.chunk.clear();
        self.chunk.extend(self.inserted..end);
        self.inserted = end;
    }

    /// Counts the answers, and checks them.
    fn judge(&mut self, operation: Operation, answers: Answers) {
        let asked = self.chunk.len() as u64;
        if matches!(operation, Operation::Miss | Operation::MissMany) {
            self.missed += asked;
            self.positives += answers.found;
        }
        self.judge.check(operation, asked, answers);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::filter::Filter;

    /// An exact set with batches that loses one of every `EVERY` items.
    struct Lossy<const EVERY: u64>(HashSet<u64>);

    impl<const EVERY: u64> Filter for Lossy<EVERY> {
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
        let mut course = Course::new(&lossy, ITEMS, 0.01, 1).expect("a set for any number");
        operations.iter().for_each(|&operation| {
            course.run(operation, 3 * ITEMS / 2);
        });
        assert_eq!(course.measured_rate(), Some(0.0));
    }

    /// Returns the message of the panic.
    fn error(run: impl FnOnce() + std::panic::UnwindSafe) -> String {
        let error = std::panic::catch_unwind(run).expect_err("an error that is found out");
        *error.downcast::<String>().expect("a message")
    }

    #[test]
    fn a_set_that_loses_nothing_runs_the_course() {
        run::<{ u64::MAX }>(&Operation::ALL);
        // Queries and inserts after removals find a full or an empty filter again.
        let after = [Operation::Miss, Operation::Remove, Operation::Hit, Operation::Insert];
        run::<{ u64::MAX }>(&after);
    }

    #[test]
    fn one_lost_item_is_found_out() {
        for operation in [Operation::Hit, Operation::HitMany, Operation::Remove] {
            let error = error(|| run::<70_000>(&[operation]));
            assert!(error.starts_with(&format!("lossy, {operation:?} ")), "{error}");
        }
    }

    #[test]
    fn too_many_false_positives_are_found_out() {
        let judge = Judge::new(Traits::of("lossy"), 0.01);
        let new = || {
            let set = Lossy::<{ u64::MAX }>((ABSENT..ABSENT + 1000).collect());
            Some(Box::new(set) as Box<dyn Subject>)
        };
        let error = error(|| {
            Course::of(judge, 1000, new).expect("a set").run(Operation::Miss, 1000);
        });
        assert!(error.starts_with("lossy, Miss "), "{error}");
    }

    /// Those that grow are made for a tenth of the items.
    #[test]
    fn filters_of_every_type_pass_the_course() {
        for contender in crate::contender::all() {
            let name = contender.traits.name;
            let grows = name.contains("Scalable") || name.ends_with("growing");
            let growth = if grows { 10 } else { 1 };
            let mut course = Course::new(&contender, 20_000, 0.05, growth).expect("a filter");
            for operation in Operation::ALL.into_iter().filter(|&of| contender.can(of)) {
                course.run(operation, 30_000);
            }
            assert!(contender.traits.memory || course.bits() > 6.0, "{}", contender.traits.name);
        }
    }
}
