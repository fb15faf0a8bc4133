//! A program for ThreadSanitizer: the concurrent operations of the other tests, with only `spawn`
//! and `join`.
//!
//! `harness = false`, because libtest and `thread::scope` cause false reports without an
//! instrumented std. The words of the filters are atomics, which never race by definition. The
//! program checks the rest: that whole filters pass from thread to thread without a race. The
//! program of `tamis-bloom` shows that the sanitizer would report a race.

use std::sync::Arc;
use std::thread;

use tamis_cuckoo::{CuckooFilter, Filter as _, OnceCuckooFilter};
use tamis_hash::Rapid;

const THREADS: u64 = 4;
const ITEMS: u64 = 20_000;

fn main() {
    // The sanitizer does not see accesses to buckets of 128 bits, which the second filter has, but
    // all others.
    [1e-3, 1e-6].into_iter().for_each(cuckoo);
    once();
}

fn cuckoo(rate: f64) {
    let builder = || CuckooFilter::<u64>::builder().hasher(Rapid::with_seed(1));
    let builder = builder().capacity((THREADS * ITEMS) as usize).false_positive_rate(rate);
    let filter = Arc::new(builder.build().unwrap());
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let filter = Arc::clone(&filter);
            thread::spawn(move || {
                let own = (0..ITEMS).map(|item| item * THREADS + thread);
                for item in own.clone() {
                    filter.insert(&item).unwrap();
                    assert!(filter.contains(&item));
                }
                match thread {
                    0 => drop(filter.as_ref().clone()),
                    // The merge may succeed, if other threads have removed enough items by now.
                    1 => drop(CuckooFilter::merge(&filter, &filter)),
                    2 => assert!(filter.false_positive_rate() < 1.0),
                    _ => assert!(filter.count(&thread) > 0),
                }
                for item in own {
                    assert!(filter.remove(&item));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    // Exclusive access again: plain stores after the join.
    let mut filter = Arc::into_inner(filter).unwrap();
    assert!(filter.is_empty());
    filter.clear();
}

fn once() {
    let builder = || OnceCuckooFilter::<u64>::builder().hasher(Rapid::with_seed(1));
    let filter =
        Arc::new(builder().capacity(ITEMS as usize).false_positive_rate(1e-8).build().unwrap());
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let filter = Arc::clone(&filter);
            thread::spawn(move || filter.try_extend(0..ITEMS).unwrap() as u64)
        })
        .collect();
    let new: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(new, filter.len() as u64);
    assert!(new <= ITEMS, "an item was new twice");
}
