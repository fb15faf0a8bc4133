//! Builds: inserts all hashes in the order that suits the memory.
//!
//! The high bits of a hash determine its line, and therefore its region. In a large array hashes
//! wait in a buffer per region. When a buffer is full, its hashes are inserted together, by plain
//! stores, while the region lies in the cache.

use alloc::vec;
use alloc::vec::Vec;
use core::mem::take;

use tamis_sync::{BATCH, LINE_WORDS, Lines, run_batches};

use crate::array::Array;
use crate::many::InsertMut;
use crate::regions::{LOG_LINES, Regions};

#[cfg(feature = "rayon")]
pub(crate) mod parallel;

/// Lines of the buffer of a region, with eight hashes per line: the lines of the region, so that
/// all buffers take as much memory as the filter, and five more. Without the five, the ends of the
/// buffers compete for the same cache sets.
///
/// MEASURED: 100 million hashes in regions of 512 KiB take 7.9 ns each, 9.8 without the five lines,
/// and 8.9 with half the buffer (Zen 4).
const ROOM: usize = (1 << LOG_LINES) + 5;

/// Size in lines from which hashes wait for their region: 32 MiB.
///
/// MEASURED: through regions an item takes 9.2 ns in 12 MiB instead of 5.9 without, 8.3 in 24 MiB
/// instead of 8.4, 8.7 in 37 MiB instead of 10.8, and 7.9 in 61 MiB instead of 11.7 (Zen 4 with 32
/// MiB of L3).
const MIN: usize = 1 << 19;

/// Sets the bits of all hashes. In a large array the buffers take as much memory as the filter; if
/// their allocation fails, the hashes are inserted at once.
#[inline]
pub(crate) fn insert_all<A: Array>(array: &mut A, hashes: impl IntoIterator<Item = u64>) {
    // It is asked again later, and must not be asked after its end.
    let mut hashes = hashes.into_iter().fuse();
    // Small arrays, and fewer hashes than lines, do without regions: each region would be fetched
    // for a few hashes.
    let few = array.lines();
    if few < MIN {
        return insert_in_batches(array, hashes);
    }
    // The number of hashes is unknown or small: insert the first ones in order.
    if hashes.size_hint().0 < few {
        insert_in_batches(array, hashes.by_ref().take(few));
    }
    // More follow: allocate the buffers.
    if let Some(first) = hashes.next() {
        let waiting = array.regions(LOG_LINES).and_then(PartitionBuffers::new);
        if let Some(mut waiting) = waiting {
            waiting.insert_all(first, hashes);
        } else {
            insert_in_batches(array, core::iter::once(first).chain(hashes));
        }
    }
}

/// Sets the bits of all hashes, in batches, in order.
#[inline]
pub(crate) fn insert_in_batches<A: Array>(array: &mut A, hashes: impl IntoIterator<Item = u64>) {
    run_batches(InsertMut(array), hashes, |_, _| ());
}

/// The regions of an array, and the hashes that wait for each.
struct PartitionBuffers<'a> {
    regions: Regions<'a>,
    /// [`ROOM`] lines for each region. Cache lines, because `Lines` allocates huge pages.
    hashes: Lines,
    counts: Vec<usize>,
}

impl<'a> PartitionBuffers<'a> {
    /// Allocates the buffers. Returns `None` if the allocation fails.
    fn new(regions: Regions<'a>) -> Option<Self> {
        let count = regions.regions.len();
        let hashes = Lines::zeroed((count * ROOM) as u64).ok()?;
        Some(Self { regions, hashes, counts: vec![0; count] })
    }

    /// Inserts `first` and all other hashes.
    #[inline]
    fn insert_all(&mut self, first: u64, mut hashes: impl Iterator<Item = u64>) {
        let mut batch = [first; BATCH];
        let mut items = 1;
        while items > 0 {
            // Distribute a batch of hashes over the buffers.
            batch[..items].iter().for_each(|&hash| self.push(hash));
            // Pull the next batch. The user's code runs here, between whole inserts.
            items = batch.iter_mut().zip(&mut hashes).map(|(to, hash)| *to = hash).count();
        }
        // Insert what is left in the buffers.
        (0..self.counts.len()).for_each(|region| self.insert(region));
    }

    /// Appends a hash to the buffer of its region, and inserts the buffer if it is full.
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

    /// Inserts the hashes that wait for a region.
    #[cold]
    #[inline(never)]
    fn insert(&mut self, region: usize) {
        let count = take(&mut self.counts[region]);
        let lines = &mut self.hashes[region * ROOM..][..ROOM];
        let region = &mut self.regions.regions[region];
        // A full buffer touches most lines of the region: request them all.
        region.prefetch_all_to_write();
        self.regions.partition.insert(region, count, |first, batch| {
            // `first` is a multiple of the batch, so it begins a line of the buffer.
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
    //! A build sets the same bits as single inserts, in every word, the lock bits included.

    use core::hash::Hasher as _;
    use core::panic::AssertUnwindSafe;
    use std::panic::catch_unwind;

    use tamis_hash::split::next_pattern;
    use tamis_sync::LINE_BITS;

    use super::*;
    use crate::array::line::InLine;
    use crate::bits::{Free, Locked, Writer};
    use crate::geometry::Geometry;

    /// Enough to fill all regions of the largest arrays here more than once.
    const HASHES: u64 = 6_000_000;

    fn zeroed<W: Writer>(lines: u64, probes: u32) -> InLine<W> {
        let kind = InLine::<W>::KIND;
        let geometry = Geometry::for_bits(kind, lines * LINE_BITS, probes, None).unwrap();
        assert_eq!(geometry.lines(), lines);
        InLine::zeroed(geometry).unwrap()
    }

    /// Random hashes. In each third of them 50,000 fall into one region, so that its buffer fills
    /// early.
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

    fn assert_same_bits<W: Writer + Sync>(lines: u64, probes: u32, count: u64) {
        let what = std::format!("{lines} lines, {probes} probes, {count} hashes");
        let numbers: Vec<u64> = hashes(count).collect();
        let hashes = || numbers.iter().copied();
        let mut one = zeroed::<W>(lines, probes);
        hashes().for_each(|hash| {
            one.insert_mut(hash);
        });
        let mut all = zeroed::<W>(lines, probes);
        insert_all(&mut all, hashes());
        assert_same(&one, &all, &what);
        // Of unknown length: the first hashes do not wait.
        let mut all = zeroed::<W>(lines, probes);
        insert_all(&mut all, hashes().filter(|_| true));
        assert_same(&one, &all, &what);
        // Through the buffers, also where `insert_all` uses none.
        if let Some(first) = hashes().next() {
            let mut all = zeroed::<W>(lines, probes);
            let waiting = all.regions(LOG_LINES).and_then(PartitionBuffers::new);
            waiting.unwrap().insert_all(first, hashes().skip(1));
            assert_same(&one, &all, &what);
        }
        #[cfg(feature = "rayon")]
        {
            use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
            let mut all = zeroed::<W>(lines, probes);
            parallel::insert_all(&mut all, numbers.clone().into_par_iter());
            assert_same(&one, &all, &what);
            let mut all = zeroed::<W>(lines, probes);
            parallel::insert_all(&mut all, numbers.into_par_iter().filter(|_| true));
            assert_same(&one, &all, &what);
        }
    }

    fn assert_same_bits_in_all_sizes<W: Writer + Sync>() {
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
                assert_same_bits::<W>(lines, probes, count);
            }
        }
        let least = MIN as u64;
        for lines in [least - 1, least, least + 1] {
            assert_same_bits::<W>(lines, 6, HASHES);
        }
        for count in [least - 1, least, least + 1] {
            assert_same_bits::<W>(least, 6, count);
        }
    }

    #[test]
    fn all_are_inserted_blocked() {
        assert_same_bits_in_all_sizes::<Free>();
    }

    #[test]
    fn all_are_inserted_once() {
        assert_same_bits_in_all_sizes::<Locked>();
    }

    /// Inserted items stay. Of every other item, all bits or none are set.
    #[test]
    fn a_panic_leaves_whole_items() {
        let lines = MIN as u64;
        let mut array: InLine<Free> = zeroed(lines, 6);
        array.insert_mut(7 << 60);
        let broken = hashes(HASHES).enumerate().map(|(number, hash)| {
            assert!(number < 5_000_000, "a planned panic");
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
