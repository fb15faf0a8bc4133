//! The rival design: two cache lines an item, the emptier one taken, nothing ever moved.
//!
//! A prototype, to judge it by: 32 slots of 16 bits a line. It is not safe beside removes: a reader who has
//! passed a line can miss an item whose copy is taken by the remove of one that looks like it.

use tamis::hash::{DefaultHashBuilder, HashItem, fastrange, split};
use tamis_sync::{LINE_WORDS, Lines, Ordering};

use crate::cuckoo::Shared;

const SLOTS: u64 = 32;

/// The lowest and the highest bit of the slots of a word.
const LOWS: u64 = 0x0001_0001_0001_0001;
const HIGHS: u64 = LOWS << 15;

/// The filter.
#[derive(Debug)]
pub(super) struct TwoChoice {
    lines: Lines,
    hasher: DefaultHashBuilder,
}

/// The highest bit of the first slot that is zero, and perhaps of some after it.
const fn marks(word: u64) -> u64 {
    word.wrapping_sub(LOWS) & !word & HIGHS
}

/// Slots that are zero.
const fn zeros(word: u64) -> u32 {
    (!(((word & !HIGHS) + !HIGHS) | word) & HIGHS).count_ones()
}

impl TwoChoice {
    /// The fingerprint and the two lines.
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

    /// Puts `new` where a word of the line has `old`; whether one had.
    fn replace(&self, line: usize, old: u64, new: u64) -> bool {
        (0..LINE_WORDS).any(|index| {
            // ORDERING: Relaxed: a prototype for one thread, and for inserts alone.
            let replaced = self.lines[line].words[index].try_update(Ordering::Relaxed, |word| {
                let marks = marks(word ^ (LOWS * old));
                (marks != 0).then(|| word ^ (old ^ new) << (marks.trailing_zeros() - 15))
            });
            replaced.is_ok()
        })
    }
}

impl Shared for TwoChoice {
    const NAME: &'static str = "two-choice lines 32 × 16";
    /// What it reaches before it refuses the first of millions.
    const FULL: f64 = 0.91;

    fn new(slots: u64) -> Self {
        let lines = Lines::zeroed(slots / SLOTS).expect("memory");
        Self { lines, hasher: DefaultHashBuilder::default() }
    }

    fn slots(&self) -> u64 {
        self.lines.len() as u64 * SLOTS
    }

    fn bytes(&self) -> u64 {
        self.slots() * 2
    }

    fn insert(&self, item: u64) -> bool {
        let (fingerprint, [one, other]) = self.places(item);
        let line = if self.empty(one) >= self.empty(other) { one } else { other };
        self.replace(line, 0, fingerprint)
    }

    fn contains(&self, item: u64) -> bool {
        let (fingerprint, lines) = self.places(item);
        let found = |line: usize| {
            // ORDERING: Relaxed, as above.
            let words = self.lines[line].words.iter().map(|word| word.load(Ordering::Relaxed));
            words.fold(0, |found, word| found | marks(word ^ (LOWS * fingerprint)))
        };
        lines.map(found).iter().any(|&found| found != 0)
    }

    fn remove(&self, item: u64) -> bool {
        let (fingerprint, lines) = self.places(item);
        lines.iter().any(|&line| self.replace(line, fingerprint, 0))
    }
}
