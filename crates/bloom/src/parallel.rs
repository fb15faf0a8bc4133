//! All hashes of a build from the threads of a pool: each region of the array behind a lock of its own, so that
//! inserts are plain stores here too.
//!
//! A thread gathers hashes, sorts them by region and hands them to the regions, where they wait; whoever brings
//! as many as are worth it inserts them. No code of the user runs under a lock, and nobody waits for one while
//! holding another.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use std::sync::{Mutex, PoisonError, TryLockError};

use rayon::iter::{IntoParallelIterator as _, ParallelIterator};

use crate::array::Array;
use crate::bits::Region;
use crate::probe::batch::BATCH;
use crate::regions::{Cut, LOG_LINES, Regions};

/// Hashes that a thread gathers: sorted in the core's own cache. 2^16 of them were not seen to be better.
const GATHERED: usize = 1 << 14;

/// Between the parts, once sorted: without it their ends drive each other out of the cache.
const GAP: usize = 8;

/// Hashes that wait for a line of a region, at most: as much memory as the filter takes.
const A_LINE: usize = 8;

/// Regions at least, so that threads seldom meet in one.
const LOG_REGIONS: u32 = 7;

/// Sets the bits of all hashes. Those that wait take as much memory as the filter at most, and those that a
/// thread has gathered a quarter of a MiB.
pub(crate) fn set_all<A: Array + Sync>(array: &mut A, hashes: impl ParallelIterator<Item = u64>) {
    let lines = array.lines();
    // As few as that are not worth a pass over the regions.
    let few = hashes.opt_len().is_some_and(|count| count < lines);
    let log_lines = lines.ilog2().saturating_sub(LOG_REGIONS).min(LOG_LINES);
    if !few && let Some(regions) = array.regions(log_lines) {
        let waiting = Waiting::new(regions);
        // In a box, as it is moved for each item.
        let gathered = hashes.fold(
            || Box::new(Gathered::new(&waiting)),
            |mut gathered, hash| {
                gathered.push(hash);
                gathered
            },
        );
        gathered.for_each(|gathered| gathered.hand_over());
        let Waiting { regions, cut } = waiting;
        regions.into_par_iter().for_each(|region| {
            region.into_inner().unwrap_or_else(PoisonError::into_inner).insert(cut);
        });
        return;
    }
    let array = &*array;
    hashes.for_each(|hash| {
        array.set(hash);
    });
}

struct Waiting<'a> {
    regions: Vec<Mutex<WaitingRegion<'a>>>,
    cut: Cut,
}

/// A region, and the hashes that wait for it.
struct WaitingRegion<'a> {
    region: Region<'a>,
    hashes: Vec<u64>,
}

impl<'a> Waiting<'a> {
    fn new(Regions { regions, cut }: Regions<'a>) -> Self {
        let waiting = |region| Mutex::new(WaitingRegion { region, hashes: Vec::new() });
        Self { regions: regions.into_iter().map(waiting).collect(), cut }
    }
}

impl WaitingRegion<'_> {
    /// Lets the hashes wait, or inserts all.
    fn take(&mut self, hashes: &[u64], cut: Cut) {
        let room = A_LINE << cut.log_lines;
        if self.hashes.len() + hashes.len() > room {
            self.insert(cut);
        }
        // More than there is room for, or refused: they do not wait.
        if hashes.len() > room || self.hashes.try_reserve(hashes.len()).is_err() {
            insert(&mut self.region, hashes, cut);
        } else {
            self.hashes.extend_from_slice(hashes);
        }
    }

    fn insert(&mut self, cut: Cut) {
        if self.hashes.len() >= 1 << cut.log_lines {
            self.region.prefetch_all_to_write();
        }
        insert(&mut self.region, &self.hashes, cut);
        self.hashes.clear();
    }
}

fn insert(region: &mut Region<'_>, hashes: &[u64], cut: Cut) {
    cut.insert(region, hashes.len(), |first, batch| {
        let hashes = &hashes[first..];
        let count = hashes.len().min(BATCH);
        batch[..count].copy_from_slice(&hashes[..count]);
    });
}

/// The hashes that a thread has gathered.
struct Gathered<'w, 'a> {
    waiting: &'w Waiting<'a>,
    hashes: Vec<u64>,
    sorted: Vec<u64>,
    /// Where the hashes of each region begin in `sorted`, less a gap.
    starts: Vec<usize>,
}

impl<'w, 'a> Gathered<'w, 'a> {
    fn new(waiting: &'w Waiting<'a>) -> Self {
        Self { waiting, hashes: Vec::new(), sorted: Vec::new(), starts: Vec::new() }
    }

    #[inline(always)]
    fn push(&mut self, hash: u64) {
        self.hashes.push(hash);
        if self.hashes.len() == GATHERED {
            self.give();
        }
    }

    /// Hands over the last of them.
    fn hand_over(mut self) {
        if self.hashes.len() >= self.waiting.regions.len() {
            return self.give();
        }
        // So few that sorting them would take longer.
        let Waiting { regions, cut } = self.waiting;
        for hash in self.hashes {
            let region = &regions[cut.region(hash)];
            region.lock().unwrap_or_else(PoisonError::into_inner).take(&[hash], *cut);
        }
    }

    /// Hands the hashes over to their regions.
    #[inline(never)]
    fn give(&mut self) {
        self.sort();
        let Waiting { regions, cut } = self.waiting;
        let mut busy = Vec::new();
        let parts = || self.starts.windows(2).map(|at| &self.sorted[at[0] + GAP..at[1]]);
        for (region, hashes) in regions.iter().zip(parts()) {
            match region.try_lock() {
                Ok(mut region) => region.take(hashes, *cut),
                Err(TryLockError::Poisoned(region)) => region.into_inner().take(hashes, *cut),
                Err(TryLockError::WouldBlock) => busy.push((region, hashes)),
            }
        }
        for (region, hashes) in busy {
            region.lock().unwrap_or_else(PoisonError::into_inner).take(hashes, *cut);
        }
        self.hashes.clear();
    }

    /// Sorts the hashes by region, counting how many there are of each.
    fn sort(&mut self) {
        let Self { waiting: Waiting { regions, cut }, hashes, sorted, starts } = self;
        // What is counted of a region stands two further on, so that what began as the starts are the ends, one
        // further on, when all have been put in their places.
        starts.clear();
        starts.resize(regions.len() + 2, 0);
        // In two tables, in turn. MEASURED: so the whole build takes 8.0 ns an item, and with one table 12.2
        // (`build_table`, 1 million items, one thread); perhaps each count is held up by the store of the last.
        let mut others: Vec<usize> = vec![0; regions.len() + 2];
        let (pairs, rest) = hashes.as_chunks();
        for &[one, other] in pairs {
            starts[cut.region(one) + 2] += 1;
            others[cut.region(other) + 2] += 1;
        }
        rest.iter().for_each(|&hash| starts[cut.region(hash) + 2] += 1);
        starts.iter_mut().zip(others).for_each(|(count, other)| *count += other);
        let mut sum = 0;
        for start in &mut starts[1..] {
            sum += *start + GAP;
            *start = sum;
        }
        sorted.resize(sum, 0);
        for &hash in &*hashes {
            let next = &mut starts[cut.region(hash) + 1];
            sorted[*next] = hash;
            *next += 1;
        }
        starts.pop();
    }
}
