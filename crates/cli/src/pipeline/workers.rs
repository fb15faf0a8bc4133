//! The workers of a run: how they start and end, and how they share files.

use core::mem;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::{process, thread};

use super::records::Records;
use crate::memory;

/// Works on this number of threads, of which the calling one is the first. If the system cannot
/// start a thread, those that run do all the work. Returns their number.
pub(super) fn work(threads: usize, work: impl Fn() + Sync) -> usize {
    thread::scope(|scope| {
        let spawn = || thread::Builder::new().spawn_scoped(scope, &work);
        let others = (1..threads).map_while(|_| memory::has_thread().then(spawn)?.ok());
        let others: Vec<_> = others.collect();
        work();
        let threads = 1 + others.len();
        // Join every thread: the end of the scope waits for their closures, but not until the
        // threads have exited.
        for other in others {
            other.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        threads
    })
}

/// Does something with each item and its number. Each worker takes one item after another. If there
/// are fewer items than threads, several threads share an item: they are those of `records`.
pub(crate) fn share<T: Send>(
    items: Vec<T>,
    records: &Records,
    each: impl Fn(usize, T, &Records) + Sync,
) {
    let workers = records.threads.min(items.len()).max(1);
    let records = Records { threads: records.threads / workers, ..records.clone() };
    let items = Mutex::new(items.into_iter().enumerate());
    work(workers, || {
        let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some((number, item)) = next() {
            let guard = AbortOnPanic;
            each(number, item, &records);
            mem::forget(guard);
        }
    });
}

/// Aborts the process when a worker panics between its turns, which is a bug. Other workers would
/// wait for its turn for ever, or print later chunks although its chunk is missing.
pub(super) struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        process::abort();
    }
}
