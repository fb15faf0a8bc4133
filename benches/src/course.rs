//! The course: one operation on item after item, timed, with every answer counted and judged.

use core::fmt;
use core::hint::black_box;
use core::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::clock;
use crate::contender::{Contender, Filter};
use crate::item::{Distribution, Item};

/// Items from here on are never inserted.
pub const ABSENT: u64 = 1 << 63;

/// The multiple of the rate asked for above which something is wrong.
const LOOSE: f64 = 1.5;

/// False answers that are put down to chance whatever the rate.
const CHANCE: f64 = 50.0;

/// Of so many operations of the mixed kind the last is an insert.
const MIXED: usize = 10;

/// What is done with an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Insert an item that is not in, into a filter on its way from empty to full.
    Insert,
    /// Ask a full filter for an item that is in.
    Hit,
    /// Ask a full filter for an item that is not in.
    Miss,
    /// Ask a full filter for an item that is in as often as not.
    Half,
    /// Of ten, ask for nine that are in and insert one, on the way from nine tenths full to full.
    Mixed,
    /// [`Insert`](Self::Insert) in batches.
    InsertMany,
    /// [`Hit`](Self::Hit) in batches.
    HitMany,
    /// [`Miss`](Self::Miss) in batches.
    MissMany,
}

impl Operation {
    /// All, in the order of a table's columns.
    pub const ALL: [Self; 8] = [
        Self::Insert,
        Self::Hit,
        Self::Miss,
        Self::Half,
        Self::Mixed,
        Self::InsertMany,
        Self::HitMany,
        Self::MissMany,
    ];

    /// As it stands in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::Half => "half",
            Self::Mixed => "mixed",
            Self::InsertMany => "insert_many",
            Self::HitMany => "hit_many",
            Self::MissMany => "miss_many",
        }
    }

    /// Whether it inserts and does nothing else.
    #[must_use]
    pub const fn inserts(self) -> bool {
        matches!(self, Self::Insert | Self::InsertMany)
    }

    /// Whether it is done in batches.
    #[must_use]
    pub const fn is_many(self) -> bool {
        matches!(self, Self::InsertMany | Self::HitMany | Self::MissMany)
    }
}

/// How often an answer was "in" or "new".
#[derive(Clone, Copy, Default)]
struct Answers {
    found: u64,
    new: u64,
}

/// The highest rate that may be measured where this one was asked for.
pub(crate) fn highest_rate<K: Item, C: Filter<K>>(rate: f64) -> f64 {
    LOOSE * rate.max(C::LOWEST)
}

/// How many of so many new items must be told to be new at least, where rates up to this are right. On the
/// way to the capacity they lie below that at capacity.
pub(crate) fn least_new(items: u64, rate: f64) -> u64 {
    (items as f64 * (1.0 - rate) - CHANCE).max(0.0) as u64
}

/// A filter on the course.
pub struct Course<C, K> {
    make: Box<dyn Fn() -> Option<C>>,
    filter: C,
    items: u64,
    /// The highest rate that may be measured.
    highest: f64,
    /// Items below are in the filter.
    inserted: u64,
    hits: Box<dyn Iterator<Item = u64>>,
    /// Absent items asked for, and those of them that were found.
    missed: u64,
    positives: u64,
    /// Absent items asked for among others.
    absent: u64,
    random: SmallRng,
    chunk: Vec<K>,
}

impl<C, K> fmt::Debug for Course<C, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Course").field("items", &self.items).finish_non_exhaustive()
    }
}

impl<K: Item, C: Contender<K>> Course<C, K> {
    /// An empty filter from `make` for so many items at this rate, or none if there is none. Hits are
    /// drawn from the items by `distribution`.
    #[must_use]
    pub fn new(
        items: u64,
        rate: f64,
        distribution: Distribution,
        make: impl Fn() -> Option<C> + 'static,
    ) -> Option<Self> {
        let mut filter = make()?;
        filter.clear();
        Some(Self {
            make: Box::new(make),
            filter,
            items,
            highest: highest_rate::<K, C>(rate),
            inserted: 0,
            hits: distribution.draws(items),
            missed: 0,
            positives: 0,
            absent: 0,
            random: SmallRng::seed_from_u64(1),
            chunk: Vec::new(),
        })
    }

    /// Bits of memory an item.
    #[must_use]
    pub fn bits(&self) -> f64 {
        self.filter.bytes() as f64 * 8.0 / self.items as f64
    }

    /// The share of the absent items asked for so far that were found, if there were any.
    #[must_use]
    pub fn measured_rate(&self) -> Option<f64> {
        (self.missed > 0).then(|| self.positives as f64 / self.missed as f64)
    }

    /// The time of `count` operations, each on another item.
    ///
    /// # Panics
    ///
    /// If the filter errs, or errs more than it may.
    pub fn run(&mut self, operation: Operation, count: u64) -> Duration {
        let (mut time, mut left) = (Duration::ZERO, count);
        while left > 0 {
            self.prepare(operation, left.min(K::CHUNK));
            let start = clock::now();
            let answers = black_box(perform(&mut self.filter, operation, &self.chunk));
            time += clock::now() - start;
            self.judge(operation, answers);
            left -= self.chunk.len() as u64;
        }
        time
    }

    /// Inserts, untimed, until so many are in.
    pub fn fill_to(&mut self, items: u64) {
        while self.inserted < items {
            let end = items.min(self.inserted + K::CHUNK);
            self.take_new(end);
            let answers = perform(&mut self.filter, Operation::Insert, &self.chunk);
            self.judge(Operation::Insert, answers);
        }
    }

    /// Brings the filter into the state that the operation wants, and the next items, `most` at most,
    /// into the chunk.
    fn prepare(&mut self, operation: Operation, most: u64) {
        match operation {
            Operation::Insert | Operation::InsertMany => {
                if self.inserted == self.items {
                    self.empty();
                }
                self.take_new(self.items.min(self.inserted + most));
            }
            Operation::Mixed => {
                if self.inserted == self.items {
                    self.empty();
                }
                let asked = (self.items * 9 / 10).max(1);
                self.fill_to(asked);
                let new = (most.div_ceil(MIXED as u64)).min(self.items - self.inserted);
                let most = most.min(new * MIXED as u64);
                self.chunk.clear();
                for at in 1..=most {
                    let item = if at % MIXED as u64 == 0 {
                        self.inserted += 1;
                        self.inserted - 1
                    } else {
                        self.hits.by_ref().find(|&hit| hit < asked).unwrap_or_default()
                    };
                    self.chunk.push(K::nth(item));
                }
            }
            Operation::Hit | Operation::HitMany => {
                self.fill_to(self.items);
                self.chunk.clear();
                self.chunk.extend(self.hits.by_ref().take(most as usize).map(K::nth));
            }
            Operation::Miss | Operation::MissMany => {
                self.fill_to(self.items);
                let first = ABSENT + self.missed;
                self.chunk.clear();
                self.chunk.extend((first..first + most).map(K::nth));
            }
            Operation::Half => {
                self.fill_to(self.items);
                self.chunk.clear();
                // Others in each chunk: of those of the last one the memory is in the cache.
                let absent = ABSENT + self.absent..;
                for (hit, miss) in self.hits.by_ref().zip(absent).take(most as usize) {
                    self.chunk.push(K::nth(if self.random.random() { hit } else { miss }));
                }
                self.absent += most;
            }
        }
    }

    /// Puts the items that are to be in next into the chunk.
    fn take_new(&mut self, end: u64) {
        self.chunk.clear();
        self.chunk.extend((self.inserted..end).map(K::nth));
        self.inserted = end;
    }

    fn empty(&mut self) {
        if !self.filter.clear() {
            self.filter = (self.make)().expect("a filter like the last");
        }
        self.inserted = 0;
    }

    /// No false negative is ever right; false positives may be as many as the rate says, with room for
    /// chance.
    fn judge(&mut self, operation: Operation, answers: Answers) {
        let asked = self.chunk.len() as u64;
        let new_of = |items: u64| least_new(items, self.highest)..=items;
        let (found, new) = match operation {
            Operation::Insert | Operation::InsertMany => (0..=0, new_of(asked)),
            Operation::Hit | Operation::HitMany => (asked..=asked, 0..=0),
            Operation::Mixed => {
                let inserted = asked / MIXED as u64;
                (asked - inserted..=asked - inserted, new_of(inserted))
            }
            Operation::Miss | Operation::MissMany => {
                self.missed += asked;
                self.positives += answers.found;
                let most = asked as f64 * self.highest + CHANCE;
                (0..=most as u64, 0..=0)
            }
            Operation::Half => (asked / 4..=asked, 0..=0),
        };
        let right = found.contains(&answers.found) && new.contains(&answers.new);
        assert!(
            right,
            "{}, {operation:?} of {asked}: {} found, not {found:?}, {} new, not {new:?}",
            C::NAME,
            answers.found,
            answers.new,
        );
    }
}

/// Does it with all items. A function of its own, to be found in a profile.
#[inline(never)]
fn perform<K: Item, C: Contender<K>>(filter: &mut C, operation: Operation, items: &[K]) -> Answers {
    let count = |found: bool| u64::from(found);
    let mut answers = Answers::default();
    match operation {
        Operation::Insert => {
            answers.new = items.iter().map(|item| count(filter.insert(item))).sum();
        }
        Operation::InsertMany => filter.insert_many(items, |_, new| answers.new += count(new)),
        Operation::Hit | Operation::Miss | Operation::Half => {
            answers.found = items.iter().map(|item| count(filter.contains(item))).sum();
        }
        Operation::HitMany | Operation::MissMany => {
            filter.contains_many(items, |_, found| answers.found += count(found));
        }
        Operation::Mixed => {
            for ten in items.chunks(MIXED) {
                let (asked, inserted) = ten.split_at(ten.len().min(MIXED - 1));
                answers.found += asked.iter().map(|item| count(filter.contains(item))).sum::<u64>();
                answers.new += inserted.iter().map(|item| count(filter.insert(item))).sum::<u64>();
            }
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// An exact set, with batches that say they are real, that forgets every so many items.
    struct Forgetful<const EVERY: u64>(HashSet<u64>);

    impl<const EVERY: u64> Filter<u64> for Forgetful<EVERY> {
        const NAME: &'static str = "forgetful";
        const MANY: bool = true;

        fn new(_: u64, _: f64) -> Option<Self> {
            Some(Self(HashSet::new()))
        }

        fn bytes(&self) -> u64 {
            0
        }

        fn contains(&self, item: &u64) -> bool {
            self.0.contains(item)
        }
    }

    impl<const EVERY: u64> Contender<u64> for Forgetful<EVERY> {
        fn insert(&mut self, item: &u64) -> bool {
            item % EVERY == EVERY - 1 || self.0.insert(*item)
        }
    }

    fn run<const EVERY: u64>(operations: &[Operation]) {
        const ITEMS: u64 = 70_000;
        let new = || Forgetful::<EVERY>::new(ITEMS, 0.01);
        let course = Course::new(ITEMS, 0.01, Distribution::Uniform, new);
        let mut course = course.expect("a set for any number of items");
        // Beyond one fill, and no multiple of a chunk.
        operations.iter().for_each(|&operation| {
            course.run(operation, 3 * ITEMS / 2);
        });
        assert_eq!(course.measured_rate(), Some(0.0));
    }

    #[test]
    fn a_set_that_forgets_nothing_runs_the_course() {
        run::<{ u64::MAX }>(&Operation::ALL);
    }

    #[test]
    #[should_panic(expected = "forgetful, Hit")]
    fn one_forgotten_item_is_found_out() {
        run::<70_000>(&[Operation::Hit]);
    }

    #[test]
    #[should_panic(expected = "forgetful, HitMany")]
    fn one_forgotten_item_is_found_out_in_a_batch() {
        run::<70_000>(&[Operation::HitMany]);
    }

    #[test]
    #[should_panic(expected = "forgetful, Mixed")]
    fn one_forgotten_item_is_found_out_among_inserts() {
        run::<50_000>(&[Operation::Mixed]);
    }

    #[test]
    #[should_panic(expected = "forgetful, Miss")]
    fn too_many_false_positives_are_found_out() {
        let new = || Some(Forgetful::<{ u64::MAX }>((ABSENT..ABSENT + 1000).collect()));
        let course = Course::new(1000, 0.01, Distribution::Uniform, new);
        course.expect("a set").run(Operation::Miss, 1000);
    }
}
