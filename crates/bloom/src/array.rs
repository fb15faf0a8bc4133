//! The bits of a filter, anywhere or in a line: from a hash to the bits it means.

use tamis_hash::{fastrange, split};
use tamis_sync::{AllocError, BitSlice, LINE_BITS, LINE_BYTES, LINE_WORDS, SimdLevel};

use crate::bits::{Bits, Free, Writer, bits_from};
use crate::geometry::{Geometry, Kind};
use crate::probe::batch::{BATCH, Batch};
use crate::probe::classic::{self, Probes};
use crate::probe::line::{Shape, Tables};
use crate::regions::{Partition, Regions};

#[cfg(all(test, tamis_loom))]
mod models;

/// A filter without its hasher.
pub(crate) trait Array: Sized {
    const KIND: Kind;

    /// Zeros, for a geometry of this kind.
    fn zeroed(geometry: Geometry) -> Result<Self, AllocError>;
    /// Asks for the lines of the hash ahead of the access to them.
    fn prefetch(&self, hash: u64);
    /// Whether all bits of the hash are set.
    fn contains(&self, hash: u64) -> bool;
    /// Sets the bits of the hash; whether one was missing.
    fn insert(&self, hash: u64) -> bool;
    /// The same by plain stores.
    fn insert_mut(&mut self, hash: u64) -> bool;
    /// Whether `insert_many` inserts one by one, because a batch would not be faster.
    fn inserts_singly(&self) -> bool;
    /// Computes what follows from the hashes of a batch.
    fn spread(&self, batch: &mut Batch);
    /// For each item of a batch whether all its bits are set, in the bits of a number. Asks for the memory of
    /// those of the next batch.
    fn contains_batch(&self, batch: &Batch, next: &Batch) -> u32;
    /// The same for [`set`](Self::set).
    fn insert_batch(&self, batch: &Batch, next: &Batch) -> u32;
    /// The same for [`insert_mut`](Self::insert_mut).
    fn insert_batch_mut(&mut self, batch: &Batch, next: &Batch) -> u32;
    /// Lines of the array.
    fn lines(&self) -> usize;
    /// The array, partition into regions of so many lines, a power of two; none if an item lies in many regions.
    fn regions(&mut self, log_lines: u32) -> Option<Regions<'_>>;
    /// A copy while others may write.
    fn copy(&self) -> Result<Self, AllocError>;
    /// The words of a line, without a lock.
    fn read(&self, line: u64) -> [u64; LINE_WORDS];
    /// Adds all bits of a line of another array.
    fn union_line(&self, line: u64, other: [u64; LINE_WORDS]);
    /// Takes all bits away.
    fn clear(&mut self);
}

/// Lines below which an array of lines is taken to lie in a cache: all words of a query are loaded before one decision,
/// since a wrongly predicted branch costs more than the loads. Larger arrays are read word by word: fewer loads per item
/// leave room for those of the next items. MEASURED: hits, misses and halves of both of a blocked filter at 1e-6 take 46, 33 and 47 ns in 19 MiB word by
/// word and 46, 50 and 52 at once (Zen 5, an L3 that others use).
const NEAR: usize = (8 << 20) / LINE_BYTES;

/// Bits anywhere in the array.
#[derive(Debug)]
pub(crate) struct Classic {
    bits: Bits<Free>,
    size: u64,
    probes: u32,
}

impl Classic {
    /// Lines from which on a batch is asked for ahead. MEASURED: hits, misses and inserts in 1.2 MB take 13,
    /// 22 and 67 ns without and 17, 25 and 65 with it; in 12 MB 30, 34 and 83 without and 29, 30 and 71 with it;
    /// in 120 MB it halves them.
    const PREFETCHED_FROM: usize = (4 << 20) / LINE_BYTES;

    /// Lines below which a classic array is taken to lie in a cache. MEASURED: hits, misses and half of each of 6 probes take
    /// 10.0, 9.6 and 9.7 ns at once in 11.5 MiB, 9.8, 10.6 and 16.8 by two; in 29 MiB 57, 63 and 64, and 58, 42 and 53 (one
    /// by one, Zen 5 with 32 MiB of L3).
    const NEAR: usize = (16 << 20) / LINE_BYTES;

    /// Probes that are looked at all at once in a cache; of more, four and four.
    ///
    /// MEASURED: hits, misses and half of each in L2 take, with 7 probes, 5.1, 5.1 and 5.1 ns at once, 5.6, 4.2 and 11.5 by
    /// four, 5.4, 13.7 and 10.6 one by one; with 13, 8.9, 9.0 and 9.0 at once, 9.6, 4.3 and 13.9 by four; with 20, 13.4
    /// at once, 13.7, 4.2 and 15.4 by four.
    const MAX_AT_ONCE: u32 = 16;

    /// Probes from which on each has its own branch in an array in memory; fewer are looked at two and two.
    ///
    /// MEASURED: hits, misses and half of each of 100 million items take, with 6 probes, 66, 45 and 62 ns by two, 58, 46
    /// and 52 with a branch per probe, unrolled by six, 84, 53 and 72 in a loop not unrolled, 76, 49 and 75 by three;
    /// with 3 probes, 34, 33 and 36 by two, 36, 40 and 38 with a branch per probe (Zen 5).
    const SINGLE_FROM: u32 = 6;

    /// Whether all these bits are set, without a branch for each.
    #[inline(always)]
    fn all_set(bits: BitSlice<'_>, shares: impl IntoIterator<Item = u64>) -> bool {
        // Of truth values the compiler would make branches.
        shares.into_iter().fold(1, |all, share| all & bits_from(bits, share)) != 0
    }

    /// Whether all these bits are set. Branches once per `COUNT` probes.
    #[inline(always)]
    fn all_set_by<const COUNT: usize>(bits: BitSlice<'_>, mut probes: Probes) -> bool {
        while let Some(shares) = probes.next_chunk::<COUNT>() {
            if !Self::all_set(bits, shares) {
                return false;
            }
        }
        Self::all_set(bits, probes)
    }

    /// Whether all these bits are set. Branches once per probe, unrolled by `COUNT`, so that each branch has its own
    /// history; the last few probes by two.
    #[inline(always)]
    fn all_set_singly<const COUNT: usize>(bits: BitSlice<'_>, mut probes: Probes) -> bool {
        while let Some(shares) = probes.next_chunk::<COUNT>() {
            if !shares.into_iter().all(|share| Self::all_set(bits, [share])) {
                return false;
            }
        }
        Self::all_set_by::<2>(bits, probes)
    }

    /// Asks for the lines of an item of the next batch.
    #[inline]
    fn prefetch_next(&self, next: &Batch, item: usize) {
        if self.bits.lines() >= Self::PREFETCHED_FROM {
            self.prefetch(next.hashes[item]);
        }
    }

    /// Where in the array the bit with this share lies.
    #[inline]
    fn place(&self, share: u64) -> u64 {
        fastrange(share, self.size)
    }

    #[inline]
    fn probes(&self, hash: u64) -> Probes {
        classic::probes(hash, self.probes)
    }
}

impl Array for Classic {
    const KIND: Kind = Kind::Classic;

    fn zeroed(geometry: Geometry) -> Result<Self, AllocError> {
        let bits = Bits::zeroed(geometry.lines())?;
        Ok(Self { bits, size: geometry.bits(), probes: geometry.probes() })
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        for share in self.probes(hash) {
            self.bits.prefetch(self.place(share) / LINE_BITS);
        }
    }

    #[inline]
    fn contains(&self, hash: u64) -> bool {
        let (bits, probes) = (self.bits.bit_slice(self.size), self.probes(hash));
        let is_near = self.bits.lines() < Self::NEAR;
        if is_near && self.probes <= Self::MAX_AT_ONCE {
            Self::all_set(bits, probes)
        } else if is_near {
            Self::all_set_by::<4>(bits, probes)
        } else if self.probes < Self::SINGLE_FROM {
            Self::all_set_by::<2>(bits, probes)
        } else {
            Self::all_set_singly::<6>(bits, probes)
        }
    }

    #[inline]
    fn insert(&self, hash: u64) -> bool {
        // By places: without the check of a bound between two probes the compiler sets two bits at a time, and the
        // branch on odd and even is one guess more. MEASURED: inserts out of the caches take 1.1 to 1.2 of the time;
        // with all lines asked for to write before the first, 1.1 in 57 MiB (Zen 5).
        let mut places = self.probes(hash).map(|share| self.place(share));
        while let Some(place) = places.next() {
            // Look first: an item seen before then costs no exclusive access to any line.
            if self.bits.contains_bit(place) {
                continue;
            }
            // From the first that is missing on all are set without a look, which would be a guess.
            let mut new = self.bits.insert_bit(place);
            for place in places {
                new |= self.bits.insert_bit(place);
            }
            return new;
        }
        false
    }

    #[inline]
    fn insert_mut(&mut self, hash: u64) -> bool {
        let mut all = 1;
        for share in self.probes(hash) {
            all &= self.bits.insert_bit_mut(self.place(share));
        }
        all == 0
    }

    #[inline]
    fn inserts_singly(&self) -> bool {
        self.bits.lines() < Self::PREFETCHED_FROM
    }

    fn spread(&self, _: &mut Batch) {}

    fn contains_batch(&self, batch: &Batch, next: &Batch) -> u32 {
        answers(|item| {
            self.prefetch_next(next, item);
            self.contains(batch.hashes[item])
        })
    }

    fn insert_batch(&self, batch: &Batch, next: &Batch) -> u32 {
        answers(|item| {
            self.prefetch_next(next, item);
            self.insert(batch.hashes[item])
        })
    }

    fn insert_batch_mut(&mut self, batch: &Batch, next: &Batch) -> u32 {
        answers(|item| {
            self.prefetch_next(next, item);
            self.insert_mut(batch.hashes[item])
        })
    }

    fn lines(&self) -> usize {
        self.bits.lines()
    }

    fn regions(&mut self, _: u32) -> Option<Regions<'_>> {
        None
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

/// The value of an expression in which the number of words of a shape is a constant: straight code, no loops.
///
/// MEASURED: a query for 16 bits in 4 words of a line in L2 takes 10.7 ns so, and 19.7 in loops.
macro_rules! with_words {
    ($all:expr, $shape:ident => $value:expr) => {
        with_words!($all, $shape => $value, 1 2 4; 8)
    };
    ($all:expr, $shape:ident => $value:expr, $($words:literal)*; $most:literal) => {
        match $all.words {
            $($words => {
                let $shape = Shape { words: $words, ..$all };
                $value
            })*
            _ => {
                let $shape = Shape { words: $most, ..$all };
                $value
            }
        }
    };
}
pub(crate) use with_words;

/// The answers for the items of a batch, in the bits of a number.
#[inline(always)]
fn answers(mut answer: impl FnMut(usize) -> bool) -> u32 {
    (0..BATCH).fold(0, |answers, item| answers | u32::from(answer(item)) << item)
}

/// Bits in one line of the array.
#[derive(Debug)]
pub(crate) struct InLine<W> {
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

    fn contains_batch(&self, batch: &Batch, next: &Batch) -> u32 {
        let ahead = self.lines >= Self::QUERIES_AHEAD_FROM;
        with_words!(self.shape, shape => {
            let tables = shape.tables();
            answers(|item| {
                if ahead {
                    self.bits.prefetch(next.line(item));
                }
                self.bits.contains_branchless(batch.line(item), batch.pattern(shape, &tables, item))
            })
        })
    }

    fn insert_batch(&self, batch: &Batch, next: &Batch) -> u32 {
        let ahead = self.lines >= Self::INSERTS_AHEAD_FROM;
        with_words!(self.shape, shape => {
            let tables = shape.tables();
            answers(|item| {
                if ahead {
                    self.bits.prefetch_to_write(next.line(item));
                }
                self.insert(shape, batch.line(item), batch.pattern(shape, &tables, item))
            })
        })
    }

    fn insert_batch_mut(&mut self, batch: &Batch, next: &Batch) -> u32 {
        let ahead = self.lines >= Self::INSERTS_AHEAD_FROM;
        with_words!(self.shape, shape => {
            let tables = shape.tables();
            answers(|item| {
                if ahead {
                    self.bits.prefetch_to_write(next.line(item));
                }
                self.bits.insert_mut(batch.line(item), batch.pattern(shape, &tables, item))
            })
        })
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
