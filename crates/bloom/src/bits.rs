//! The shared bits of a filter, with every memory ordering of their accesses.
//!
//! There are two kinds of array. A filter is of one kind for its whole life:
//!
//! * `Bits<Free>`: a writer sets bits by `fetch_or`. No writer waits.
//! * `Bits<Locked>`: one thread at a time writes a line. It holds the lock bit of the line.
//!
//! A line must never see both kinds of writer. If a `fetch_or` came between the load and the store
//! of a lock holder, the store would overwrite it: a false negative. Therefore the kind is a type
//! parameter.
//!
//! # Invariants
//!
//! 1. Without `&mut`, a bit that is set stays set (apart from the lock bit).
//! 2. An insert that returns `true` has itself changed a bit from 0 to 1.
//!
//! # Orderings
//!
//! **No false negatives, with Relaxed.** Let `insert(x)` return on thread A and happen before
//! `contains(x)` on thread B. For each word of x, A's write of the bits (or A's load that found
//! them set) happens before B's load of that word. By write-read (read-read) coherence, B's load
//! returns that value or a later one in the modification order of the word. By invariant 1 every
//! later value has the bits, too. The caller provides the edge between A and B: a join, a channel,
//! a mutex. The filter publishes nothing but the bits themselves, so it needs no stronger order.
//!
//! **Invariant 1.** `Free`: every write is an RMW that only adds bits. `Locked`: a writer stores
//! `loaded | mask`, where `loaded` was read under the lock. The writer took the lock by a
//! `fetch_or(LOCK, Acquire)` that found it free. This synchronizes with the Release that freed the
//! lock, so every store of earlier holders happens before this load. Only holders write, so the
//! load returns the latest value. Waiting threads may apply `fetch_or(LOCK)` to the word while the
//! lock is held, which rewrites the value unchanged; between these attempts they only load. The
//! holder's last store frees the lock and writes the value of the word as the holder knows it.
//!
//! **Exactly one winner** (`Locked`). All inserts of one item write under one lock, so they are
//! totally ordered, and only the first can find a bit missing. The check before the lock may return
//! "not new" early; by invariant 1 the bits that it saw are still set.
//!
//! **Exactly one winner, in one word** (`Free`, where all bits of an item lie in one word). The
//! RMWs of the item's inserts are totally ordered in the modification order of that word, and each
//! sets all bits of the item, so only the first can find one missing. The load before the RMW may
//! return "not new" early, as above. A union sets bits by RMWs of the same word, which has the same
//! effect as inserts of other items in between.
//!
//! **At least one winner** (`Free`). Each bit changes from 0 to 1 in exactly one RMW. If the item
//! was not in the filter, some bit of it was 0, and the insert that set it returns "new". Two
//! concurrent inserts may each set one, and both return "new". With bits in several words no rule
//! can do better, because a bit does not record which item set it.

use core::marker::PhantomData;
use core::ops::Range;

use tamis_sync::{AllocError, BitSlice, LINE_WORDS, Line, Lines, Ordering};

/// The lock bit of a line, in its first word. No bit of an item lies there.
///
/// Not the sign bit: the compiler turns a test of the sign into a comparison with zero, which needs
/// the whole old value. Taking the lock would then be a loop around a compare-exchange instead of
/// one `lock bts`.
pub(crate) const LOCK: u64 = 1 << 62;

/// How the bits are written. It determines what a line contains.
pub trait Writer: Sized {
    /// Whether one bit of each line is its lock.
    const LOCKED: bool;

    /// Returns the bits of a word of a line that belong to items.
    #[inline]
    fn of_items(index: usize) -> u64 {
        if Self::LOCKED && index == 0 { !LOCK } else { u64::MAX }
    }

    /// Clears the bits of a line while other threads may insert into it.
    fn clear_line(bits: &Bits<Self>, line: u64);

    /// Sets the bits of the pattern without a check beforehand; returns whether one was missing.
    fn write(bits: &Bits<Self>, line: u64, pattern: impl Iterator<Item = (usize, u64)>) -> bool;
}

/// Bits are written by `fetch_or`, without a lock.
#[derive(Debug)]
pub enum Free {}

impl Writer for Free {
    const LOCKED: bool = false;

    fn clear_line(bits: &Bits<Self>, line: u64) {
        for word in &bits.line(line).words {
            // ORDERING: Relaxed: one store per word, before or after each `fetch_or` of it. What an
            // insert returns comes from the value that its `fetch_or` replaced.
            word.store(0, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn write(bits: &Bits<Self>, line: u64, pattern: impl Iterator<Item = (usize, u64)>) -> bool {
        // No short cut: every word must be written, whatever the first words returned.
        let mut new = false;
        for (index, mask) in pattern {
            new |= bits.insert_mask(line, index, mask);
        }
        new
    }
}

/// Bits are written under the lock of their line.
#[derive(Debug)]
pub enum Locked {}

impl Writer for Locked {
    const LOCKED: bool = true;

    fn clear_line(bits: &Bits<Self>, line: u64) {
        let line = bits.line(line);
        // ORDERING: Acquire and Release, as in `write_if`: all words change between two inserts.
        _ = line.words[0].lock(LOCK, Ordering::Acquire);
        for word in &line.words[1..] {
            // ORDERING: Relaxed, as in `write_if`: the Release below publishes the store.
            word.store(0, Ordering::Relaxed);
        }
        line.words[0].unlock(0, Ordering::Release);
    }

    #[inline(always)]
    fn write(bits: &Bits<Self>, line: u64, pattern: impl Iterator<Item = (usize, u64)>) -> bool {
        bits.write_if(line, pattern, || true).unwrap_or(false)
    }
}

impl Bits<Locked> {
    /// Sets the bits of the pattern if `may` returns `true` under the lock of the line; returns
    /// whether one was missing. Otherwise changes nothing, and returns `None`.
    #[inline(always)]
    pub(crate) fn write_if(
        &self,
        line: u64,
        pattern: impl Iterator<Item = (usize, u64)>,
        may: impl FnOnce() -> bool,
    ) -> Option<bool> {
        let line = self.line(line);
        // ORDERING: Acquire pairs with the Release in `unlock` of the last holder: every store made
        // under the lock is visible from here on. A holder frees the lock after a few stores. If
        // the system preempts it meanwhile, writers to this line wait; readers never do.
        let mut first = line.words[0].lock(LOCK, Ordering::Acquire);
        if !may() {
            // ORDERING: Release pairs with the Acquire in `lock` of the next holder.
            line.words[0].unlock(first, Ordering::Release);
            return None;
        }
        let mut missing = false;
        for (index, mask) in pattern {
            let mask = mask & Locked::of_items(index);
            if index == 0 {
                // The first word has the lock: collect its bits in a register, and store them with
                // the unlock.
                missing |= first & mask != mask;
                first |= mask;
                continue;
            }
            let bits = line.words[index].load_locked();
            missing |= bits & mask != mask;
            // ORDERING: Relaxed: the Release that frees the lock publishes the store to the next
            // holder; readers need coherence only. It stores even if nothing changes: this core
            // owns the line anyway, and a branch could be mispredicted.
            line.words[index].store(bits | mask, Ordering::Relaxed);
        }
        // ORDERING: Release pairs with the Acquire in `lock` of the next holder.
        line.words[0].unlock(first, Ordering::Release);
        Some(missing)
    }

    /// Locks a line, and frees it. What earlier holders wrote happens before the return of this
    /// call, and what happened before the call happens before anything that a later holder does. A
    /// line that does not exist is ignored.
    #[inline]
    pub(crate) fn visit(&self, line: u64) {
        let Some(line) = self.lines.get(line as usize) else { return };
        // ORDERING: Acquire and Release, as in `write_if`.
        let first = line.words[0].lock(LOCK, Ordering::Acquire);
        line.words[0].unlock(first, Ordering::Release);
    }
}

/// The bits of a filter, in cache lines.
#[derive(Debug)]
pub struct Bits<W> {
    lines: Lines,
    writer: PhantomData<W>,
}

impl<W: Writer> Bits<W> {
    /// Takes lines whose lock bits are clear.
    pub(crate) const fn of_lines(lines: Lines) -> Self {
        Self { lines, writer: PhantomData }
    }

    /// Returns the lines.
    pub(crate) fn into_lines(self) -> Lines {
        self.lines
    }

    /// Loads a word of a line, without the lock bit.
    #[inline]
    fn load(line: &Line, index: usize) -> u64 {
        // ORDERING: Relaxed: coherence alone makes a set bit visible to every thread that is
        // ordered after its insert; see "No false negatives" above.
        line.words[index].load(Ordering::Relaxed) & W::of_items(index)
    }

    #[inline]
    fn line(&self, line: u64) -> &Line {
        &self.lines[line as usize]
    }

    pub(crate) fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Makes the pages of some lines present, and changes no bit. Lines that do not exist are
    /// ignored.
    pub(crate) fn touch(&self, lines: Range<usize>) {
        self.lines.touch(lines);
    }

    /// Requests a line ahead of the access to it.
    #[inline]
    pub(crate) fn prefetch(&self, line: u64) {
        self.line(line).prefetch();
    }

    /// Requests a line ahead of a write to it.
    #[inline]
    pub(crate) fn prefetch_to_write(&self, line: u64) {
        self.line(line).prefetch_to_write();
    }

    /// Returns the bits of `mask` that the word lacks. A mask bit at the position of the lock bit
    /// counts as set.
    #[inline]
    fn missing(line: &Line, index: usize, mask: u64) -> u64 {
        mask & W::of_items(index) & !Self::load(line, index)
    }

    /// Returns whether the word has all bits of `mask`.
    #[inline]
    pub(crate) fn contains_mask(&self, line: u64, index: usize, mask: u64) -> bool {
        Self::missing(self.line(line), index, mask) == 0
    }

    /// Returns whether the line has all bits of the pattern. Stops at the first word that lacks a
    /// bit: for patterns of several words in filters larger than the caches, where most absent
    /// items lack a bit in the first word.
    #[inline(always)]
    pub(crate) fn contains(&self, line: u64, pattern: impl Iterator<Item = (usize, u64)>) -> bool {
        for (index, mask) in pattern {
            if !self.contains_mask(line, index, mask) {
                return false;
            }
        }
        true
    }

    /// As [`contains`](Self::contains), with one branch for all words. A branch per word is often
    /// mispredicted where hits and misses mix.
    ///
    /// MEASURED (ns per hit, miss, and half of each, in L2, item by item): on two words 3.5, 3.5
    /// and 3.5, and with a branch per word 4.0, 4.3 and 10.3; on four words 5.8, 5.8 and 5.8, and
    /// 6.5, 3.2 and 11.9 (Zen 5).
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

    /// Returns the bits that the line lacks of a pattern, those of all words in one number: 0 if it
    /// contains the pattern.
    #[inline(always)]
    pub(crate) fn missing_of(&self, line: u64, pattern: impl Iterator<Item = (usize, u64)>) -> u64 {
        let line = self.line(line);
        pattern.fold(0, |missing, (index, mask)| missing | Self::missing(line, index, mask))
    }

    /// Sets the bits of the pattern; returns whether one was missing. With locks, exactly one of
    /// any number of concurrent calls returns `true`, unless other items already cover the pattern.
    #[inline(always)]
    pub(crate) fn insert(
        &self,
        line: u64,
        pattern: impl Iterator<Item = (usize, u64)> + Clone,
    ) -> bool {
        // Load first: a present item needs neither the lock nor exclusive access to the line. Set
        // bits stay set, so the answer remains true. (Without locks, `insert_mask` loads each word
        // first.)
        !(W::LOCKED && self.contains_branchless(line, pattern.clone()))
            && W::write(self, line, pattern)
    }

    /// Sets all bits that a line of another array has.
    pub(crate) fn union_line(&self, line: u64, other: [u64; LINE_WORDS]) {
        W::write(self, line, other.into_iter().enumerate().filter(|&(_, mask)| mask != 0));
    }

    /// Sets the bits of the pattern by plain stores; returns whether one was missing.
    #[inline(always)]
    pub(crate) fn insert_mut(
        &mut self,
        line: u64,
        pattern: impl Iterator<Item = (usize, u64)>,
    ) -> bool {
        // No short cut: every word must be written, whatever the first words returned.
        let mut new = false;
        for (index, mask) in pattern {
            new |= self.insert_mask_mut(line, index, mask);
        }
        new
    }

    /// Sets the bits of `mask` by a plain store; returns whether one was missing.
    #[inline]
    pub(crate) fn insert_mask_mut(&mut self, line: u64, index: usize, mask: u64) -> bool {
        let mask = mask & W::of_items(index);
        self.lines[line as usize].words[index].update(|bits| {
            let missing = *bits & mask != mask;
            *bits |= mask;
            missing
        })
    }

    /// Splits the array into regions of `lines` lines; the last may be shorter.
    pub(crate) fn regions(&mut self, lines: usize) -> impl Iterator<Item = Region<'_>> {
        let firsts = (0..).step_by(lines);
        let regions = self.lines.chunks_mut(lines).zip(firsts);
        regions.map(|(lines, first)| Region { lines, first, of_items: W::of_items(0) })
    }

    /// Reads the words of one line, each once, without the lock bit.
    pub(crate) fn read(&self, line: u64) -> [u64; LINE_WORDS] {
        core::array::from_fn(|index| Self::load(self.line(line), index))
    }

    /// Reads the words of one line with the lock bit, for tests only.
    #[cfg(test)]
    pub(crate) fn read_raw(&self, line: u64) -> [u64; LINE_WORDS] {
        // ORDERING: Relaxed, as `load`.
        core::array::from_fn(|index| self.line(line).words[index].load(Ordering::Relaxed))
    }

    /// Returns the word of a line that has the lock, for models only.
    #[cfg(all(test, tamis_loom))]
    pub(crate) fn first_word(&self, line: u64) -> &tamis_sync::Word {
        &self.line(line).words[0]
    }

    /// Copies the words, each read once. The copy has every insert that happened before. Of a
    /// concurrent insert it has all bits, some, or none, which is a valid state of the filter.
    pub(crate) fn copy(&self) -> Result<Self, AllocError> {
        lines_of(self.lines.len(), |line| self.read(line)).map(Self::of_lines)
    }

    /// Clears the bits of a line while other threads may insert into it: an insert takes effect
    /// before that or after it.
    pub(crate) fn clear_line(&self, line: u64) {
        W::clear_line(self, line);
    }

    /// Clears all bits.
    pub(crate) fn clear(&mut self) {
        for word in self.lines.iter_mut().flat_map(|line| &mut line.words) {
            word.update(|bits| *bits = 0);
        }
    }
}

impl Bits<Free> {
    /// Returns the first `bits` bits of the whole array.
    #[inline(always)]
    pub(crate) fn bit_slice(&self, bits: u64) -> BitSlice<'_> {
        self.lines.bit_slice(bits)
    }

    /// Returns whether the bit at a place in the whole array is set.
    #[inline(always)]
    pub(crate) fn contains_bit(&self, place: u64) -> bool {
        // ORDERING: Relaxed, as `load`.
        self.lines.word((place / 64) as usize).load(Ordering::Relaxed) >> (place % 64) & 1 != 0
    }

    /// Sets the bit at a place in the whole array; returns whether this call changed it.
    #[inline(always)]
    pub(crate) fn insert_bit(&self, place: u64) -> bool {
        let mask = 1 << (place % 64);
        // ORDERING: Relaxed, as `insert_mask`.
        self.lines.word((place / 64) as usize).fetch_or(mask, Ordering::Relaxed) & mask == 0
    }

    /// As [`insert_bit`](Self::insert_bit), by a plain store. The lowest bit of the result is 0 if
    /// this call changed the bit.
    #[inline(always)]
    pub(crate) fn insert_bit_mut(&mut self, place: u64) -> u64 {
        self.lines.word_mut((place / 64) as usize).update(|bits| {
            let before = *bits;
            *bits |= 1 << (place % 64);
            before >> (place % 64)
        })
    }

    /// Sets the bits of `mask`; returns whether this call changed one.
    #[inline]
    pub(crate) fn insert_mask(&self, line: u64, index: usize, mask: u64) -> bool {
        // Load first: a present item then needs no exclusive access to the line.
        if self.contains_mask(line, index, mask) {
            return false;
        }
        // ORDERING: Relaxed: an RMW cannot lose a bit of another thread whatever its order, and the
        // result comes from the value that the RMW replaced.
        let old = self.line(line).words[index].fetch_or(mask, Ordering::Relaxed);
        old & mask != mask
    }

    /// Sets the bits of the masks in as many words of a line, from `first` on; returns whether this
    /// call changed one. Without races, it writes all words or none.
    ///
    /// If the first word lacks a bit, as it mostly does for a new item, that word decides, and no
    /// one needs the old values of the others. Then one `lock or` writes each, and not a loop
    /// around a compare-exchange, and the processor can begin the next inserts earlier.
    /// MEASURED: inserts into 126 MiB take 46 ns instead of 66 for new hashes, and 37 ns instead of
    /// 56 if half of them are present (machine not recorded).
    #[inline(always)]
    pub(crate) fn insert_masks<const N: usize>(
        &self,
        line: u64,
        first: usize,
        masks: [u64; N],
    ) -> bool {
        let mut others = (first..).zip(masks);
        if let Some((index, mask)) = others.next()
            && self.insert_mask(line, index, mask)
        {
            let line = self.line(line);
            others.for_each(|(index, mask)| {
                // ORDERING: Relaxed, as `insert_mask`. A bit that this sets has its "new", too.
                line.words[index].fetch_or(mask, Ordering::Relaxed);
            });
            return true;
        }
        // The first word has its bits, which says nothing about the others. Load first, as in
        // `insert_mask`; then write all: it cannot be predicted which word lacks a bit.
        if self.contains_branchless(line, others.clone()) {
            return false;
        }
        let line = self.line(line);
        others.fold(false, |new, (index, mask)| {
            // ORDERING: Relaxed, as `insert_mask`.
            new | (line.words[index].fetch_or(mask, Ordering::Relaxed) & mask != mask)
        })
    }
}

/// Allocates lines and fills each with the words that `read` returns for it.
pub(crate) fn lines_of(
    count: usize,
    read: impl Fn(u64) -> [u64; LINE_WORDS],
) -> Result<Lines, AllocError> {
    let mut lines = Lines::zeroed(count as u64)?;
    for (number, line) in (0..).zip(lines.iter_mut()) {
        for (word, bits) in line.words.iter_mut().zip(read(number)) {
            word.update(|word| *word = bits);
        }
    }
    Ok(lines)
}

/// Loads the word of bit `⌊bits · share / 2^64⌋` of the slice, shifted so that this bit is the
/// lowest.
#[inline(always)]
pub(crate) fn bits_from(slice: BitSlice<'_>, share: u64) -> u64 {
    let (word, bit) = slice.find(share);
    // ORDERING: Relaxed, as `Bits::load`.
    word.load(Ordering::Relaxed) >> bit
}

/// Consecutive lines of an array, with exclusive access.
#[derive(Debug)]
pub(crate) struct Region<'a> {
    lines: &'a mut [Line],
    /// The number of the first line in the array.
    first: u64,
    /// The bits of each line's first word that belong to items.
    of_items: u64,
}

impl Region<'_> {
    /// Requests all lines ahead of writes to most of them.
    pub(crate) fn prefetch_all_to_write(&self) {
        self.lines.iter().for_each(Line::prefetch_to_write);
    }

    /// Requests a line, by its number in the array, ahead of a write to it. Does nothing for a line
    /// of another region.
    #[inline(always)]
    pub(crate) fn prefetch_to_write(&self, line: u64) {
        if let Some(line) = self.lines.get(line.wrapping_sub(self.first) as usize) {
            line.prefetch_to_write();
        }
    }

    /// Sets the bits of a pattern, as [`Bits::insert_mut`], without a result.
    #[inline(always)]
    pub(crate) fn insert(&mut self, line: u64, pattern: impl Iterator<Item = (usize, u64)>) {
        let line = &mut self.lines[(line - self.first) as usize];
        for (index, mask) in pattern {
            let of_items = if index == 0 { self.of_items } else { u64::MAX };
            line.words[index].update(|bits| *bits |= mask & of_items);
        }
    }
}
