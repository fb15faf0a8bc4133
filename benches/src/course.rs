//! The course: one operation on item after item, timed, with every answer counted and judged.

use core::hint::black_box;
use core::ops::Range;
use core::time::Duration;

use crate::clock;
use crate::contender::{Contender, RATE};

/// What is done with an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Insert an item that is not in, into a filter on its way from empty to full.
    InsertNew,
    /// Insert an item of a full filter again.
    InsertKnown,
    /// Ask a full filter for an item that is in.
    Hit,
    /// Ask a full filter for an item that is not in.
    Miss,
}

impl Operation {
    /// All, in the order of a table's columns.
    pub const ALL: [Self; 4] = [Self::InsertNew, Self::InsertKnown, Self::Hit, Self::Miss];

    /// As it stands in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InsertNew => "insert new",
            Self::InsertKnown => "insert known",
            Self::Hit => "hit",
            Self::Miss => "miss",
        }
    }

    /// How many of so many answers may be "new" or "in". No false negative is ever right; false
    /// positives are as many as the rate says, with room for chance.
    fn trues(self, of: u64) -> Range<u64> {
        let positives = (of as f64 * RATE) as u64;
        match self {
            // On the way to the capacity the rate lies below that at capacity.
            Self::InsertNew => (of - positives).saturating_sub(50)..of + 1,
            Self::InsertKnown => 0..1,
            Self::Hit => of..of + 1,
            Self::Miss => (positives / 2).saturating_sub(50)..positives * 3 / 2 + 50,
        }
    }
}

/// A filter on the course.
#[derive(Debug)]
pub struct Course<C> {
    filter: C,
    capacity: u64,
    /// Items below are in the filter.
    inserted: u64,
    /// The next item to ask for.
    next: u64,
}

impl<C: Contender> Course<C> {
    /// A filter for so many items, its memory already touched.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        let mut filter = C::new(capacity);
        filter.clear();
        Self { filter, capacity, inserted: 0, next: 0 }
    }

    /// The time of `count` operations, each on the item after the last.
    ///
    /// # Panics
    ///
    /// If the filter errs, or errs more than it may.
    pub fn run(&mut self, operation: Operation, count: u64) -> Duration {
        let (mut time, mut left) = (Duration::ZERO, count);
        while left > 0 {
            let items = self.items(operation, left);
            let length = items.end - items.start;
            let start = clock::now();
            let trues = black_box(match operation {
                Operation::InsertNew | Operation::InsertKnown => insert(&mut self.filter, items),
                Operation::Hit | Operation::Miss => contains(&self.filter, items),
            });
            time += clock::now() - start;
            let expected = operation.trues(length);
            let name = C::NAME;
            assert!(expected.contains(&trues), "{name}, {operation:?}: {trues}, not {expected:?}");
            left -= length;
        }
        time
    }

    /// The next items, `most` at most, of a filter that has or lacks them as the operation wants.
    fn items(&mut self, operation: Operation, most: u64) -> Range<u64> {
        if operation == Operation::InsertNew {
            if self.inserted == self.capacity {
                self.filter.clear();
                self.inserted = 0;
            }
            let start = self.inserted;
            self.inserted = self.capacity.min(start + most);
            return start..self.inserted;
        }
        insert(&mut self.filter, self.inserted..self.capacity);
        self.inserted = self.capacity;
        let start = if self.next == self.capacity { 0 } else { self.next };
        self.next = self.capacity.min(start + most);
        let first = if operation == Operation::Miss { self.capacity } else { 0 };
        first + start..first + self.next
    }
}

/// Inserts the items; how many were new. A function of its own, to be found in a profile.
#[inline(never)]
fn insert<C: Contender>(filter: &mut C, items: Range<u64>) -> u64 {
    items.map(|item| u64::from(filter.insert(item))).sum()
}

/// Asks for the items; how many are in.
#[inline(never)]
fn contains<C: Contender>(filter: &C, items: Range<u64>) -> u64 {
    items.map(|item| u64::from(filter.contains(item))).sum()
}
