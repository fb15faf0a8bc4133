//! Prints what it costs to make a blocked or once filter of a slice of items, in the ways that there are.
//!
//! The arguments are numbers of items. The ways take turns, run after run; a cell is the median of the runs,
//! and times the whole: making the filter, hashing, inserting. A nanosecond is one of a core: that of this
//! thread where there is one, and else of all threads of the process together; then the time on the wall stands
//! beside it, in which other programs on the same cores count as slowness.

use core::hint::black_box;
use core::time::Duration;
use std::time::Instant;

use rayon::ThreadPool;
use rayon::iter::{FromParallelIterator, ParallelExtend};
use tamis::{BlockedBloomFilter, OnceBloomFilter};
use tamis_benches::{clock, median};

const RUNS: usize = 7;
/// Items in a cell of a run, at least.
const LEAST: usize = 4_000_000;

/// What takes a slice of items, and is the filter of them.
struct Way {
    name: &'static str,
    /// Threads of the pool that it needs.
    threads: Option<usize>,
    build: fn(&[u64]),
}

macro_rules! ways {
    ($filter:ident) => {
        [
            Way {
                name: "get_mut().insert_many",
                threads: None,
                build: |items| {
                    let mut filter = $filter::<u64>::with_capacity(items.len() as u64).unwrap();
                    filter.get_mut().insert_many(items, |_, _| ());
                    black_box(&filter);
                },
            },
            Way {
                name: "extend",
                threads: None,
                build: |items| {
                    let mut filter = $filter::<u64>::with_capacity(items.len() as u64).unwrap();
                    filter.extend(items);
                    black_box(&filter);
                },
            },
            Way {
                name: "from_iter",
                threads: None,
                build: |items| {
                    black_box(&items.iter().collect::<$filter<u64>>());
                },
            },
            Way {
                name: "from_iter, no length",
                threads: None,
                build: |items| {
                    let items = items.iter().filter(|&&item| item < u64::MAX);
                    black_box(&items.collect::<$filter<u64>>());
                },
            },
            Way {
                name: "par_extend, 1 thread",
                threads: Some(1),
                build: |items| {
                    let mut filter = $filter::<u64>::with_capacity(items.len() as u64).unwrap();
                    filter.par_extend(items);
                    black_box(&filter);
                },
            },
            Way {
                name: "from_par_iter, 1 thread",
                threads: Some(1),
                build: |items| {
                    black_box(&$filter::<u64>::from_par_iter(items));
                },
            },
            Way {
                name: "from_par_iter, 2 threads",
                threads: Some(2),
                build: |items| {
                    black_box(&$filter::<u64>::from_par_iter(items));
                },
            },
        ]
    };
}

fn main() {
    let pools = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("threads")
    });
    for count in tamis_benches::arguments(&[1_000_000, 10_000_000, 100_000_000]) {
        let items: Vec<u64> = (0..count).collect();
        table("blocked", &items, &ways!(BlockedBloomFilter), &pools);
        table("once", &items, &ways!(OnceBloomFilter), &pools);
    }
}

fn table(filter: &str, items: &[u64], ways: &[Way], pools: &[ThreadPool; 2]) {
    let mut nanos: Vec<[Vec<f64>; 2]> = ways.iter().map(|_| Default::default()).collect();
    for _ in 0..RUNS {
        for (way, nanos) in ways.iter().zip(&mut nanos) {
            let [core, wall] = time(way, items, pools);
            nanos[0].push(core);
            nanos[1].push(wall);
        }
    }
    println!("\n{filter}, {} items\n", items.len());
    println!("| | ns of a core | M items/s a core | ns on the wall |\n|---|--:|--:|--:|");
    for (way, [core, wall]) in ways.iter().zip(nanos) {
        let (core, wall) = (median(core), median(wall));
        println!("| {} | {core:.2} | {:.0} | {wall:.2} |", way.name, 1e3 / core);
    }
}

/// Nanoseconds an item: of a core, and on the wall.
fn time(way: &Way, items: &[u64], pools: &[ThreadPool; 2]) -> [f64; 2] {
    let repeats = LEAST.div_ceil(items.len().max(1));
    let work = || (0..repeats).for_each(|_| (way.build)(black_box(items)));
    let wall = Instant::now();
    let core = match way.threads {
        None => clocked(clock::now, work),
        Some(threads) => clocked(clock::of_process, || pools[threads - 1].install(work)),
    };
    [core, wall.elapsed()].map(|time| time.as_nanos() as f64 / (repeats * items.len()) as f64)
}

fn clocked(now: fn() -> Duration, work: impl FnOnce()) -> Duration {
    let start = now();
    work();
    now() - start
}
