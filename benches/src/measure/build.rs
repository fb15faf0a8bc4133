//! The axis of builds: a whole filter made of a slice of items, by one thread and by all.
//!
//! The whole is timed: making the filter, hashing, inserting. An item's time is a thread's: of one its own
//! clock's, of several that on the wall times their number.

use core::hint::black_box;
use core::time::Duration;
use std::io;
use std::time::Instant;

use rayon::ThreadPoolBuilder;
use rayon::iter::FromParallelIterator;
use tamis::{BlockedBloomFilter, OnceBloomFilter};

use crate::clock;
use crate::contender::{Filter, RATE};
use crate::measure::{Row, Survey, blank, thread_counts};

/// What can be collected from references to items.
trait Build:
    Filter<u64> + for<'a> FromIterator<&'a u64> + for<'a> FromParallelIterator<&'a u64>
{
}

impl Build for BlockedBloomFilter<u64> {}
impl Build for OnceBloomFilter<u64> {}

/// A way to build a filter of a slice.
struct Way<F> {
    name: &'static str,
    parallel: bool,
    build: fn(&[u64]) -> F,
}

fn ways<F: Build>() -> [Way<F>; 3] {
    [
        Way { name: "collect", parallel: false, build: |items| items.iter().collect() },
        Way {
            name: "collect, length unknown",
            parallel: false,
            // What is left out, nothing here, is known only at the end.
            build: |items| items.iter().filter(|&&item| item < u64::MAX).collect(),
        },
        Way { name: "collect in parallel", parallel: true, build: |items| F::from_par_iter(items) },
    ]
}

/// Whole builds, at sizes within a core's cache, within the last one, and beyond all.
pub(super) fn build(survey: &mut Survey) -> io::Result<()> {
    let sizes: &[u64] = &[1_000_000, 10_000_000, 100_000_000];
    for &count in if survey.scale.quick { &sizes[..1] } else { sizes } {
        let items: Vec<u64> = (0..count).collect();
        let mut rows = Vec::new();
        for _ in 0..survey.scale.runs {
            pass::<BlockedBloomFilter<u64>>(survey, &items, &mut rows);
            pass::<OnceBloomFilter<u64>>(survey, &items, &mut rows);
        }
        for row in rows {
            survey.journal.append(&row.fastest())?;
        }
    }
    Ok(())
}

/// One turn of all ways.
fn pass<F: Build>(survey: &Survey, items: &[u64], rows: &mut Vec<Row>) {
    let repeats = survey.scale.least.div_ceil(items.len() as u64);
    let done = (repeats * items.len() as u64) as f64;
    for Way { name, parallel, build } in ways::<F>() {
        let work = || (0..repeats).for_each(|_| drop(black_box(build(black_box(items)))));
        for threads in if parallel { thread_counts() } else { vec![1] } {
            let mut record = blank("build", F::NAME, name, items.len() as u64);
            (record.rate, record.threads) = (RATE, threads);
            if survey.journal.has(&record) {
                continue;
            }
            let time = if parallel { in_parallel(threads, work) } else { alone(work) };
            Row::of(rows, &record).runs.push(time.as_nanos() as f64 / done);
        }
    }
}

fn alone(work: impl FnOnce()) -> Duration {
    let start = clock::now();
    work();
    clock::now() - start
}

fn in_parallel(threads: u64, work: impl FnOnce() + Send) -> Duration {
    let pool = ThreadPoolBuilder::new().num_threads(threads as usize).build();
    pool.expect("threads").install(|| {
        let start = Instant::now();
        work();
        start.elapsed() * threads as u32
    })
}
