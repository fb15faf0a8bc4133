//! The array of the counting filter: the geometry of a blocked filter, with a counter of four bits
//! for each bit.

use tamis_hash::split;
use tamis_sync::{AllocError, LINE_BYTES, LINE_WORDS, Lines, SimdLevel};

use super::{Answers, Array, Removable, answer_all};
use crate::counters::Counters;
use crate::geometry::{Geometry, Kind};
use crate::probe::batch::Batch;
use crate::probe::line::{Shape, Tables, with_words};
use crate::regions::Regions;

/// An array of counters. The counters of a word of positions lie in half a cache line.
#[derive(Debug)]
pub struct Counting {
    pub(crate) counters: Counters,
    /// Lines of 512 positions, a quarter of the lines of the array.
    lines: u64,
    shape: Shape,
    tables: Tables,
    simd: SimdLevel,
}

// As in `InLine`, only the code for the shape of the default rate is inlined into the caller.
impl Counting {
    /// Size in lines of the array below which it is assumed to lie in a cache: 8 MiB. Beyond, a
    /// query of several words stops at the first word with a counter of 0: each word may lie in
    /// another line.
    const NEAR: usize = (8 << 20) / LINE_BYTES;

    /// Size in lines of the array from which `insert_many_with` works in batches if an item has one
    /// word.
    const BATCHED_FROM: usize = (4 << 20) / LINE_BYTES;

    /// Size in lines of the array from which a batch requests the lines of the next one.
    const AHEAD_FROM: usize = (1 << 20) / LINE_BYTES;

    #[inline(always)]
    fn is_default(&self) -> bool {
        self.shape == Shape::DEFAULT
    }

    #[inline(always)]
    fn contains_in(&self, shape: Shape, tables: &Tables, hash: u64) -> bool {
        let (line, pattern) = (split::place(hash, self.lines), shape.pattern(tables, hash));
        if shape.words == 1 || self.counters.lines() < Self::NEAR {
            self.counters.contains_branchless(line, pattern)
        } else {
            self.counters.contains(line, pattern)
        }
    }

    #[inline(never)]
    fn contains_rarer(&self, hash: u64) -> bool {
        with_words!(self.shape, shape => self.contains_in(shape, &self.tables, hash))
    }

    #[inline(always)]
    fn insert_in(&self, shape: Shape, tables: &Tables, hash: u64) -> bool {
        self.counters.insert(split::place(hash, self.lines), shape.pattern(tables, hash))
    }

    #[inline(never)]
    fn insert_rarer(&self, hash: u64) -> bool {
        with_words!(self.shape, shape => self.insert_in(shape, &self.tables, hash))
    }

    #[inline(always)]
    fn remove_in(&self, shape: Shape, tables: &Tables, hash: u64) -> bool {
        let pattern = shape.at_once(shape.pattern(tables, hash));
        self.counters.remove(split::place(hash, self.lines), pattern)
    }

    #[inline(never)]
    fn remove_rarer(&self, hash: u64) -> bool {
        with_words!(self.shape, shape => self.remove_in(shape, &self.tables, hash))
    }

    #[inline(always)]
    fn insert_mut_in(&mut self, shape: Shape, tables: &Tables, hash: u64) -> bool {
        self.counters.insert_mut(split::place(hash, self.lines), shape.pattern(tables, hash))
    }

    #[inline(never)]
    fn insert_mut_rarer(&mut self, hash: u64) -> bool {
        // A copy, so that the array can be borrowed mutably.
        let tables = self.tables;
        with_words!(self.shape, shape => self.insert_mut_in(shape, &tables, hash))
    }

    /// Returns the smallest counter of a hash.
    pub(crate) fn count(&self, hash: u64) -> u32 {
        let pattern = self.shape.pattern(&self.tables, hash);
        self.counters.count(split::place(hash, self.lines), pattern)
    }

    /// Requests the lines of an item ahead of writes to them.
    #[inline(always)]
    fn prefetch_to_write(&self, shape: Shape, tables: &Tables, next: &Batch, item: usize) {
        for (index, _) in next.pattern(shape, tables, item) {
            self.counters.prefetch_to_write(next.line(item), index);
        }
    }
}

impl Array for Counting {
    const KIND: Kind = Kind::Counting;

    fn of_lines(geometry: Geometry, lines: Lines) -> Self {
        let shape = geometry.shape();
        let (tables, simd) = (shape.tables(), SimdLevel::detect());
        let counters = Counters::of_lines(lines);
        Self { counters, lines: geometry.lines(), shape, tables, simd }
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        let line = split::place(hash, self.lines);
        for (index, _) in self.shape.pattern(&self.tables, hash) {
            self.counters.prefetch(line, index);
        }
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
        self.shape.words == 1 && self.counters.lines() < Self::BATCHED_FROM
    }

    fn spread(&self, batch: &mut Batch) {
        batch.spread(self.lines, self.shape, self.simd);
    }

    fn contains_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers) {
        let ahead = self.counters.lines() >= Self::AHEAD_FROM;
        with_words!(self.shape, shape => {
            let tables = shape.tables();
            answer_all(answers, |item| {
                if ahead {
                    for (index, _) in next.pattern(shape, &tables, item) {
                        self.counters.prefetch(next.line(item), index);
                    }
                }
                let pattern = batch.pattern(shape, &tables, item);
                self.counters.contains_branchless(batch.line(item), pattern)
            });
        });
    }

    fn insert_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers) {
        let ahead = self.counters.lines() >= Self::AHEAD_FROM;
        with_words!(self.shape, shape => {
            let tables = shape.tables();
            answer_all(answers, |item| {
                if ahead {
                    self.prefetch_to_write(shape, &tables, next, item);
                }
                self.counters.insert(batch.line(item), batch.pattern(shape, &tables, item))
            });
        });
    }

    fn insert_batch_mut(&mut self, batch: &Batch, next: &Batch, answers: &mut Answers) {
        let ahead = self.counters.lines() >= Self::AHEAD_FROM;
        with_words!(self.shape, shape => {
            let tables = shape.tables();
            answer_all(answers, |item| {
                if ahead {
                    self.prefetch_to_write(shape, &tables, next, item);
                }
                self.counters.insert_mut(batch.line(item), batch.pattern(shape, &tables, item))
            });
        });
    }

    fn lines(&self) -> usize {
        self.counters.lines()
    }

    fn regions(&mut self, _: u32) -> Option<Regions<'_>> {
        None
    }

    fn copy(&self) -> Result<Self, AllocError> {
        Ok(Self { counters: self.counters.copy()?, ..*self })
    }

    fn read(&self, line: u64) -> [u64; LINE_WORDS] {
        self.counters.read_bits(line)
    }

    fn read_stored(&self, line: u64) -> [u64; LINE_WORDS] {
        self.counters.read(line)
    }

    fn union_line(&self, line: u64, other: [u64; LINE_WORDS]) {
        self.counters.add_line(line, other);
    }

    fn clear(&mut self) {
        self.counters.clear();
    }
}

impl Removable for Counting {
    #[inline]
    fn remove(&self, hash: u64) -> bool {
        if self.is_default() {
            self.remove_in(Shape::DEFAULT, &Tables::DEFAULT, hash)
        } else {
            self.remove_rarer(hash)
        }
    }

    fn remove_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers) {
        let ahead = self.counters.lines() >= Self::AHEAD_FROM;
        with_words!(self.shape, shape => {
            let tables = shape.tables();
            answer_all(answers, |item| {
                if ahead {
                    self.prefetch_to_write(shape, &tables, next, item);
                }
                let pattern = shape.at_once(batch.pattern(shape, &tables, item));
                self.counters.remove(batch.line(item), pattern)
            });
        });
    }
}
