//! Threads that begin at the same moment, each on its own core, and the time that they take.

use core::time::Duration;
use std::thread;
use std::time::Instant;

use tamis_sync::{Ordering, Word};

/// When a thread began and ended.
pub(crate) type Span = (Instant, Instant);

/// Runs threads that begin at the same time, each on its own core while there are enough.
pub(crate) fn together(threads: u64, work: impl Fn(u64) + Sync) -> Vec<Span> {
    let ready = Word::new(0);
    let run = |thread: u64| {
        bind(thread as usize);
        // Not the standard library's barrier: it wakes threads one after the other, and their work
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

/// Returns the time from when the first began until the last ended.
pub(crate) fn elapsed(spans: &[Span]) -> Duration {
    let start = spans.iter().map(|span| span.0).min().expect("a thread");
    let end = spans.iter().map(|span| span.1).max().expect("a thread");
    end - start
}

/// Binds the calling thread to the `index`th of the cores that it may run on, modulo their number.
/// Does nothing where the system has no such call.
fn bind(index: usize) {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

        let Ok(all) = sched_getaffinity(None) else { return };
        let cores = (0..CpuSet::MAX_CPU).filter(|&core| all.is_set(core));
        let count = cores.clone().count();
        if let Some(core) = cores.clone().nth(index % count.max(1)) {
            let mut one = CpuSet::new();
            one.set(core);
            // A refusal only makes the figures noisier.
            let _ = sched_setaffinity(None, &one);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = index;
}
