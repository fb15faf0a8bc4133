//! The course of a cuckoo filter: filled, asked, emptied, each part timed and each answer judged.

use core::hint::black_box;
use core::ops::Range;
use core::time::Duration;

use crate::clock;
use crate::cuckoo::Cuckoo;

/// Items from here on are never inserted.
const ABSENT: u64 = 1 << 63;

/// A filter on the course. The items in it are a range: those from `first` on, `len` of them.
#[derive(Debug)]
pub struct Course<C> {
    filter: C,
    first: u64,
    len: u64,
    /// Inserts that were refused. Some peers then throw out another item.
    refused: u64,
}

impl<C: Cuckoo> Course<C> {
    /// An empty filter of about so many slots.
    #[must_use]
    pub fn new(slots: u64) -> Self {
        Self { filter: C::new(slots), first: 0, len: 0, refused: 0 }
    }

    /// The filter.
    #[must_use]
    pub fn filter(&self) -> &C {
        &self.filter
    }

    /// The items that are in, but for those refused.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing is in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Inserts that were refused so far.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// The items that fill so much of the slots.
    #[must_use]
    pub fn items_at(&self, load: f64) -> u64 {
        (self.filter.slots() as f64 * load) as u64
    }

    /// The time to insert new items until so many are in.
    ///
    /// # Panics
    ///
    /// If more than one in a thousand is refused.
    pub fn insert_to(&mut self, len: u64) -> Duration {
        let items = self.first + self.len..self.first + len;
        let count = items.end - items.start;
        self.len = len;
        let (time, accepted) = timed(|| insert(&mut self.filter, items));
        self.refused += count - accepted;
        assert!(self.refused <= count / 1000 + 5, "{} refuses {}", C::NAME, self.refused);
        time
    }

    /// The time to ask for so many items that are in, all of them in turn.
    ///
    /// # Panics
    ///
    /// If one is not found.
    pub fn hit(&mut self, count: u64) -> Duration {
        let (mut time, mut left) = (Duration::ZERO, count);
        while left > 0 {
            let asked = left.min(self.len);
            let (taken, hits) = timed(|| contains(&self.filter, self.first..self.first + asked));
            assert!(hits + self.refused >= asked, "{} misses {}", C::NAME, asked - hits);
            time += taken;
            left -= asked;
        }
        time
    }

    /// The time to ask for `count` items that are not in, from the `start`th of them on, and how many
    /// the filter takes for such as are.
    pub fn miss(&mut self, start: u64, count: u64) -> (Duration, u64) {
        let first = ABSENT + start;
        timed(|| contains(&self.filter, first..first + count))
    }

    /// The time to remove the oldest so many items.
    ///
    /// # Panics
    ///
    /// If one is not found.
    pub fn remove(&mut self, count: u64) -> Duration {
        let items = self.first..self.first + count;
        (self.first, self.len) = (items.end, self.len - count);
        let (time, removed) = timed(|| remove(&mut self.filter, items));
        let missed = count - removed;
        assert!(missed <= self.refused || !C::COPIES, "{} misses {missed}", C::NAME);
        time
    }
}

fn timed(run: impl FnOnce() -> u64) -> (Duration, u64) {
    let start = clock::now();
    let answers = black_box(run());
    (clock::now() - start, answers)
}

/// Inserts the items; how many were accepted. A function of its own, to be found in a profile.
#[inline(never)]
fn insert<C: Cuckoo>(filter: &mut C, items: Range<u64>) -> u64 {
    items.map(|item| u64::from(filter.insert(item))).sum()
}

/// Asks for the items; how many are in.
#[inline(never)]
fn contains<C: Cuckoo>(filter: &C, items: Range<u64>) -> u64 {
    items.map(|item| u64::from(filter.contains(item))).sum()
}

/// Removes the items; how many were in.
#[inline(never)]
fn remove<C: Cuckoo>(filter: &mut C, items: Range<u64>) -> u64 {
    items.map(|item| u64::from(filter.remove(item))).sum()
}
