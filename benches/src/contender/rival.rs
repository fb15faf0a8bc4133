//! The rival design: two cache lines per item, the emptier one taken, nothing ever relocated.
//!
//! A prototype to compare with: 32 slots of 16 bits per line. Removals are not safe while others
//! query: a reader that has passed a line can miss an item if the removal of an item with the same
//! fingerprint takes its copy.

use tamis::hash::{DefaultHashBuilder, HashItem, fastrange, split};
use tamis_sync::{LINE_WORDS, Lines, Ordering};

use crate::contender::filter::{Filter, Traits};

const SLOTS: u64 = 32;

/// The load at which it is used; it refuses the first of millions of items at 91 %.
const LOAD: f64 = 0.9;

/// The lowest and the highest bit of the slots of a word.
const LOWS: u64 = 0x0001_0001_0001_0001;
const HIGHS: u64 = LOWS << 15;

/// The filter.
#[derive(Debug)]
pub(super) struct TwoChoice {
    lines: Lines,
    hasher: DefaultHashBuilder,
}

/// Returns the highest bit of the first slot that is zero, and perhaps of some after it.
const fn marks(word: u64) -> u64 {
    word.wrapping_sub(LOWS) & !word & HIGHS
}

/// Returns the number of slots that are zero.
const fn zeros(word: u64) -> u32 {
    (!(((word & !HIGHS) + !HIGHS) | word) & HIGHS).count_ones()
}

impl TwoChoice {
    /// Returns the fingerprint and the two lines.
    fn places(&self, item: u64) -> (u64, [usize; 2]) {
        let hash = self.hasher.hash_item(&item);
        let lines = self.lines.len() as u64;
        let fingerprint = split::fingerprint(hash, 16);
        let one = split::place(hash, lines);
        let sum = fastrange(fingerprint.wrapping_mul(0x9E37_79B9_7F4A_7C15), lines);
        let other = if one <= sum { sum - one } else { lines - (one - sum) };
        (fingerprint, [one as usize, other as usize])
    }

    fn empty(&self, line: usize) -> u32 {
        // ORDERING: Relaxed: a guess.
        self.lines[line].words.iter().map(|word| zeros(word.load(Ordering::Relaxed))).sum()
    }

    /// Replaces `old` by `new` in the first word of the line that has it; returns whether one had.
    fn replace(&self, line: usize, old: u64, new: u64) -> bool {
        (0..LINE_WORDS).any(|index| {
            // ORDERING: Relaxed: a prototype for one thread, or for threads that only insert.
            let replaced = self.lines[line].words[index].try_update(Ordering::Relaxed, |word| {
                let marks = marks(word ^ (LOWS * old));
                (marks != 0).then(|| word ^ (old ^ new) << (marks.trailing_zeros() - 15))
            });
            replaced.is_ok()
        })
    }
}

impl Filter<u64> for TwoChoice {
    const TRAITS: Traits = Traits { lowest: 9e-4, removes: true, ..Traits::of("two-choice lines") };

    fn new(items: u64, _: f64) -> Option<Self> {
        let lines = (items as f64 / LOAD / SLOTS as f64).ceil() as u64;
        let lines = Lines::zeroed(lines).expect("memory");
        Some(Self { lines, hasher: DefaultHashBuilder::default() })
    }

    fn bytes(&self) -> u64 {
        self.lines.len() as u64 * SLOTS * 2
    }

    fn contains(&self, item: &u64) -> bool {
        let (fingerprint, lines) = self.places(*item);
        let found = |line: usize| {
            // ORDERING: Relaxed, as above.
            let words = self.lines[line].words.iter().map(|word| word.load(Ordering::Relaxed));
            words.fold(0, |found, word| found | marks(word ^ (LOWS * fingerprint)))
        };
        lines.map(found).iter().any(|&found| found != 0)
    }

    fn insert_shared(&self, item: &u64) -> bool {
        let (fingerprint, [one, other]) = self.places(*item);
        let line = if self.empty(one) >= self.empty(other) { one } else { other };
        self.replace(line, 0, fingerprint)
    }

    fn remove_shared(&self, item: &u64) -> bool {
        let (fingerprint, lines) = self.places(*item);
        lines.iter().any(|&line| self.replace(line, fingerprint, 0))
    }
}
