//! The classic array: the bits of an item lie anywhere in it.

use tamis_hash::fastrange;
use tamis_sync::{AllocError, BitSlice, LINE_BITS, LINE_BYTES, LINE_WORDS};

use super::{Answers, Array, answer_all};
use crate::bits::{Bits, Free, bits_from};
use crate::geometry::{Geometry, Kind};
use crate::probe::batch::Batch;
use crate::probe::classic::{self, Probes};
use crate::regions::Regions;

/// Bits anywhere in the array.
#[derive(Debug)]
pub struct Classic {
    pub(super) bits: Bits<Free>,
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
    pub(super) fn place(&self, share: u64) -> u64 {
        fastrange(share, self.size)
    }

    #[inline]
    pub(super) fn probes(&self, hash: u64) -> Probes {
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

    fn contains_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers) {
        answer_all(answers, |item| {
            self.prefetch_next(next, item);
            self.contains(batch.hashes[item])
        });
    }

    fn insert_batch(&self, batch: &Batch, next: &Batch, answers: &mut Answers) {
        answer_all(answers, |item| {
            self.prefetch_next(next, item);
            self.insert(batch.hashes[item])
        });
    }

    fn insert_batch_mut(&mut self, batch: &Batch, next: &Batch, answers: &mut Answers) {
        answer_all(answers, |item| {
            self.prefetch_next(next, item);
            self.insert_mut(batch.hashes[item])
        });
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
