//! The axis of builds: a whole filter built from a slice of items, by one thread and by all.
//!
//! All work is timed: allocating the filter, hashing, inserting. An item's time is that of a
//! thread: on one thread its own clock's, on several the wall time multiplied by their number.

use core::hint::black_box;
use std::io;
use std::time::Instant;

use rayon::ThreadPoolBuilder;
use rayon::iter::FromParallelIterator;
use tamis::{BlockedBloomFilter, OnceBloomFilter};

use crate::clock;
use crate::contender::RATE;
use crate::contender::filter::Filter;
use crate::measure::survey::{Row, Rows, Survey, thread_counts};
use crate::record::Record;

/// A way to build a filter from a slice, and to drop it.
type Way = (&'static str, fn(&[u64]));

/// Returns the ways to build this filter on one thread; the last is also for several threads.
fn ways<F>() -> [Way; 3]
where
    F: for<'a> FromIterator<&'a u64> + for<'a> FromParallelIterator<&'a u64>,
{
    [
        ("collect", |items| drop(black_box(items.iter().collect::<F>()))),
        // The iterator omits nothing, but knows its length only at the end.
        ("collect, length unknown", |items| {
            drop(black_box(items.iter().filter(|&&item| item < u64::MAX).collect::<F>()));
        }),
        ("collect in parallel", |items| drop(black_box(F::from_par_iter(items)))),
    ]
}

/// Measures whole builds, at sizes within a core's cache, within the last one, and beyond all.
pub(super) fn build(survey: &mut Survey) -> io::Result<()> {
    let filters = [
        (<BlockedBloomFilter<u64> as Filter<u64>>::TRAITS.name, ways::<BlockedBloomFilter<u64>>()),
        (<OnceBloomFilter<u64> as Filter<u64>>::TRAITS.name, ways::<OnceBloomFilter<u64>>()),
    ];
    for &count in survey.scale.sizes(&[1_000_000, 10_000_000, 100_000_000], 1) {
        let items: Vec<u64> = (0..count).collect();
        let pass = |survey: &Survey, rows: &mut Rows| {
            for (filter, ways) in filters {
                ways.iter().for_each(|&way| pass(survey, filter, way, &items, rows));
            }
        };
        survey.passes(survey.scale.runs, pass, Row::fastest)?;
    }
    Ok(())
}

/// Measures one run of a way to build.
fn pass(survey: &Survey, filter: &str, (name, build): Way, items: &[u64], rows: &mut Rows) {
    let parallel = name.ends_with("parallel");
    let repeats = survey.scale.least.div_ceil(items.len() as u64);
    let work = || (0..repeats).for_each(|_| build(black_box(items)));
    for threads in if parallel { thread_counts() } else { vec![1] } {
        let mut record = Record::blank("build", filter, name, items.len() as u64);
        (record.rate, record.threads) = (RATE, threads);
        if survey.journal.has(&record) {
            continue;
        }
        let time = if parallel {
            let pool = ThreadPoolBuilder::new().num_threads(threads as usize).build();
            pool.expect("threads").install(|| {
                let start = Instant::now();
                work();
                start.elapsed() * threads as u32
            })
        } else {
            clock::time(work).1
        };
        let done = (repeats * items.len() as u64) as f64;
        rows.add(record, [time.as_nanos() as f64 / done]);
    }
}
