//! All hashes of a build from the threads of a pool: each region of the array behind a lock of its own, so that
//! inserts are plain stores here too.
//!
//! A thread gathers a few hashes for each region and hands them over all at once; there those of all threads wait.
//! Whoever brings the last for which there is room takes all that wait, and inserts them while others wait anew.
//! No code of the user runs under a lock, and nobody waits for one while holding another.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::swap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::iter::{IntoParallelIterator as _, ParallelIterator};
use tamis_sync::BATCH;

use crate::array::Array;
use crate::bits::Region;
use crate::regions::{LOG_LINES, Partition, Regions};

/// Hashes that a thread gathers for a region, at most, and for all regions together. MEASURED: 10 million items take
/// 15.2, 12.1 and 11.1 ns with 32, 64 and 128 for a region (one thread, the fastest of nine runs beside other
/// programs, where `collect` takes 7.3).
const GATHERED: usize = 128;
const GATHERED_IN_ALL: usize = 1 << 16;

/// Hashes that wait for a line of a region, at most: as much memory as the filter takes.
const PER_LINE: usize = 8;

/// Regions at least, so that threads seldom meet in one.
const LOG_REGIONS: u32 = 7;

/// Sets the bits of all hashes. Those that wait take as much memory as the filter at most; each thread has
/// three quarters of a MiB of those that it gathers and inserts (and in filters beyond 16 GiB 16 bytes a region).
pub(crate) fn insert_all<A: Array + Sync>(
    array: &mut A,
    hashes: impl ParallelIterator<Item = u64>,
) {
    let lines = array.lines();
    // As few as that are not worth a pass over the regions.
    let few = hashes.opt_len().is_some_and(|count| count < lines);
    let log_lines = lines.ilog2().saturating_sub(LOG_REGIONS).min(LOG_LINES);
    if !few && let Some(regions) = array.regions(log_lines) {
        let buffers = PartitionBuffers::new(regions);
        // In a box, as it is moved for each item.
        let gathered = hashes.fold(
            || Box::new(LocalBuffers::new(&buffers)),
            |mut gathered, hash| {
                gathered.push(hash);
                gathered
            },
        );
        gathered.for_each(|mut gathered| gathered.hand_over_all());
        let PartitionBuffers { regions, partition } = buffers;
        regions.into_par_iter().for_each(|BufferedRegion { region, hashes }| {
            let hashes = hashes.into_inner().unwrap_or_else(PoisonError::into_inner);
            insert(&region, &hashes, partition);
        });
        return;
    }
    let array = &*array;
    hashes.for_each(|hash| {
        array.insert(hash);
    });
}

struct PartitionBuffers<'a> {
    regions: Vec<BufferedRegion<'a>>,
    partition: Partition,
}

/// A region, and the hashes that wait for it.
struct BufferedRegion<'a> {
    region: Mutex<Region<'a>>,
    hashes: Mutex<Vec<u64>>,
}

impl<'a> PartitionBuffers<'a> {
    fn new(Regions { regions, partition }: Regions<'a>) -> Self {
        let waiting =
            |region| BufferedRegion { region: Mutex::new(region), hashes: Mutex::default() };
        Self { regions: regions.into_iter().map(waiting).collect(), partition }
    }
}

fn insert(region: &Mutex<Region<'_>>, hashes: &[u64], partition: Partition) {
    let mut region = locked(region);
    if hashes.len() >= 1 << partition.log_lines {
        region.prefetch_all_to_write();
    }
    partition.insert(&mut region, hashes.len(), |first, batch| {
        let hashes = &hashes[first..];
        let count = hashes.len().min(BATCH);
        batch[..count].copy_from_slice(&hashes[..count]);
    });
}

/// What a panic has left is as good as any: bits that are set, and hashes that wait.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The hashes that a thread has gathered.
struct LocalBuffers<'w, 'a> {
    buffers: &'w PartitionBuffers<'a>,
    /// Room for so many of each region.
    room: usize,
    hashes: Vec<u64>,
    counts: Vec<usize>,
    /// What others may wait in while what waited is inserted.
    spare: Vec<u64>,
}

impl<'w, 'a> LocalBuffers<'w, 'a> {
    fn new(buffers: &'w PartitionBuffers<'a>) -> Self {
        let regions = buffers.regions.len();
        let room = (GATHERED_IN_ALL / regions).clamp(1, GATHERED);
        let (hashes, counts) = (vec![0; regions * room], vec![0; regions]);
        Self { buffers, room, hashes, counts, spare: Vec::new() }
    }

    #[inline(always)]
    fn push(&mut self, hash: u64) {
        let region = self.buffers.partition.region(hash);
        let count = self.counts[region];
        self.hashes[region * self.room + count] = hash;
        self.counts[region] = count + 1;
        if count + 1 == self.room {
            self.hand_over(region);
        }
    }

    fn hand_over_all(&mut self) {
        (0..self.counts.len()).for_each(|region| self.hand_over(region));
    }

    /// Hands over what was gathered for a region, and inserts all that waits for it if there is no room.
    #[inline(never)]
    fn hand_over(&mut self, number: usize) {
        let Self { buffers: PartitionBuffers { regions, partition }, room, hashes, counts, spare } =
            self;
        let BufferedRegion { region, hashes: waiting } = &regions[number];
        let hashes = &hashes[number * *room..][..counts[number]];
        counts[number] = 0;
        let most = PER_LINE << partition.log_lines;
        let mut waiting = locked(waiting);
        if waiting.len() + hashes.len() > most {
            swap(&mut *waiting, spare);
        }
        let room = most.max(hashes.len()) - waiting.len();
        let refused = waiting.try_reserve_exact(room).is_err();
        if !refused {
            waiting.extend_from_slice(hashes);
        }
        drop(waiting);
        if refused {
            // They do not wait, then.
            insert(region, hashes, *partition);
        }
        if !spare.is_empty() {
            insert(region, spare, *partition);
            spare.clear();
        }
    }
}
