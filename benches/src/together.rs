//! Threads that begin at the same moment, each on a core of its own, and the time that they take.

use core::time::Duration;
use std::thread;
use std::time::Instant;

use tamis_sync::{Ordering, Word};

use crate::cores;

/// When a thread began and ended.
pub type Span = (Instant, Instant);

/// Runs threads that begin at the same time, each on a core of its own if there are so many.
///
/// # Panics
///
/// If a thread does.
pub fn together(threads: u64, work: impl Fn(u64) + Sync) -> Vec<Span> {
    let ready = Word::new(0);
    let run = |thread: u64| {
        cores::bind(thread as usize);
        // Not a barrier of the standard library: it wakes threads one after the other, and what they do
        // may last no longer than that takes.
        // ORDERING: Relaxed: a number that publishes nothing.
        ready.fetch_add(1, Ordering::Relaxed);
        while ready.load(Ordering::Relaxed) < threads {
            thread::yield_now();
        }
        let start = Instant::now();
        work(thread);
        (start, Instant::now())
    };
    thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread that ends")).collect()
    })
}

/// From when the first began until the last ended.
///
/// # Panics
///
/// If there is no thread.
#[must_use]
pub fn elapsed(spans: &[Span]) -> Duration {
    let start = spans.iter().map(|span| span.0).min().expect("a thread");
    let end = spans.iter().map(|span| span.1).max().expect("a thread");
    end - start
}
