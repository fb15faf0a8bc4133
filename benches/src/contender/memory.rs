//! The limits of the memory: the least that any filter must do for an item, as a contender.
//!
//! A query hashes the item to a line and reads one word of it; an insert sets one bit there by an
//! atomic operation that returns nothing. Batches have 32 lines in flight, which hides all latency
//! that can be hidden. The lines are as many as a blocked filter's, and on the same kind of pages.

use core::hint::black_box;

use tamis::BlockedBloomFilter;
use tamis::hash::{DefaultHashBuilder, HashItem, split};
use tamis_sync::{LINE_BYTES, Lines, Ordering, Word};

use crate::filter::{Filter, Traits};
use crate::hasher;

/// Lines in flight.
const GROUP: usize = 32;

/// Memory as large as a filter's.
#[derive(Debug)]
pub(super) struct BareMemory {
    lines: Lines,
    hasher: DefaultHashBuilder,
}

impl BareMemory {
    /// Returns the place of an item's line.
    #[inline(always)]
    fn place(&self, item: u64) -> usize {
        split::place(self.hasher.hash_item(&item), self.lines.len() as u64) as usize
    }

    /// Touches a word in the lines of all items: asks for all lines of a group, then touches them.
    fn groups(&self, items: &[u64], mut touch: impl FnMut(&Word, usize)) {
        let mut places = [0; GROUP];
        for group in items.chunks(GROUP) {
            for (place, item) in places.iter_mut().zip(group) {
                *place = self.place(*item);
                self.lines[*place].prefetch();
            }
            for &place in &places[..group.len()] {
                touch(&self.lines[place].words[0], place);
            }
        }
    }
}

/// Sets a bit. The old value is dropped here, so that the processor need not return it.
#[inline(always)]
fn set(word: &Word, bit: usize) {
    // ORDERING: Relaxed, here and below: the bits mean nothing.
    word.fetch_or(1 << (bit % 64), Ordering::Relaxed);
}

impl Filter for BareMemory {
    const TRAITS: Traits = Traits { many: true, memory: true, ..Traits::of("bare memory") };

    fn new(items: u64, rate: f64) -> Option<Self> {
        let builder = BlockedBloomFilter::<u64>::builder().capacity(items as usize);
        let geometry = builder.false_positive_rate(rate).geometry().ok()?;
        let mut lines = Lines::zeroed(geometry.size_in_bytes() / LINE_BYTES as u64).ok()?;
        for line in &mut *lines {
            line.words[0].update(|word| *word = 1);
        }
        Some(Self { lines, hasher: hasher() })
    }

    fn bytes(&self) -> u64 {
        self.lines.len() as u64 * LINE_BYTES as u64
    }

    #[inline(always)]
    fn contains(&self, item: &u64) -> bool {
        self.lines[self.place(*item)].words[0].load(Ordering::Relaxed) & 1 == 1
    }

    #[inline(always)]
    fn insert_shared(&self, item: &u64) -> bool {
        set(&self.lines[self.place(*item)].words[0], *item as usize);
        true
    }

    fn insert_many_with(&mut self, items: &[u64], _: impl FnMut(usize, bool)) {
        self.groups(items, set);
    }

    fn contains_many_with(&self, items: &[u64], _: impl FnMut(usize, bool)) {
        let mut sum = 0;
        self.groups(items, |word, _| sum ^= word.load(Ordering::Relaxed));
        black_box(sum);
    }

    fn clear(&mut self) -> bool {
        true
    }
}
