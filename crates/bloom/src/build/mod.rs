//! All hashes of a build, in whatever order suits the memory: kept back region by region of the array, so that a
//! region lies in the cache while its hashes are inserted.
//!
//! A line comes from the high bits of a hash, and so does the region that it lies in. For each region some
//! hashes wait; when there are as many as there is room for, they are inserted, all at once and by plain stores.

use alloc::vec;
use alloc::vec::Vec;
use core::mem::take;

use tamis_sync::{BATCH, LINE_WORDS, Lines, run_batches};

use crate::array::Array;
use crate::many::InsertMut;
use crate::regions::{LOG_LINES, Regions};

#[cfg(feature = "rayon")]
pub(crate) mod parallel;

/// Lines of memory for the hashes that wait for a region, eight a line: as many as the region has, so that all
/// that wait take as much memory as the filter; and a few more. MEASURED: without those, the ends that are
/// written to lie so that they drive each other out of the cache, and 100 million hashes take 9.8 ns each
/// instead of 7.9 (in regions of 512 KiB). With half of the room 8.9.
const ROOM: usize = (1 << LOG_LINES) + 5;

/// Lines from which on hashes wait for their region: 32 MiB. MEASURED: where the L3 has 32 MiB, items as they
/// come and from regions take 5.9 and 9.2 ns in 12 MiB, 8.4 and 8.3 in 24, 10.8 and 8.7 in 37, 11.7 and 7.9 in 61.
const MIN: usize = 1 << 19;

/// Sets the bits of all hashes. Where they wait, they take as much memory as the filter; if it is refused, they
/// do not wait.
#[inline]
pub(crate) fn insert_all<A: Array>(array: &mut A, hashes: impl IntoIterator<Item = u64>) {
    let mut hashes = hashes.into_iter();
    // As few as that are inserted as they come: each region would be fetched for a handful of them.
    let few = array.lines();
    if few < MIN {
        return insert_in_batches(array, hashes);
    }
    if hashes.size_hint().0 < few {
        insert_in_batches(array, hashes.by_ref().take(few));
    }
    if let Some(first) = hashes.next() {
        let waiting = array.regions(LOG_LINES).and_then(PartitionBuffers::new);
        if let Some(mut waiting) = waiting {
            waiting.insert_all(first, hashes);
        } else {
            insert_in_batches(array, core::iter::once(first).chain(hashes));
        }
    }
}

/// Sets the bits of all hashes, in order.
#[inline]
pub(crate) fn insert_in_batches<A: Array>(array: &mut A, hashes: impl IntoIterator<Item = u64>) {
    run_batches(InsertMut(array), hashes, |_, _| ());
}

/// The hashes that wait for each region.
struct PartitionBuffers<'a> {
    regions: Regions<'a>,
    /// [`ROOM`] for each region. In lines, since those lie in huge pages.
    hashes: Lines,
    counts: Vec<usize>,
}

impl<'a> PartitionBuffers<'a> {
    /// None if the memory is refused.
    fn new(regions: Regions<'a>) -> Option<Self> {
        let count = regions.regions.len();
        let hashes = Lines::zeroed((count * ROOM) as u64).ok()?;
        Some(Self { regions, hashes, counts: vec![0; count] })
    }

    #[inline]
    fn insert_all(&mut self, first: u64, mut hashes: impl Iterator<Item = u64>) {
        let mut batch = [first; BATCH];
        let mut items = 1;
        while items > 0 {
            // The user's code runs here, between whole inserts.
            batch[..items].iter().for_each(|&hash| self.push(hash));
            items = batch.iter_mut().zip(&mut hashes).map(|(to, hash)| *to = hash).count();
        }
        (0..self.counts.len()).for_each(|region| self.insert(region));
    }

    #[inline(always)]
    fn push(&mut self, hash: u64) {
        let region = self.regions.partition.region(hash);
        let count = self.counts[region];
        let line = &mut self.hashes[region * ROOM + count / LINE_WORDS];
        line.words[count % LINE_WORDS].update(|word| *word = hash);
        self.counts[region] = count + 1;
        if count + 1 == ROOM * LINE_WORDS {
            self.insert(region);
        }
    }

    /// Inserts what waits for a region.
    #[cold]
    #[inline(never)]
    fn insert(&mut self, region: usize) {
        let count = take(&mut self.counts[region]);
        let lines = &mut self.hashes[region * ROOM..][..ROOM];
        let region = &mut self.regions.regions[region];
        region.prefetch_all_to_write();
        self.regions.partition.insert(region, count, |first, batch| {
            let lines = lines[first / LINE_WORDS..].iter_mut();
            for (line, batch) in lines.zip(batch.chunks_exact_mut(LINE_WORDS)) {
                for (word, hash) in line.words.iter_mut().zip(batch) {
                    *hash = word.update(|word| *word);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    //! The same bits as one by one, in every word, the locks among them.

    use core::hash::Hasher as _;
    use core::panic::AssertUnwindSafe;
    use std::panic::catch_unwind;

    use tamis_hash::split::next_pattern;
    use tamis_sync::LINE_BITS;

    use super::*;
    use crate::array::line::InLine;
    use crate::bits::{Free, Locked, Writer};
    use crate::geometry::Geometry;

    /// As many as fill all regions of the largest arrays here more than once.
    const HASHES: u64 = 6_000_000;

    fn zeroed<W: Writer>(lines: u64, probes: u32) -> InLine<W> {
        let kind = InLine::<W>::KIND;
        let geometry = Geometry::for_bits(kind, lines * LINE_BITS, probes, None).unwrap();
        assert_eq!(geometry.lines(), lines);
        InLine::zeroed(geometry).unwrap()
    }

    /// Random; in every third of them all the same, so that a region fills up out of turn.
    fn hashes(count: u64) -> impl Iterator<Item = u64> + Clone {
        (0..count).map(move |number| {
            if number % (count / 3 + 1) < 50_000 && number > 1 << 20 {
                return number << 3;
            }
            let mut hasher = std::collections::hash_map::DefaultHasher::new();
            hasher.write_u64(next_pattern(number));
            hasher.finish()
        })
    }

    fn assert_same<W: Writer>(one: &InLine<W>, all: &InLine<W>, what: &str) {
        for line in 0..one.lines() as u64 {
            assert_eq!(one.bits.read_raw(line), all.bits.read_raw(line), "{what}: line {line}");
        }
    }

    fn sets_the_same_bits<W: Writer + Sync>(lines: u64, probes: u32, count: u64) {
        let what = std::format!("{lines} lines, {probes} probes, {count} hashes");
        let mut one = zeroed::<W>(lines, probes);
        hashes(count).for_each(|hash| {
            one.insert_mut(hash);
        });
        let mut all = zeroed::<W>(lines, probes);
        insert_all(&mut all, hashes(count));
        assert_same(&one, &all, &what);
        // Of unknown length: the first few do not wait.
        let mut all = zeroed::<W>(lines, probes);
        insert_all(&mut all, hashes(count).filter(|_| true));
        assert_same(&one, &all, &what);
        // Where `insert_all` lets none wait, too.
        if let Some(first) = hashes(count).next() {
            let mut all = zeroed::<W>(lines, probes);
            let waiting = all.regions(LOG_LINES).and_then(PartitionBuffers::new);
            waiting.unwrap().insert_all(first, hashes(count).skip(1));
            assert_same(&one, &all, &what);
        }
        #[cfg(feature = "rayon")]
        {
            use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
            let hashes: Vec<u64> = hashes(count).collect();
            let mut all = zeroed::<W>(lines, probes);
            parallel::insert_all(&mut all, hashes.clone().into_par_iter());
            assert_same(&one, &all, &what);
            let mut all = zeroed::<W>(lines, probes);
            parallel::insert_all(&mut all, hashes.into_par_iter().filter(|_| true));
            assert_same(&one, &all, &what);
        }
    }

    fn sets_the_same_bits_in_all_sizes<W: Writer + Sync>() {
        let region = 1 << LOG_LINES;
        for (lines, count) in [
            (1, 100_000),
            (region - 1, 40_000),
            (region, 300_000),
            (region + 1, 300_000),
            (5 * region / 2, 1000),
            (5 * region / 2, 31),
            (5 * region / 2, 0),
            (5 * region / 2, 200_000),
        ] {
            for probes in [1, 6, 9, 16] {
                sets_the_same_bits::<W>(lines, probes, count);
            }
        }
        let least = MIN as u64;
        for lines in [least - 1, least, least + 1] {
            sets_the_same_bits::<W>(lines, 6, HASHES);
        }
        for count in [least - 1, least, least + 1] {
            sets_the_same_bits::<W>(least, 6, count);
        }
    }

    #[test]
    fn all_are_inserted_blocked() {
        sets_the_same_bits_in_all_sizes::<Free>();
    }

    #[test]
    fn all_are_inserted_once() {
        sets_the_same_bits_in_all_sizes::<Locked>();
    }

    /// What was inserted before stays; of what is not yet inserted, all bits or none are set.
    #[test]
    fn a_panic_leaves_items_or_none() {
        let lines = MIN as u64;
        let mut array: InLine<Free> = zeroed(lines, 6);
        array.insert_mut(7 << 60);
        let broken = hashes(HASHES).enumerate().map(|(number, hash)| {
            assert!(number < 5_000_000, "the user's");
            hash
        });
        let result = catch_unwind(AssertUnwindSafe(|| insert_all(&mut array, broken)));
        assert!(result.is_err() && array.contains(7 << 60));
        let mut of_those: InLine<Free> = zeroed(lines, 6);
        of_those.insert_mut(7 << 60);
        hashes(HASHES).filter(|&hash| array.contains(hash)).for_each(|hash| {
            of_those.insert_mut(hash);
        });
        assert_same(&array, &of_those, "after a panic");
        insert_all(&mut array, hashes(HASHES));
        assert!(hashes(HASHES).all(|hash| array.contains(hash)));
    }
}
