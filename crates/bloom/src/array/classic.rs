//! The classic array: the bits of an item may lie in any line.

use tamis_hash::fastrange;
use tamis_sync::{AllocError, BitSlice, LINE_BITS, LINE_BYTES, LINE_WORDS, Lines};

use super::{Answers, Array, answer_all};
use crate::bits::{Bits, Free, bits_from};
use crate::geometry::{Geometry, Kind};
use crate::probe::batch::Batch;
use crate::probe::classic::{self, Probes};
use crate::regions::Regions;

/// An array in which the bits of an item lie anywhere.
#[derive(Debug)]
pub struct Classic {
    pub(super) bits: Bits<Free>,
    size: u64,
    probes: u32,
}

impl Classic {
    /// Size in lines from which a batch requests the memory of the next one: 4 MiB.
    ///
    /// MEASURED (ns per hit, miss and insert): in 1.2 MB 13, 22 and 67 without requests, and 17, 25 and 65 with them;
    /// in 12 MB 30, 34 and 83 without, and 29, 30 and 71 with them; in 120 MB requests halve the times (Sapphire
    /// Rapids).
    const PREFETCHED_FROM: usize = (4 << 20) / LINE_BYTES;

    /// Size in lines below which the array is assumed to lie in a cache: 16 MiB.
    ///
    /// MEASURED (ns per hit, miss, and half of each, with 6 probes, item by item): in 11.5 MiB 10.0, 9.6 and
    /// 9.7 with one branch for all probes, and 9.8, 10.6 and 16.8 with one per two probes; in 29 MiB 57, 63 and 64, and
    /// 58, 42 and 53 (Zen 5 with 32 MiB of L3).
    const NEAR: usize = (16 << 20) / LINE_BYTES;

    /// Largest number of probes that a query in a cache tests with one branch. More are tested with one branch per
    /// four.
    ///
    /// MEASURED (ns per hit, miss, and half of each, in L2): with 7 probes 5.1, 5.1 and 5.1 with one branch, 5.6, 4.2
    /// and 11.5 with one per four probes, 5.4, 13.7 and 10.6 with one per probe; with 13 probes 8.9, 9.0 and 9.0 with
    /// one branch, 9.6, 4.3 and 13.9 with one per four; with 20 probes 13.4 with one branch, 13.7, 4.2 and 15.4 with
    /// one per four (Zen 5).
    const MAX_AT_ONCE: u32 = 16;

    /// Number of probes from which a query out of cache has one branch per probe, unrolled by six. Fewer probes are
    /// tested with one branch per two.
    ///
    /// MEASURED (ns per hit, miss, and half of each, 100 million items): with 6 probes 64, 44 and 61 with one branch
    /// per two probes, 56, 46 and 51 with one per probe, unrolled by six. In a copy in pages of 4 KiB 75, 47 and 71, and
    /// 61, 44 and 55; there 84, 53 and 72 with one per probe in a loop, 76, 49 and 75 with one per three. With 3 probes
    /// 34, 33 and 36 with one per two, 36, 40 and 38 with one per probe (Zen 5).
    const SINGLE_FROM: u32 = 6;

    /// Returns whether all these bits are set. Branches once for all.
    #[inline(always)]
    fn all_set(bits: BitSlice<'_>, shares: impl IntoIterator<Item = u64>) -> bool {
        // Folds words, not `bool`s: the compiler would turn those into branches.
        shares.into_iter().fold(1, |all, share| all & bits_from(bits, share)) != 0
    }

    /// Returns whether all these bits are set. Branches once per `COUNT` probes.
    #[inline(always)]
    fn all_set_by<const COUNT: usize>(bits: BitSlice<'_>, mut probes: Probes) -> bool {
        while let Some(shares) = probes.next_chunk::<COUNT>() {
            if !Self::all_set(bits, shares) {
                return false;
            }
        }
        Self::all_set(bits, probes)
    }

    /// Returns whether all these bits are set. Branches once per probe. The loop is unrolled by `COUNT`, so that each
    /// branch has its own history in the branch predictor. The last probes, fewer than `COUNT`, are tested by two.
    #[inline(always)]
    fn all_set_singly<const COUNT: usize>(bits: BitSlice<'_>, mut probes: Probes) -> bool {
        while let Some(shares) = probes.next_chunk::<COUNT>() {
            if !shares.into_iter().all(|share| Self::all_set(bits, [share])) {
                return false;
            }
        }
        Self::all_set_by::<2>(bits, probes)
    }

    /// Queries with more probes than one branch should test, in a cache, and with few probes, out of cache.
    #[inline]
    fn contains_rarer(&self, hash: u64) -> bool {
        let (bits, probes) = (self.bits.bit_slice(self.size), self.probes(hash));
        if self.bits.lines() < Self::NEAR {
            Self::all_set_by::<4>(bits, probes)
        } else {
            Self::all_set_by::<2>(bits, probes)
        }
    }

    /// Requests the lines of an item of the next batch, if the array is larger than the caches.
    #[inline]
    fn prefetch_next(&self, next: &Batch, item: usize) {
        if self.bits.lines() >= Self::PREFETCHED_FROM {
            self.prefetch(next.hashes[item]);
        }
    }

    /// Returns the place in the array of the bit with this share of 2^64.
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

    fn of_lines(geometry: Geometry, lines: Lines) -> Self {
        Self { bits: Bits::of_lines(lines), size: geometry.bits(), probes: geometry.probes() }
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        for share in self.probes(hash) {
            self.bits.prefetch(self.place(share) / LINE_BITS);
        }
    }

    /// The two common cases are inlined into the caller, through all public methods. A call adds instructions, and the
    /// processor then has fewer queries in flight. MEASURED: hits, misses and half of each of 100 million items take 57,
    /// 47 and 52 ns inlined, instead of 67, 69 and 65 by a call (Zen 5).
    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        let (bits, probes) = (self.bits.bit_slice(self.size), self.probes(hash));
        let is_near = self.bits.lines() < Self::NEAR;
        // In a cache a mispredicted branch costs more than the loads: test all probes with one branch. Out of cache a
        // load saved makes room for the loads of the next items: stop at the first probe that misses.
        if is_near && self.probes <= Self::MAX_AT_ONCE {
            Self::all_set(bits, probes)
        } else if !is_near && self.probes >= Self::SINGLE_FROM {
            Self::all_set_singly::<6>(bits, probes)
        } else {
            self.contains_rarer(hash)
        }
    }

    #[inline]
    fn insert(&self, hash: u64) -> bool {
        // By places, with a bounds check per probe. Without the check the compiler sets two bits at a time, and the
        // branch on an odd or even number is one more to mispredict. MEASURED: without the checks, inserts out of the
        // caches take 1.1 to 1.2 times as long; with the checks, and with all lines requested for writing before the
        // first probe, 1.1 times as long in 57 MiB (Zen 5).
        let mut places = self.probes(hash).map(|share| self.place(share));
        while let Some(place) = places.next() {
            // Load first: a present item then needs no exclusive access to any line.
            if self.bits.contains_bit(place) {
                continue;
            }
            // From the first missing bit on, set all bits without loading first: that branch would be mispredicted.
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
