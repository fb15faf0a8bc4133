//! Parallel builds: each region of the array has a lock, so that inserts are plain stores here,
//! too.
//!
//! A thread gathers hashes for each region and hands them over in groups to the buffer of the
//! region, which all threads share. The thread that fills the buffer takes all waiting hashes and
//! inserts them while other threads fill a new one. The user's code never runs under a lock, and no
//! thread waits for a lock while it holds another.

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

/// Largest number of hashes that a thread gathers for a region, and for all regions together.
///
/// MEASURED: 10 million items take 11.1 ns with 128 per region, instead of 15.2 and 12.1 with 32
/// and 64; `collect` takes 7.3 (one thread, the fastest of nine runs on a busy Emerald Rapids).
const GATHERED: usize = 128;
const GATHERED_IN_ALL: usize = 1 << 16;

/// Largest number of hashes that wait per line of a region: the buffers take as much memory as the
/// filter.
const PER_LINE: usize = 8;

/// Smallest number of regions, as a power of two, so that threads seldom meet in one.
const LOG_REGIONS: u32 = 7;

/// Sets the bits of all hashes. The buffers take at most as much memory as the filter. Each thread
/// gathers and inserts in three quarters of a MiB (in filters larger than 16 GiB, in 16 bytes per
/// region).
pub(crate) fn insert_all<A: Array + Sync>(
    array: &mut A,
    hashes: impl ParallelIterator<Item = u64>,
) {
    let lines = array.lines();
    // Fewer hashes than lines are not worth a pass over the regions.
    let few = hashes.opt_len().is_some_and(|count| count < lines);
    let log_lines = lines.ilog2().saturating_sub(LOG_REGIONS).min(LOG_LINES);
    if !few && let Some(regions) = array.regions(log_lines) {
        let buffers = PartitionBuffers::new(regions);
        // 1. Each job of the pool gathers its hashes, and inserts the buffers that it fills. The
        //    local buffers are boxed, because `fold` moves them for each item.
        let gathered = hashes.fold(
            || Box::new(LocalBuffers::new(&buffers)),
            |mut gathered, hash| {
                gathered.push(hash);
                gathered
            },
        );
        // 2. Hand over what is left in the local buffers.
        gathered.for_each(|mut gathered| gathered.hand_over_all());
        // 3. Insert what is left in the buffers of the regions.
        let PartitionBuffers { regions, partition } = buffers;
        regions.into_par_iter().for_each(|BufferedRegion { region, hashes }| {
            let hashes = hashes.into_inner().unwrap_or_else(PoisonError::into_inner);
            insert(&region, &hashes, partition);
        });
        return;
    }
    // Without regions: by atomic operations.
    let array = &*array;
    hashes.for_each(|hash| {
        array.insert(hash);
    });
}

/// The regions of an array with their buffers, shared by all threads.
struct PartitionBuffers<'a> {
    regions: Vec<BufferedRegion<'a>>,
    partition: Partition,
}

/// A region and the hashes that wait for it, each behind a lock.
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

/// Locks a region and inserts hashes into it.
fn insert(region: &Mutex<Region<'_>>, hashes: &[u64], partition: Partition) {
    let mut region = locked(region);
    // At least one hash per line: request all lines.
    if hashes.len() >= 1 << partition.log_lines {
        region.prefetch_all_to_write();
    }
    partition.insert(&mut region, hashes.len(), |first, batch| {
        let hashes = &hashes[first..];
        let count = hashes.len().min(BATCH);
        batch[..count].copy_from_slice(&hashes[..count]);
    });
}

/// Locks, also after a panic of another thread: bits that are set and hashes that wait are valid in
/// any state.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The hashes that a thread has gathered, by region.
struct LocalBuffers<'w, 'a> {
    buffers: &'w PartitionBuffers<'a>,
    /// Room for this number of hashes per region.
    room: usize,
    hashes: Vec<u64>,
    counts: Vec<usize>,
    /// An empty buffer, which replaces a full one of a region.
    spare: Vec<u64>,
}

impl<'w, 'a> LocalBuffers<'w, 'a> {
    fn new(buffers: &'w PartitionBuffers<'a>) -> Self {
        let regions = buffers.regions.len();
        let room = (GATHERED_IN_ALL / regions).clamp(1, GATHERED);
        let (hashes, counts) = (vec![0; regions * room], vec![0; regions]);
        Self { buffers, room, hashes, counts, spare: Vec::new() }
    }

    /// Gathers a hash, and hands over the hashes of its region if there are enough.
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

    /// Hands over the hashes of all regions.
    fn hand_over_all(&mut self) {
        (0..self.counts.len()).for_each(|region| self.hand_over(region));
    }

    /// Moves the gathered hashes of a region into its buffer. If the buffer is full, takes its
    /// hashes out and inserts them.
    #[inline(never)]
    fn hand_over(&mut self, number: usize) {
        let Self { buffers: PartitionBuffers { regions, partition }, room, hashes, counts, spare } =
            self;
        let BufferedRegion { region, hashes: waiting } = &regions[number];
        let hashes = &hashes[number * *room..][..counts[number]];
        counts[number] = 0;
        let most = PER_LINE << partition.log_lines;
        // 1. If the buffer has no room, swap in the empty one.
        let mut waiting = locked(waiting);
        if waiting.len() + hashes.len() > most {
            swap(&mut *waiting, spare);
        }
        // 2. Append the hashes. The allocation may fail.
        let room = most.max(hashes.len()) - waiting.len();
        let has_room = waiting.try_reserve_exact(room).is_ok();
        if has_room {
            waiting.extend_from_slice(hashes);
        }
        drop(waiting);
        // 3. With the buffer unlocked, insert what found no room, and what was swapped out.
        if !has_room {
            insert(region, hashes, *partition);
        }
        if !spare.is_empty() {
            insert(region, spare, *partition);
            spare.clear();
        }
    }
}
