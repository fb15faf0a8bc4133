//! The hashes of all records, kept to build a filter of the right size at the end of the input.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

use tamis::InsertError;
use tamis::hash::AnyStable;

use super::AnyFilter;
use super::decide::SILENT;
use crate::error::Error;
use crate::memory;
use crate::pipeline::{Decider, Hasher};

/// The number of hashes after which repeated ones are removed for the first time.
const FIRST: usize = 1 << 20;

/// The number of hashes before whose allocation the memory available is read.
const LARGE: usize = 1 << 16;

/// A list of hashes that grows as far as memory allows.
#[derive(Debug)]
pub(crate) struct Hashes {
    list: Vec<u64>,
    /// Whether equal hashes are kept.
    copies: bool,
    /// The number of hashes after which repeated ones are removed.
    limit: usize,
}

impl Hashes {
    pub(crate) const fn new(copies: bool) -> Self {
        Self { list: Vec::new(), copies, limit: FIRST }
    }

    /// The number of hashes, some of which may be equal.
    pub(crate) const fn len(&self) -> usize {
        self.list.len()
    }

    /// Adds hashes, or returns an error if there is no memory for them.
    pub(crate) fn extend(&mut self, new: impl ExactSizeIterator<Item = u64>) -> Result<(), Error> {
        let Self { list, limit, .. } = self;
        // Remove repeated hashes first. The limit doubles, so that each hash is sorted a few times
        // only.
        if !self.copies && list.len() + new.len() > *limit {
            list.sort_unstable();
            list.dedup();
            *limit = FIRST.max(2 * list.len());
        }
        let needed = list.len() + new.len();
        if needed > list.capacity() {
            // A vector that doubles needs the old memory and the new one.
            let bytes = 24 * needed as u64;
            if needed >= LARGE
                && let Some(lack) = memory::lack(bytes)
            {
                let text = format!("out of memory: the list of all hashes {lack}; give --capacity");
                return Err(Error::Usage(text));
            }
            let refused = |_| Error::Memory { needed: bytes, available: None };
            list.try_reserve(new.len()).map_err(refused)?;
        }
        list.extend(new);
        Ok(())
    }

    /// Returns the hashes in ascending order, which is also the order of their places in most
    /// filters.
    pub(crate) fn into_sorted(self) -> Vec<u64> {
        let mut list = self.list;
        list.sort_unstable();
        if !self.copies {
            list.dedup();
        }
        list
    }
}

/// Collects the hashes of records.
pub(crate) struct Collect(Mutex<Hashes>);

impl Collect {
    /// `copies`: whether equal hashes are kept.
    pub(crate) fn new(copies: bool) -> Self {
        Self(Mutex::new(Hashes::new(copies)))
    }

    /// Returns the hashes in ascending order.
    pub(crate) fn into_sorted(self) -> Vec<u64> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).into_sorted()
    }

    /// Returns what collects the hashes of a run, for keys hashed by `hasher`.
    pub(crate) fn decider(&self, hasher: AnyStable) -> Decider<'_> {
        Decider::any_order(Hasher::Any(hasher), SILENT, |chunk| {
            let batch = chunk.batch();
            batch.entries.iter().for_each(|entry| batch.fresh[entry.record as usize] = true);
            let first = batch.entries.first().map_or(0, |entry| entry.record);
            let mut hashes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = hashes.extend(batch.entries.iter().map(|entry| entry.hash)) {
                chunk.stop(first, error.into());
            }
        })
    }
}

impl AnyFilter {
    /// Inserts hashes on several threads. Returns the number of those that were new.
    pub(crate) fn insert_all(&self, hashes: &[u64], threads: usize) -> Result<u64, InsertError> {
        let part = |hashes: &[u64]| {
            let mut sum = Ok(0);
            self.insert(hashes.iter().copied(), |_, new| {
                sum = sum.and_then(|sum| Ok(sum + u64::from(new?)));
            });
            sum
        };
        let length = hashes.len().div_ceil(threads.max(1)).max(1);
        thread::scope(|scope| {
            let spawn =
                |hashes| thread::Builder::new().spawn_scoped(scope, move || part(hashes)).ok();
            // If the system cannot start a thread, this one does the work.
            let parts = hashes.chunks(length).map(|hashes| {
                memory::has_thread().then(|| spawn(hashes)).flatten().ok_or_else(|| part(hashes))
            });
            let parts: Vec<_> = parts.collect();
            let results = parts.into_iter().map(|part| match part {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(done) => done,
            });
            results.sum()
        })
    }
}
