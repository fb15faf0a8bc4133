//! The shared bits of a filter: the one file of this crate that names a memory ordering.
//!
//! There are two kinds of array, and a filter is of one kind for good:
//!
//! * `Bits<Free>`: bits are set by `fetch_or`, and nobody waits.
//! * `Bits<Locked>`: a line is written by one thread at a time, who holds the lock bit in it.
//!
//! A line must never see both kinds of writer: a `fetch_or` between the load and the store of a lock
//! holder would be lost, and that is a false negative. So the kind is the type.
//!
//! # Invariants
//!
//! 1. Outside `&mut` a bit that is set stays set (the lock bit apart).
//! 2. Whoever is told "new" has itself changed a bit from 0 to 1.
//!
//! # Orderings
//!
//! **No false negatives, with Relaxed.** Let `insert(x)` return on thread A and happen before
//! `contains(x)` on thread B. For each word of x, A's write of the bit (or A's load that found it set
//! already) happens before B's load of that word. By write-read (read-read) coherence B's load takes
//! that value or a later one in the modification order of the word, and by invariant 1 every later
//! value has the bit too. The edge between A and B is the caller's: a join, a channel, a mutex. The
//! filter publishes nothing but the bits themselves, so it needs no stronger order.
//!
//! **Invariant 1** holds for `Free` since every write is an RMW that only adds bits. For
//! `Locked` a writer stores `loaded | mask`, where `loaded` was read under the lock. The lock is
//! taken by `fetch_or(LOCK, Acquire)` that found it free, so it synchronises with the Release that
//! freed it: every store of earlier holders happens before this load, and as only holders write, the
//! load returns the latest value. Waiters hammer the word with `fetch_or(LOCK)` while it is held:
//! that rewrites the value unchanged, and the holder's last store, which frees the lock, writes the
//! value of the word as the holder knows it.
//!
//! **Exactly one winner** (`Locked`): all inserts of one item write under one lock, so they are
//! totally ordered, and only the first can find a bit missing. The check before the lock may say "not
//! new" early; by invariant 1 the bits it saw are still set.
//!
//! **Exactly one winner, in one word** (`Free`, where all bits of an item lie in one word): the RMWs of the item's
//! inserts are totally ordered in the modification order of that word, and each sets all its bits, so only the
//! first can find one missing. The look before may say "not new" early, as above. A union sets bits by RMWs of the
//! same word, which is as if others' items came between.
//!
//! **At least one winner** (`Free`): each bit goes from 0 to 1 in exactly one RMW. If the item was
//! not yet in, some bit of it was 0, and whoever set it is told "new". Two racers may each set one:
//! both are told "new". No rule over bits in several words can do better (the bits do not say whose
//! they are).

use core::marker::PhantomData;

use tamis_sync::{AllocError, BitSlice, LINE_WORDS, Line, Lines, Ordering};

/// The lock bit of a line, in its first word. No item's bit ever lies there.
///
/// Not the sign: a test of that the compiler takes for a comparison with zero, for which it needs
/// the whole old value, so that taking the lock becomes a loop around a compare-exchange instead of
/// one `lock bts`.
pub(crate) const LOCK: u64 = 1 << 62;

/// How the bits are written, which fixes what a line holds.
pub trait Writer: Sized {
    /// Whether one bit of the line is its lock.
    const LOCKED: bool;

    /// The bits of a line's word that belong to items.
    #[inline]
    fn of_items(index: usize) -> u64 {
        if Self::LOCKED && index == 0 { !LOCK } else { u64::MAX }
    }

    /// Sets the bits of the pattern, whatever they are; whether one was missing.
    fn write(bits: &Bits<Self>, line: u64, pattern: impl Iterator<Item = (usize, u64)>) -> bool;
}

/// Written by `fetch_or`, without a lock.
#[derive(Debug)]
pub enum Free {}

impl Writer for Free {
    const LOCKED: bool = false;

    #[inline(always)]
    fn write(bits: &Bits<Self>, line: u64, pattern: impl Iterator<Item = (usize, u64)>) -> bool {
        // Every word must be written, whatever the first ones said: no short cut.
        let mut new = false;
        for (index, mask) in pattern {
            new |= bits.insert_mask(line, index, mask);
        }
        new
    }
}

/// Written under the lock of the line.
#[derive(Debug)]
pub enum Locked {}

impl Writer for Locked {
    const LOCKED: bool = true;

    #[inline(always)]
    fn write(bits: &Bits<Self>, line: u64, pattern: impl Iterator<Item = (usize, u64)>) -> bool {
        let line = bits.line(line);
        // ORDERING: Acquire pairs with the Release in `unlock` of the last holder: every store made
        // under the lock is seen from here on. A holder is gone after a few stores; if the system
        // takes it off its core just then, writers to this one line wait, readers never do.
        let mut first = line.words[0].lock(LOCK, Ordering::Acquire);
        let mut missing = false;
        for (index, mask) in pattern {
            let mask = mask & Self::of_items(index);
            if index == 0 {
                missing |= first & mask != mask;
                first |= mask;
                continue;
            }
            let bits = line.words[index].load_locked();
            missing |= bits & mask != mask;
            // ORDERING: Relaxed: the Release that frees the lock publishes it to the next holder;
            // readers need coherence only. Stored even if nothing changes: the line is ours anyway,
            // and a branch would be a guess.
            line.words[index].store(bits | mask, Ordering::Relaxed);
        }
        // ORDERING: Release pairs with the Acquire in `lock` of the next holder.
        line.words[0].unlock(first, Ordering::Release);
        missing
    }
}

/// The bits of a filter, in cache lines.
#[derive(Debug)]
pub struct Bits<W> {
    lines: Lines,
    writer: PhantomData<W>,
}

impl<W: Writer> Bits<W> {
    pub(crate) fn zeroed(lines: u64) -> Result<Self, AllocError> {
        Ok(Self { lines: Lines::zeroed(lines)?, writer: PhantomData })
    }

    /// A word of a line, as far as it belongs to items.
    #[inline]
    fn load(line: &Line, index: usize) -> u64 {
        // ORDERING: Relaxed: coherence alone makes a set bit visible to whoever is ordered after
        // its insert; see "No false negatives" above.
        line.words[index].load(Ordering::Relaxed) & W::of_items(index)
    }

    #[inline]
    fn line(&self, line: u64) -> &Line {
        &self.lines[line as usize]
    }

    pub(crate) fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Asks for a line ahead of the access to it.
    #[inline]
    pub(crate) fn prefetch(&self, line: u64) {
        self.line(line).prefetch();
    }

    /// Asks for a line ahead of a write to it.
    #[inline]
    pub(crate) fn prefetch_to_write(&self, line: u64) {
        self.line(line).prefetch_to_write();
    }

    /// The bits of `mask` that the word lacks. A bit of the mask on the lock counts as set.
    #[inline]
    fn missing(line: &Line, index: usize, mask: u64) -> u64 {
        mask & W::of_items(index) & !Self::load(line, index)
    }

    /// Whether the word has all bits of `mask`.
    #[inline]
    pub(crate) fn contains_mask(&self, line: u64, index: usize, mask: u64) -> bool {
        Self::missing(self.line(line), index, mask) == 0
    }

    /// Whether the line has all bits of the pattern. Stops at the first word that lacks one: for patterns of many words in
    /// filters larger than the caches, where most absent items lack the first.
    #[inline(always)]
    pub(crate) fn contains(&self, line: u64, pattern: impl Iterator<Item = (usize, u64)>) -> bool {
        for (index, mask) in pattern {
            if !self.contains_mask(line, index, mask) {
                return false;
            }
        }
        true
    }

    /// The same without a branch per word, which is mispredicted where hits and misses mix. MEASURED: hits, misses and
    /// half of each one by one in L2 take 3.5 ns each on two words and 5.8 on four, word by word 4.0, 4.3 and 10.3,
    /// and 6.5, 3.2 and 11.9 (Zen 5).
    #[inline(always)]
    pub(crate) fn contains_branchless(
        &self,
        line: u64,
        pattern: impl Iterator<Item = (usize, u64)>,
    ) -> bool {
        let line = self.line(line);
        let mut missing = 0;
        for (index, mask) in pattern {
            missing |= Self::missing(line, index, mask);
        }
        missing == 0
    }

    /// Sets the bits of the pattern; whether one was missing. Whoever writes under locks is told so
    /// by exactly one of any number of racing calls, unless others' bits cover the pattern.
    #[inline(always)]
    pub(crate) fn insert(
        &self,
        line: u64,
        pattern: impl Iterator<Item = (usize, u64)> + Clone,
    ) -> bool {
        // Look first: an item seen before needs neither a lock nor exclusive access to the line. Set
        // bits stay set, so the answer holds. (Without a lock, `set` looks at each word.)
        !(W::LOCKED && self.contains_branchless(line, pattern.clone()))
            && W::write(self, line, pattern)
    }

    /// Adds all bits of a line of another array.
    pub(crate) fn union_line(&self, line: u64, other: [u64; LINE_WORDS]) {
        W::write(self, line, other.into_iter().enumerate().filter(|&(_, mask)| mask != 0));
    }

    /// Sets the bits of the pattern by plain stores; whether one was missing.
    #[inline(always)]
    pub(crate) fn insert_mut(
        &mut self,
        line: u64,
        pattern: impl Iterator<Item = (usize, u64)>,
    ) -> bool {
        // Every word must be written, whatever the first ones said: no short cut.
        let mut new = false;
        for (index, mask) in pattern {
            new |= self.insert_mask_mut(line, index, mask);
        }
        new
    }

    /// Sets the bits of `mask` by a plain store; whether one was missing.
    #[inline]
    pub(crate) fn insert_mask_mut(&mut self, line: u64, index: usize, mask: u64) -> bool {
        let mask = mask & W::of_items(index);
        self.lines[line as usize].words[index].update(|bits| {
            let missing = *bits & mask != mask;
            *bits |= mask;
            missing
        })
    }

    /// The lines, so many at a time; fewer in the last.
    pub(crate) fn regions(&mut self, lines: usize) -> impl Iterator<Item = Region<'_>> {
        let firsts = (0..).step_by(lines);
        let regions = self.lines.chunks_mut(lines).zip(firsts);
        regions.map(|(lines, first)| Region { lines, first, of_items: W::of_items(0) })
    }

    /// The words of one line, each read once, without the lock.
    pub(crate) fn read(&self, line: u64) -> [u64; LINE_WORDS] {
        core::array::from_fn(|index| Self::load(self.line(line), index))
    }

    /// The words of one line with the lock, which nothing but a test may see.
    #[cfg(test)]
    pub(crate) fn read_raw(&self, line: u64) -> [u64; LINE_WORDS] {
        // ORDERING: Relaxed, as `load`.
        core::array::from_fn(|index| self.line(line).words[index].load(Ordering::Relaxed))
    }

    /// A copy of the words, each read once. It holds every insert that happened before; of those
    /// that run beside it, all bits, some, or none, which is a legal state of the filter.
    pub(crate) fn copy(&self) -> Result<Self, AllocError> {
        let mut copy = Self::zeroed(self.lines.len() as u64)?;
        for (line, to) in (0..).zip(copy.lines.iter_mut()) {
            for (word, bits) in to.words.iter_mut().zip(self.read(line)) {
                word.update(|word| *word = bits);
            }
        }
        Ok(copy)
    }

    pub(crate) fn clear(&mut self) {
        for word in self.lines.iter_mut().flat_map(|line| &mut line.words) {
            word.update(|bits| *bits = 0);
        }
    }
}

impl Bits<Free> {
    /// The first so many bits of the whole array.
    #[inline(always)]
    pub(crate) fn bit_slice(&self, bits: u64) -> BitSlice<'_> {
        self.lines.bit_slice(bits)
    }

    /// Whether the bit at a place in the whole array is set.
    #[inline(always)]
    pub(crate) fn contains_bit(&self, place: u64) -> bool {
        // ORDERING: Relaxed, as `load`.
        self.lines.word((place / 64) as usize).load(Ordering::Relaxed) >> (place % 64) & 1 != 0
    }

    /// Sets the bit at a place in the whole array; whether this call changed it.
    #[inline(always)]
    pub(crate) fn insert_bit(&self, place: u64) -> bool {
        let mask = 1 << (place % 64);
        // ORDERING: Relaxed, as `set`.
        self.lines.word((place / 64) as usize).fetch_or(mask, Ordering::Relaxed) & mask == 0
    }

    /// The same by a plain store; the lowest bit is 0 if this call changed it.
    #[inline(always)]
    pub(crate) fn insert_bit_mut(&mut self, place: u64) -> u64 {
        self.lines.word_mut((place / 64) as usize).update(|bits| {
            let before = *bits;
            *bits |= 1 << (place % 64);
            before >> (place % 64)
        })
    }

    /// Sets the bits of `mask`; whether this call changed one.
    #[inline]
    pub(crate) fn insert_mask(&self, line: u64, index: usize, mask: u64) -> bool {
        // Look first: an item seen before then costs no exclusive access to the line.
        if self.contains_mask(line, index, mask) {
            return false;
        }
        // ORDERING: Relaxed: an RMW cannot lose another's bit whatever its order, and the verdict
        // comes from the very value that it replaced.
        let old = self.line(line).words[index].fetch_or(mask, Ordering::Relaxed);
        old & mask != mask
    }
}

/// The word of the bit with this share, shifted so that the bit is the lowest.
#[inline(always)]
pub(crate) fn bits_from(slice: BitSlice<'_>, share: u64) -> u64 {
    let (word, bit) = slice.find(share);
    // ORDERING: Relaxed, as `Bits::load`.
    word.load(Ordering::Relaxed) >> bit
}

/// Some lines in a row, in the hands of one thread.
#[derive(Debug)]
pub(crate) struct Region<'a> {
    lines: &'a mut [Line],
    /// The number of the first of them in the array.
    first: u64,
    /// The bits of each line's first word that belong to items.
    of_items: u64,
}

impl Region<'_> {
    /// Asks for all lines ahead of writes to most of them.
    pub(crate) fn prefetch_all_to_write(&self) {
        self.lines.iter().for_each(Line::prefetch_to_write);
    }

    /// Asks for a line, by its number in the array, ahead of a write to it; for one elsewhere it does nothing.
    #[inline(always)]
    pub(crate) fn prefetch_to_write(&self, line: u64) {
        if let Some(line) = self.lines.get(line.wrapping_sub(self.first) as usize) {
            line.prefetch_to_write();
        }
    }

    /// As [`Bits::insert_mut`], without a verdict.
    #[inline(always)]
    pub(crate) fn insert(&mut self, line: u64, pattern: impl Iterator<Item = (usize, u64)>) {
        let line = &mut self.lines[(line - self.first) as usize];
        for (index, mask) in pattern {
            let of_items = if index == 0 { self.of_items } else { u64::MAX };
            line.words[index].update(|bits| *bits |= mask & of_items);
        }
    }
}
