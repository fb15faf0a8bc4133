//! The classic array: the bits of an item may lie in any line.

use tamis_hash::fastrange;
use tamis_sync::{AllocError, BitSlice, LINE_BITS, LINE_BYTES, LINE_WORDS, Lines};

use super::{Answers, Array, answer_all};
use crate::bits::{Bits, Free, bits_from};
use crate::geometry::{Geometry, Kind};
use crate::probe::batch::Batch;
use crate::probe::classic::{Probes, STEP, probes};
use crate::regions::Regions;

/// An array in which the bits of an item lie anywhere.
#[derive(Debug)]
pub struct Classic {
    pub(super) bits: Bits<Free>,
    size: u64,
    probes: u32,
    /// [`STEP`], in a field so that the compiler does not know it: see
    /// [`contains_far`](Self::contains_far).
    step: u64,
}

impl Classic {
    /// Size in lines from which a batch requests the memory of the next one: 4 MiB.
    ///
    /// MEASURED (ns per hit, miss and insert): in 1.2 MB 13, 22 and 67 without requests, and 17, 25
    /// and 65 with them; in 12 MB 30, 34 and 83 without, and 29, 30 and 71 with them; in 120 MB
    /// requests halve the times (Sapphire Rapids).
    const PREFETCHED_FROM: usize = (4 << 20) / LINE_BYTES;

    /// Size in lines below which the array is assumed to lie in a cache: 8 MiB. Other programs use
    /// the L3, too.
    ///
    /// MEASURED (ns per hit, miss, and half of each, with 6 probes, as in a cache and as out of
    /// it): in 15 MiB, while others use the L3, 52, 50 and 50, and 38, 29 and 32 (fastbloom's
    /// atomic filter 54, 34 and 41); in 11.5 MiB of a free L3 7.5, 7.3 and 8.0, and 7.5, 15.5 and
    /// 12.7 (fastbloom 9.6, 17.7 and 14.9); in 6 MiB, while others use the L3, 9.9, 9.9 and 10.1,
    /// and 9.5, 15.7 and 13.8 (Zen 5 with 32 MiB of L3).
    const NEAR: usize = (8 << 20) / LINE_BYTES;

    /// Largest number of probes that a query in a cache tests with one branch. If there are more, a
    /// branch on the first four comes before the one on all others.
    ///
    /// MEASURED (ns per hit, miss, and half of each, in L2): with 6 probes 4.3, 4.3 and 4.3 with
    /// one branch, 4.5, 3.7 and 10.1 with two; with 12 probes 7.5, 7.5 and 7.5 with one, 7.8, 3.8
    /// and 11.9 with two; with 17 probes 10.2, 10.2 and 10.4 with one, 10.5, 3.9 and 13.7 with two,
    /// 10.5, 3.6 and 13.6 with one per four probes, 11.3, 11.5 and 13.4 with one per probe (Zen 5).
    const MAX_AT_ONCE: u32 = 16;

    /// Returns whether all these bits are set. Branches once for all.
    #[inline(always)]
    fn all_set(bits: BitSlice<'_>, shares: impl IntoIterator<Item = u64>) -> bool {
        // Folds words, not `bool`s: the compiler would turn those into branches.
        shares.into_iter().fold(1, |all, share| all & bits_from(bits, share)) != 0
    }

    /// A query of an array in a cache. A mispredicted branch costs more there than the loads: it
    /// has one branch for all probes, or two.
    #[inline(always)]
    fn contains_near(&self, hash: u64) -> bool {
        let (bits, mut probes) = (self.bits.bit_slice(self.size), self.probes(hash));
        if self.probes > Self::MAX_AT_ONCE
            && let Some(first) = probes.next_chunk::<4>()
            && !Self::all_set(bits, first)
        {
            return false;
        }
        Self::all_set(bits, probes)
    }

    /// A query of an array out of cache. It stops at the first bit that is missing: a load saved
    /// makes room for the loads of the next items. How many of these the processor has in flight
    /// depends on the instructions in between, those of a call included, and on their registers. So
    /// each probe depends on the last: from a step that it knows, the compiler computes the powers,
    /// and takes registers for them that the function must save. The loop is unrolled, so that
    /// branches have their own histories in the branch predictor.
    ///
    /// MEASURED (ns per hit, miss, and half of each, 100 million items, 6 probes): 52, 42 and 48,
    /// and by a call 62, 58 and 58; with powers, unrolled by six, 58, 47 and 54, and 66, 68 and 65;
    /// with one branch per two probes 68, 48 and 65, and 68, 52 and 69; without unrolling 55, 43
    /// and 50, and 67, 54 and 61. With 3 probes 32, 35 and 33 instead of 37, 37 and 40 with one
    /// branch per two; with 17 probes 133, 46 and 104, and unrolled by six 138, 45 and 105 (Zen 5).
    #[inline(always)]
    fn contains_far(&self, hash: u64) -> bool {
        const UNROLLED: u32 = 3;
        let bits = self.bits.bit_slice(self.size);
        let (mut share, mut left) = (hash, self.probes);
        while left >= UNROLLED {
            for _ in 0..UNROLLED {
                if !Self::all_set(bits, [share]) {
                    return false;
                }
                share = share.wrapping_mul(self.step);
            }
            left -= UNROLLED;
        }
        for _ in 0..left {
            if !Self::all_set(bits, [share]) {
                return false;
            }
            share = share.wrapping_mul(self.step);
        }
        true
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
        probes(hash, self.probes)
    }
}

impl Array for Classic {
    const KIND: Kind = Kind::Classic;

    fn of_lines(geometry: Geometry, lines: Lines) -> Self {
        Self {
            bits: Bits::of_lines(lines),
            size: geometry.bits(),
            probes: geometry.probes(),
            step: STEP,
        }
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        for share in self.probes(hash) {
            self.bits.prefetch(self.place(share) / LINE_BITS);
        }
    }

    /// Inlined into the caller, through all public methods. MEASURED: hits, misses and half of each
    /// of 100 million items take 52, 42 and 48 ns inlined, instead of 62, 58 and 58 by a call (Zen
    /// 5).
    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        if self.bits.lines() < Self::NEAR {
            self.contains_near(hash)
        } else {
            self.contains_far(hash)
        }
    }

    #[inline]
    fn insert(&self, hash: u64) -> bool {
        // By places, with a bounds check per probe. Without the check the compiler sets two bits at
        // a time, and the branch on an odd or even number is one more to mispredict. MEASURED:
        // without the checks, inserts out of the caches take 1.1 to 1.2 times as long; with the
        // checks, and with all lines requested for writing before the first probe, 1.1 times as
        // long in 57 MiB (Zen 5).
        let mut places = self.probes(hash).map(|share| self.place(share));
        while let Some(place) = places.next() {
            // Load first: a present item then needs no exclusive access to any line.
            if self.bits.contains_bit(place) {
                continue;
            }
            // From the first missing bit on, set all bits without loading first: that branch would
            // be mispredicted.
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
            // The lines have been requested, so they are near in an array of any size. MEASURED: in
            // 12 MB, hits, misses and half of each take 9.2, 9.7 and 8.8 ns instead of 9.5, 14.4
            // and 12.7 (Zen 5).
            self.contains_near(batch.hashes[item])
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

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::probe::classic::MAX_PROBES;

    #[test]
    fn both_forms_of_a_query_find_all_bits_and_miss_any_one() {
        for count in 1..=MAX_PROBES {
            let geometry = Geometry::for_bits(Kind::Classic, 1_000_003, count, None).unwrap();
            let mut array = Classic::zeroed(geometry).unwrap();
            let hash = u64::from(count).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let places: Vec<u64> = probes(hash, count).map(|share| array.place(share)).collect();
            for missing in &places {
                array.clear();
                for place in places.iter().filter(|place| *place != missing) {
                    array.bits.insert_bit(*place);
                }
                assert!(!array.contains_near(hash) && !array.contains_far(hash), "{count}");
                array.bits.insert_bit(*missing);
                assert!(array.contains_near(hash) && array.contains_far(hash), "{count}");
            }
        }
    }
}
