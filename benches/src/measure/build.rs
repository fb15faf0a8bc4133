//! The time to build a whole filter from a slice of items, by one thread and by all.
//!
//! All work is timed: allocating the filter, hashing, inserting. An item's time is that of a
//! thread: on one thread its own clock's, on several the wall time multiplied by their number.

use core::hint::black_box;
use std::time::Instant;

use rayon::ThreadPoolBuilder;
use rayon::iter::FromParallelIterator;
use tamis::BlockedBloomFilter;

use super::setup::{Setup, thread_counts};
use crate::clock;
use crate::record::{Record, Runs};

type Filter = BlockedBloomFilter<u64>;

/// Measures builds of filters within a core's cache, within the last one, and beyond all.
pub(super) fn measure(setup: &Setup) -> Vec<Record> {
    let mut runs = Runs::default();
    for count in setup.sizes(&[1_000_000, 10_000_000, 100_000_000]) {
        let items: Vec<u64> = (0..count).collect();
        let repeats = setup.least().div_ceil(count);
        let done = (repeats * count) as f64;
        let record = |operation| Record::new("BlockedBloomFilter", operation, count, 0.01);
        for _ in 0..setup.passes(1) {
            let work = || (0..repeats).for_each(|_| collect(black_box(&items)));
            runs.add(record("collect"), clock::time(work).1.as_nanos() as f64 / done);
            for threads in thread_counts() {
                let pool = ThreadPoolBuilder::new().num_threads(threads as usize).build();
                let time = pool.expect("threads").install(|| {
                    let start = Instant::now();
                    (0..repeats).for_each(|_| collect_in_parallel(black_box(&items)));
                    start.elapsed() * threads as u32
                });
                let record = Record { threads, ..record("collect in parallel") };
                runs.add(record, time.as_nanos() as f64 / done);
            }
        }
    }
    runs.fastest()
}

fn collect(items: &[u64]) {
    drop(black_box(items.iter().collect::<Filter>()));
}

fn collect_in_parallel(items: &[u64]) {
    drop(black_box(Filter::from_par_iter(items)));
}
