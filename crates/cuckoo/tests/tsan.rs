//! A program for ThreadSanitizer: the races of the other tests, by `spawn` and `join` alone.
//!
//! `harness = false`: libtest and `thread::scope` give false reports without an instrumented std. The
//! filters' words are atomics, which never race by definition; what is watched is the rest, the handing
//! over of whole filters. The sanitizer shows that it would see a race in the program of `tamis-bloom`.

use std::sync::Arc;
use std::thread;

use tamis_cuckoo::{CuckooFilter, OnceCuckooFilter};
use tamis_hash::Rapid;

const THREADS: u64 = 4;
const ITEMS: u64 = 20_000;

fn main() {
    cuckoo();
    once();
}

fn cuckoo() {
    let builder = || CuckooFilter::<u64, _>::builder_with_hasher(Rapid::with_seed(1));
    let filter = Arc::new(builder().capacity((THREADS * ITEMS) as usize).build().unwrap());
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
                    0 => drop(filter.snapshot()),
                    // Others may have removed so much by now that both fit.
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
    // Alone again: plain stores after the join.
    let mut filter = Arc::into_inner(filter).unwrap();
    assert!(filter.is_empty());
    filter.clear();
}

fn once() {
    let builder = || OnceCuckooFilter::<u64, _>::builder_with_hasher(Rapid::with_seed(1));
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
