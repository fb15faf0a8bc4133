//! The limits of the memory: the least that any filter must do for an item, as loops.
//!
//! **R** hashes an item to a line and reads one word of it; **W** sets one bit there by an atomic
//! operation that returns nothing. Both have 32 lines in flight, which hides all latency that can
//! be hidden. The lines are on the same kind of pages as a filter's.

use core::hint::{black_box, spin_loop};
use core::ops::Range;
use core::time::Duration;
use std::time::Instant;

use tamis::BlockedBloomFilter;
use tamis::hash::{DefaultHashBuilder, HashItem, split};
use tamis_sync::{LINE_BYTES, Lines, Ordering, Word};

use crate::subject::SharedSubject;
use crate::{clock, hasher};

/// Lines in flight.
const GROUP: usize = 32;

/// Writes after which a paced writer reads the clock.
const PACED: u64 = 100;

/// Memory as large as a filter's.
#[derive(Debug)]
pub struct Floor {
    lines: Lines,
    hasher: DefaultHashBuilder,
    next: u64,
    /// The least time of a write by `mix`.
    pace: Duration,
}

impl Floor {
    /// Allocates and touches this number of bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        let mut lines = Lines::zeroed(bytes / LINE_BYTES as u64).expect("memory for the floor");
        for line in &mut *lines {
            line.words[0].update(|word| *word = 1);
        }
        Self { lines, hasher: hasher(), next: 0, pace: Duration::ZERO }
    }

    /// Allocates and touches as much memory as a blocked filter for these items takes at this rate.
    ///
    /// # Panics
    ///
    /// If the allocation fails.
    #[must_use]
    pub fn of_blocked(items: u64, rate: f64) -> Self {
        let builder = BlockedBloomFilter::<u64>::builder().capacity(items as usize);
        let geometry = builder.false_positive_rate(rate).geometry().expect("a capacity above 0");
        Self::new(geometry.size_in_bytes())
    }

    /// Returns the bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.lines.len() as u64 * LINE_BYTES as u64
    }

    /// Sets the least time of a write by `mix`.
    pub(crate) fn paced(self, pace: Duration) -> Self {
        Self { pace, ..self }
    }

    /// R: returns the time to read the lines of `count` items.
    pub fn read(&mut self, count: u64) -> Duration {
        // ORDERING: Relaxed, here and below: there is one thread, or the bits mean nothing.
        self.groups(count, |word, _| word.load(Ordering::Relaxed))
    }

    /// W: returns the time to set a bit in the lines of `count` items.
    pub fn write(&mut self, count: u64) -> Duration {
        self.groups(count, |word, place| {
            // The old value is dropped here, so that the processor need not return it.
            word.fetch_or(1 << (place % 64), Ordering::Relaxed);
            0
        })
    }

    /// Returns the time to `touch` a word in the lines of `count` items, rounded up to whole
    /// groups.
    fn groups(&mut self, count: u64, touch: impl Fn(&Word, usize) -> u64) -> Duration {
        let end = self.next + count.next_multiple_of(GROUP as u64);
        let lines = &self.lines[..];
        let mut places = [0; GROUP];
        let ((), time) = clock::time(|| {
            let mut sum = 0;
            for first in (self.next..end).step_by(GROUP) {
                // Ask for all lines of the group, then touch them.
                for (place, item) in places.iter_mut().zip(first..) {
                    let hash = self.hasher.hash_item(&item);
                    *place = split::place(hash, lines.len() as u64) as usize;
                    lines[*place].prefetch();
                }
                sum = places
                    .iter()
                    .fold(sum, |sum, &place| sum ^ touch(&lines[place].words[0], place));
            }
            black_box(sum);
        });
        self.next = end;
        time
    }

    /// Returns the word of a hash.
    fn word(&self, hash: u64) -> &Word {
        &self.lines[split::place(hash, self.lines.len() as u64) as usize].words[0]
    }

    /// Sets a bit in a random line: the least that an insert or a removal must do.
    fn write_one(&self, item: u64) {
        self.word(self.hasher.hash_item(&item)).fetch_or(1 << (item % 64), Ordering::Relaxed);
    }
}

/// What threads do to memory instead of a cuckoo filter: a query reads two random lines, a write
/// sets a bit in one.
impl SharedSubject<u64> for Floor {
    fn insert_all(&self, items: Range<u64>, _: bool) -> u64 {
        let count = items.end - items.start;
        items.for_each(|item| self.write_one(item));
        count
    }

    fn query(&self, items: Range<u64>, first: u64, count: u64) -> u64 {
        let start = items.start + first;
        let read = |item| {
            let hash = self.hasher.hash_item(&item);
            let words = [self.word(hash), self.word(hash.rotate_left(32))];
            words.map(|word| word.load(Ordering::Relaxed)).iter().fold(0, |sum, word| sum ^ word)
        };
        black_box((start..start + count).map(read).fold(0, |sum, word| sum ^ word));
        count
    }

    fn mix(&self, _: u64, _: Range<u64>, _: u64, inserts: Range<u64>, kept: Option<u64>) -> u64 {
        let mut due = Instant::now();
        let writes = if kept.is_some() { 2 } else { 1 };
        for item in inserts {
            // A clock read per write would take longer than the write.
            if item % PACED == 0 {
                while Instant::now() < due {
                    spin_loop();
                }
                due += self.pace * PACED as u32 * writes;
            }
            (0..u64::from(writes)).for_each(|nth| self.write_one(2 * item + nth));
        }
        0
    }
}
