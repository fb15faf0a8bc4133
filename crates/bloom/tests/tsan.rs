//! A program for ThreadSanitizer: the races of the other tests, by `spawn` and `join` alone.
//!
//! `harness = false`: libtest and `thread::scope` give false reports without an instrumented std.
//! The words of the filters are atomics, which never race by definition. The sanitizer watches the
//! rest: whole filters that pass from thread to thread. With `TAMIS_TSAN_PLANT=1` the program has a
//! real data race, which the sanitizer must report.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::thread;

use tamis_bloom::{BlockedBloomFilter, BloomFilter, CountingBloomFilter, OnceBloomFilter};
use tamis_hash::Rapid;

const THREADS: u64 = 4;
const ITEMS: u64 = 20_000;

macro_rules! race {
    ($type:ident, $rate:literal) => {{
        let new = || {
            let builder = $type::<u64>::builder().hasher(Rapid::with_seed(1));
            Arc::new(builder.capacity(ITEMS as usize).false_positive_rate($rate).build().unwrap())
        };
        let (filter, other) = (new(), new());
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (filter, other) = (Arc::clone(&filter), Arc::clone(&other));
                thread::spawn(move || {
                    let mut new = 0;
                    for item in 0..ITEMS {
                        new += u64::from(filter.insert(&item));
                        other.insert(&(item * THREADS + thread));
                        assert!(filter.contains(&item));
                    }
                    match thread {
                        0 => drop(filter.as_ref().clone()),
                        1 => filter.union_with(&other).unwrap(),
                        2 => assert!(filter.false_positive_rate() < 1.0),
                        _ => assert!(filter.figures_sampled(10).fill.value <= 1.0),
                    }
                    new
                })
            })
            .collect();
        let new: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert!(new >= ITEMS * 9 / 10);
        // Exclusive access again: plain stores after the join.
        let mut filter = Arc::into_inner(filter).unwrap();
        filter.get_mut().insert(&0);
        filter.clear();
        new
    }};
}

fn main() {
    race!(BloomFilter, 1e-2);
    race!(BlockedBloomFilter, 1e-2);
    race!(CountingBloomFilter, 1e-2);
    // In one word, and under locks.
    for new in [race!(OnceBloomFilter, 1e-2), race!(OnceBloomFilter, 1e-3)] {
        assert!(new <= ITEMS, "an item was new twice");
    }
    if std::env::var_os("TAMIS_TSAN_PLANT").is_some() {
        plant();
    }
}

/// A data race, on purpose.
fn plant() {
    struct Shared(UnsafeCell<u64>);
    // SAFETY: none: this is the bug that the sanitizer must find. It runs only on demand.
    unsafe impl Sync for Shared {}
    let shared = Arc::new(Shared(UnsafeCell::new(0)));
    let other = Arc::clone(&shared);
    let write = |shared: &Shared| {
        for i in 0..1000 {
            // SAFETY: none, as above.
            unsafe { *shared.0.get() = i };
        }
    };
    let thread = thread::spawn(move || write(&other));
    write(&shared);
    thread.join().unwrap();
}
