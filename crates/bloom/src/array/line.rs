//! The array of lines: all bits of an item lie in one cache line.

use tamis_hash::split;
use tamis_sync::{AllocError, LINE_BYTES, LINE_WORDS, SimdLevel};

use super::{Answers, Array, answer_all};
use crate::bits::{Bits, Writer};
use crate::geometry::{Geometry, Kind};
use crate::probe::batch::Batch;
use crate::probe::line::{Shape, Tables, with_words};
use crate::regions::{Partition, Regions};

/// Lines below which an array of lines is taken to lie in a cache: all words of a query are loaded before one decision,
/// since a wrongly predicted branch costs more than the loads. Larger arrays are read word by word: fewer loads per item
/// leave room for those of the next items. MEASURED: hits, misses and halves of both of a blocked filter at 1e-6 take 46, 33 and 47 ns in 19 MiB word by
/// word and 46, 50 and 52 at once (Zen 5, an L3 that others use).
const NEAR: usize = (8 << 20) / LINE_BYTES;

/// Bits in one line of the array.
#[derive(Debug)]
pub struct InLine<W> {
    pub(crate) bits: Bits<W>,
    lines: u64,
    shape: Shape,
    tables: Tables,
    simd: SimdLevel,
}

// The shape of the default rate is a constant in what is inlined where the filter is used; the others are
// out of the way.
impl<W: Writer> InLine<W> {
    /// Lines from which on many inserts into one word each go in batches. MEASURED: in 0.14 MiB 5.8 ns one after the
    /// other and 6.7 in batches, in 1.4 MiB 6.4 and 7.1, in 14 MiB 29 and 7.5 (Zen 5).
    const BATCHED_FROM: u64 = (4 << 20) / LINE_BYTES as u64;

    /// Lines from which on a batch of inserts asks for the next one's: beyond L2. MEASURED: below, of one word 6.4 ns
    /// without and 6.7 with it, of two 11.6 and 11.7, of four 22.7 and 23.0 (Zen 5).
    const INSERTS_AHEAD_FROM: u64 = (1 << 20) / LINE_BYTES as u64;

    /// The same of queries: beyond L1. MEASURED: in 14 KiB 2.2 ns without and 2.3 with it, in 0.14 MiB 2.4 and 2.35,
    /// of four words in 0.5 MiB 5.2 and 4.6 (Zen 5).
    const QUERIES_AHEAD_FROM: u64 = (32 << 10) / LINE_BYTES as u64;

    /// Whether the shape is the one of the default rate, which is of one word and so needs no lock.
    #[inline(always)]
    fn is_default(&self) -> bool {
        !W::LOCKED && self.shape == Shape::DEFAULT
    }

    #[inline(always)]
    fn contains_in(&self, shape: Shape, tables: &Tables, hash: u64) -> bool {
        let (line, pattern) = (split::place(hash, self.lines), shape.pattern(tables, hash));
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
    fn insert(
        &self,
        shape: Shape,
        line: u64,
        pattern: impl Iterator<Item = (usize, u64)> + Clone,
    ) -> bool {
        if W::LOCKED {
            self.bits.insert(line, shape.at_once(pattern))
        } else {
            self.bits.insert(line, pattern)
        }
    }

    #[inline(always)]
    fn insert_in(&self, shape: Shape, tables: &Tables, hash: u64) -> bool {
        self.insert(shape, split::place(hash, self.lines), shape.pattern(tables, hash))
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
        let tables = self.tables;
        with_words!(self.shape, shape => self.insert_mut_in(shape, &tables, hash))
    }
}

impl<W: Writer> Array for InLine<W> {
    const KIND: Kind = Kind::Line { once: W::LOCKED };

    fn zeroed(geometry: Geometry) -> Result<Self, AllocError> {
        let (lines, shape) = (geometry.lines(), geometry.shape());
        let (tables, simd) = (shape.tables(), SimdLevel::detect());
        Ok(Self { bits: Bits::zeroed(lines)?, lines, shape, tables, simd })
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
        let ahead = self.lines >= Self::INSERTS_AHEAD_FROM;
        with_words!(self.shape, shape => {
            let tables = shape.tables();
            answer_all(answers, |item| {
                if ahead {
                    self.bits.prefetch_to_write(next.line(item));
                }
                self.insert(shape, batch.line(item), batch.pattern(shape, &tables, item))
            });
        });
    }

    fn insert_batch_mut(&mut self, batch: &Batch, next: &Batch, answers: &mut Answers) {
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
