//! The limits of the memory: the least that any filter must do for an item, as loops.
//!
//! **R** hashes an item to a line and reads one word of it; **W** sets one bit there by an atomic
//! operation that returns nothing. Both have 32 lines in flight, which hides all latency that can be
//! hidden. The lines lie on the same kind of pages as a filter's.

use core::hint::black_box;
use core::time::Duration;

use tamis::hash::{DefaultHashBuilder, HashItem, split};
use tamis_sync::{LINE_BYTES, Lines, Ordering, Word};

use crate::{clock, hasher};

/// Lines in flight.
const GROUP: usize = 32;

/// Memory as large as a filter's.
#[derive(Debug)]
pub struct Floor {
    lines: Lines,
    hasher: DefaultHashBuilder,
    next: u64,
}

impl Floor {
    /// Memory of so many bytes, touched.
    ///
    /// # Panics
    ///
    /// If the memory is refused.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        let mut lines = Lines::zeroed(bytes / LINE_BYTES as u64).expect("memory for the floor");
        for line in &mut *lines {
            line.words[0].update(|word| *word = 1);
        }
        Self { lines, hasher: hasher(), next: 0 }
    }

    /// R: the time to read the lines of `count` items.
    pub fn read(&mut self, count: u64) -> Duration {
        // ORDERING: Relaxed, here and below: there is one thread.
        self.groups(count, |word, _| word.load(Ordering::Relaxed))
    }

    /// W: the time to set a bit in the lines of `count` items.
    pub fn write(&mut self, count: u64) -> Duration {
        self.groups(count, |word, place| {
            // The old value is dropped here, so that the processor need not return it.
            word.fetch_or(1 << (place % 64), Ordering::Relaxed);
            0
        })
    }

    /// The time to `touch` a word in the lines of `count` items, rounded up to whole groups.
    fn groups(&mut self, count: u64, touch: impl Fn(&Word, usize) -> u64) -> Duration {
        let end = self.next + count.next_multiple_of(GROUP as u64);
        let lines = &self.lines[..];
        let mut places = [0; GROUP];
        let mut sum = 0;
        let start = clock::now();
        for first in (self.next..end).step_by(GROUP) {
            for (place, item) in places.iter_mut().zip(first..) {
                *place = split::place(self.hasher.hash_item(&item), lines.len() as u64) as usize;
                lines[*place].prefetch();
            }
            sum = places.iter().fold(sum, |sum, &place| sum ^ touch(&lines[place].words[0], place));
        }
        black_box(sum);
        self.next = end;
        clock::now() - start
    }
}
