//! The array of lines: all bits of an item lie in one cache line.

use core::array;

use tamis_hash::split;
use tamis_sync::{AllocError, BATCH, LINE_BYTES, LINE_WORDS, Lines, SimdLevel};

use super::{Answers, Array, answer_all};
use crate::bits::{Bits, Locked, Writer};
use crate::geometry::{Geometry, Kind};
use crate::probe::batch::Batch;
use crate::probe::line::{Shape, Tables, with_words};
use crate::regions::{Partition, Regions};

/// Size in lines below which the array is assumed to lie in a cache: 8 MiB. There a query loads all
/// its words before one branch, since a mispredicted branch costs more than the loads. In larger
/// arrays a query of four or eight words stops at the first word that lacks a bit: fewer loads per
/// item leave room for the loads of the next items.
///
/// MEASURED (ns per hit, miss, and half of each, blocked filter at 1e-6, 19 MiB): 46, 33 and 47
/// word by word, and 46, 50 and 52 with one branch (Zen 5, an L3 that other programs use).
const NEAR: usize = (8 << 20) / LINE_BYTES;

/// An array in which the bits of an item lie in one line.
#[derive(Debug)]
pub struct InLine<W> {
    pub(crate) bits: Bits<W>,
    lines: u64,
    shape: Shape,
    tables: Tables,
    simd: SimdLevel,
}

// Only the code for the shape of the default rate, a constant there, is inlined into the caller.
// The code for the other shapes is in functions of its own (`*_rarer`).
impl<W: Writer> InLine<W> {
    /// Size in lines from which `insert_many_with` works in batches if an item has one word: 4 MiB.
    ///
    /// MEASURED (ns per insert): in 0.14 MiB 5.8 item by item and 6.7 in batches, in 1.4 MiB 6.4
    /// and 7.1, in 14 MiB 29 and 7.5 (Zen 5).
    const BATCHED_FROM: u64 = (4 << 20) / LINE_BYTES as u64;

    /// Size in lines from which a batch of inserts requests the lines of the next batch: 1 MiB,
    /// beyond L2.
    ///
    /// MEASURED (ns per insert in smaller arrays): on one word 6.4 without requests and 6.7 with
    /// them, on two 11.6 and 11.7, on four 22.7 and 23.0 (Zen 5).
    const INSERTS_AHEAD_FROM: u64 = (1 << 20) / LINE_BYTES as u64;

    /// Size in lines from which a batch of queries requests the lines of the next batch: 32 KiB,
    /// beyond L1.
    ///
    /// MEASURED (ns per query): in 14 KiB 2.2 without requests and 2.3 with them, in 0.14 MiB 2.4
    /// and 2.35, on four words in 0.5 MiB 5.2 and 4.6 (Zen 5).
    const QUERIES_AHEAD_FROM: u64 = (32 << 10) / LINE_BYTES as u64;

    /// Returns whether the shape is that of the default rate. It has one word, so it needs no lock.
    #[inline(always)]
    fn is_default(&self) -> bool {
        !W::LOCKED && self.shape == Shape::DEFAULT
    }

    #[inline(always)]
    fn contains_in(&self, shape: Shape, tables: &Tables, hash: u64) -> bool {
        let (line, pattern) = (split::place(hash, self.lines), shape.pattern(tables, hash));
        // One branch for all words, or one per word: see `NEAR`. With two words one branch is
        // faster in any size.
        if shape.words <= 2 || self.bits.lines() < NEAR {
            self.bits.contains_branchless(line, pattern)
        } else {
            self.bits.contains(line, pattern)
        }
    }

    #[inline(never)]
    fn contains_rarer(&self, hash: u64) -> bool {
        with_words!(self.shape, shape => self.contains_in(shape, &self.tables, hash))
    }

    #[inline(always)]
    fn insert_pattern(
        &self,
        shape: Shape,
        line: u64,
        pattern: impl Iterator<Item = (usize, u64)> + Clone,
    ) -> bool {
        if W::LOCKED {
            // Compute the pattern before the lock is taken.
            self.bits.insert(line, shape.at_once(pattern))
        } else {
            self.bits.insert(line, pattern)
        }
    }

    #[inline(always)]
    fn insert_in(&self, shape: Shape, tables: &Tables, hash: u64) -> bool {
        self.insert_pattern(shape, split::place(hash, self.lines), shape.pattern(tables, hash))
    }

    #[inline(never)]
    fn insert_rarer(&self, hash: u64) -> bool {
        with_words!(self.shape, shape => self.insert_in(shape, &self.tables, hash))
    }

    #[inline(always)]
    fn insert_mut_in(&mut self, shape: Shape, tables: &Tables, hash: u64) -> bool {
        self.bits.insert_mut(split::place(hash, self.lines), shape.pattern(tables, hash))
    }

    #[inline(never)]
    fn insert_mut_rarer(&mut self, hash: u64) -> bool {
        // A copy, so that the array can be borrowed mutably.
        let tables = self.tables;
        with_words!(self.shape, shape => self.insert_mut_in(shape, &tables, hash))
    }
}

/// Batches of which only some items are left, in filters of several arrays.
impl<W: Writer> InLine<W> {
    /// Requests the lines of some items of a batch that was spread for an array of another size.
    #[inline]
    pub(crate) fn prefetch_items(&self, batch: &Batch, items: &[u8]) {
        for &item in items {
            self.bits.prefetch(split::place(batch.hashes[usize::from(item) % BATCH], self.lines));
        }
    }

    /// Requests the lines of a batch that was spread for this array.
    pub(crate) fn prefetch_batch(&self, batch: &Batch) {
        (0..BATCH).for_each(|item| self.bits.prefetch(batch.line(item)));
    }

    /// As [`contains_batch`](Array::contains_batch), for a batch whose lines were requested, and
    /// without a next one.
    pub(crate) fn contains_spread(&self, batch: &Batch, answers: &mut Answers) {
        with_words!(self.shape, shape => {
            let tables = shape.tables();
            answer_all(answers, |item| {
                self.bits.contains_branchless(batch.line(item), batch.pattern(shape, &tables, item))
            });
        });
    }

    /// Returns whether the items have the same bits in the line of either array.
    #[inline]
    pub(crate) fn has_shape_of(&self, other: &Self) -> bool {
        self.shape == other.shape
    }

    /// Answers for some items of a batch whether one of the arrays contains them; the arrays have
    /// the same shape, and the batch was spread for `spread`. Sets the answer of each item, moves
    /// those that no array contains to the front, and returns their number.
    pub(crate) fn contains_items(
        spread: &Self,
        arrays: &[&Self],
        batch: &Batch,
        items: &mut [u8],
        answers: &mut Answers,
    ) -> usize {
        let Some(&first) = arrays.first() else { return items.len() };
        let mut left = 0;
        let mut answer = |items: &mut [u8], item: usize, hit: bool| {
            answers[item] = hit;
            items[left] = item as u8;
            left += usize::from(!hit);
        };
        if first.shape.words > spread.shape.words {
            // The batch may lack a pattern that these arrays need.
            for at in 0..items.len() {
                let item = usize::from(items[at]) % BATCH;
                let hit = Self::any_contains(first, arrays.iter().copied(), batch.hashes[item]);
                answer(items, item, hit);
            }
            return left;
        }
        with_words!(first.shape, shape => {
            let tables = shape.tables();
            for at in 0..items.len() {
                let item = usize::from(items[at]) % BATCH;
                let pattern = batch.pattern(shape, &tables, item);
                let arrays = arrays.iter().copied();
                answer(items, item, Self::any_has(arrays, shape, batch.hashes[item], pattern));
            }
        });
        left
    }

    /// Returns whether one of the arrays contains an item; they have the shape of `one`.
    #[inline(never)]
    pub(crate) fn any_contains<'a>(
        one: &Self,
        arrays: impl Iterator<Item = &'a Self>,
        hash: u64,
    ) -> bool
    where
        W: 'a,
    {
        with_words!(one.shape, shape => {
            Self::any_has(arrays, shape, hash, shape.pattern(&one.tables, hash))
        })
    }

    /// Returns whether one of the arrays has all bits of a pattern.
    ///
    /// The masks are computed once, and tested in all arrays without a branch in between: which
    /// array has an item cannot be predicted, and the lines are loaded all at once.
    #[inline(always)]
    fn any_has<'a>(
        arrays: impl Iterator<Item = &'a Self>,
        shape: Shape,
        hash: u64,
        pattern: impl Iterator<Item = (usize, u64)>,
    ) -> bool
    where
        W: 'a,
    {
        match shape.words {
            1 => Self::any_has_parts::<1>(arrays, hash, pattern),
            2 => Self::any_has_parts::<2>(arrays, hash, pattern),
            4 => Self::any_has_parts::<4>(arrays, hash, pattern),
            _ => Self::any_has_parts::<LINE_WORDS>(arrays, hash, pattern),
        }
    }

    #[inline(always)]
    fn any_has_parts<'a, const WORDS: usize>(
        arrays: impl Iterator<Item = &'a Self>,
        hash: u64,
        mut pattern: impl Iterator<Item = (usize, u64)>,
    ) -> bool
    where
        W: 'a,
    {
        let parts: [_; WORDS] = array::from_fn(|_| pattern.next().unwrap_or_default());
        // The least number is 0 if one is. (From a logical or, the compiler could make a branch.)
        // A loop, and not a fold, which the compiler did not inline.
        let mut least = u64::MAX;
        for array in arrays {
            let missing = array.bits.missing_of(split::place(hash, array.lines), parts.into_iter());
            least = least.min(missing);
        }
        least == 0
    }
}

/// What growing filters with one winner need.
impl<W: Writer> InLine<W> {
    /// Clears the bits of a line while other threads may insert into it.
    pub(crate) fn clear_line(&self, line: u64) {
        self.bits.clear_line(line);
    }
}

impl InLine<Locked> {
    /// As [`insert`](Array::insert), if `may` returns `true` under the lock of the line; otherwise
    /// changes nothing, and returns `None`. Does not look for the item without the lock.
    #[inline]
    pub(crate) fn insert_if(&self, hash: u64, may: impl FnOnce() -> bool) -> Option<bool> {
        let line = split::place(hash, self.lines);
        with_words!(self.shape, shape => {
            // Compute the pattern before the lock is taken.
            self.bits.write_if(line, shape.at_once(shape.pattern(&self.tables, hash)), may)
        })
    }

    /// Visits the line of an item: see [`Bits::visit`].
    #[inline]
    pub(crate) fn visit(&self, hash: u64) {
        self.bits.visit(split::place(hash, self.lines));
    }
}

impl<W: Writer> Array for InLine<W> {
    const KIND: Kind = Kind::Line { once: W::LOCKED };

    fn of_lines(geometry: Geometry, lines: Lines) -> Self {
        let (bits, shape) = (Bits::of_lines(lines), geometry.shape());
        let (tables, simd) = (shape.tables(), SimdLevel::detect());
        Self { bits, lines: geometry.lines(), shape, tables, simd }
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        self.bits.prefetch(split::place(hash, self.lines));
    }

    #[inline]
    fn contains(&self, hash: u64) -> bool {
        if self.is_default() {
            self.contains_in(Shape::DEFAULT, &Tables::DEFAULT, hash)
        } else {
            self.contains_rarer(hash)
        }
    }

    #[inline]
    fn insert(&self, hash: u64) -> bool {
        if self.is_default() {
            self.insert_in(Shape::DEFAULT, &Tables::DEFAULT, hash)
        } else {
            self.insert_rarer(hash)
        }
    }

    #[inline]
    fn insert_mut(&mut self, hash: u64) -> bool {
        if self.is_default() {
            self.insert_mut_in(Shape::DEFAULT, &Tables::DEFAULT, hash)
        } else {
            self.insert_mut_rarer(hash)
        }
    }

    #[inline]
    fn inserts_singly(&self) -> bool {
        self.shape.words == 1 && self.lines < Self::BATCHED_FROM
    }

    fn spread(&self, batch: &mut Batch) {
        batch.spread(self.lines, self.shape, self.simd);
    }

    fn contains_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers) {
        // Whether the array is larger than the cache, so that the lines of the next batch are
        // requested.
        let ahead = self.lines >= Self::QUERIES_AHEAD_FROM;
        with_words!(self.shape, shape => {
            let tables = shape.tables();
            answer_all(answers, |item| {
                if ahead {
                    self.bits.prefetch(next.line(item));
                }
                self.bits.contains_branchless(batch.line(item), batch.pattern(shape, &tables, item))
            });
        });
    }

    fn insert_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers) {
        // Whether the array is larger than the cache, so that the lines of the next batch are
        // requested.
        let ahead = self.lines >= Self::INSERTS_AHEAD_FROM;
        with_words!(self.shape, shape => {
            let tables = shape.tables();
            answer_all(answers, |item| {
                if ahead {
                    self.bits.prefetch_to_write(next.line(item));
                }
                self.insert_pattern(shape, batch.line(item), batch.pattern(shape, &tables, item))
            });
        });
    }

    fn insert_batch_mut(&mut self, batch: &Batch, next: &Batch, answers: &mut Answers) {
        // Whether the array is larger than the cache, so that the lines of the next batch are
        // requested.
        let ahead = self.lines >= Self::INSERTS_AHEAD_FROM;
        with_words!(self.shape, shape => {
            let tables = shape.tables();
            answer_all(answers, |item| {
                if ahead {
                    self.bits.prefetch_to_write(next.line(item));
                }
                self.bits.insert_mut(batch.line(item), batch.pattern(shape, &tables, item))
            });
        });
    }

    fn lines(&self) -> usize {
        self.bits.lines()
    }

    fn regions(&mut self, log_lines: u32) -> Option<Regions<'_>> {
        let Self { lines, shape, simd, .. } = *self;
        let regions = self.bits.regions(1 << log_lines).collect();
        Some(Regions { regions, partition: Partition { lines, log_lines, shape, simd } })
    }

    fn copy(&self) -> Result<Self, AllocError> {
        Ok(Self { bits: self.bits.copy()?, ..*self })
    }

    fn read(&self, line: u64) -> [u64; LINE_WORDS] {
        self.bits.read(line)
    }

    fn union_line(&self, line: u64, other: [u64; LINE_WORDS]) {
        self.bits.union_line(line, other);
    }

    fn clear(&mut self) {
        self.bits.clear();
    }
}
