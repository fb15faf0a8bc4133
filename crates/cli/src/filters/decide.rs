//! What commands do with the keys of records and a filter, which any number of workers use at once.

use tamis::hash::AnyStable;
use tamis::{CuckooFilter, InsertError};

use super::AnyFilter;
use crate::pipeline::{Batch, Chunk, Decider, Entry, Hasher, Plan, Printed, SHARDS, Why};

/// Prints the records that may be in a filter, or those that surely are not.
pub(crate) struct Lookup<'f> {
    filter: &'f AnyFilter,
    hasher: Hasher,
    inverted: bool,
}

impl<'f> Lookup<'f> {
    pub(crate) fn new(filter: &'f AnyFilter, inverted: bool) -> Self {
        Self { filter, hasher: hasher(filter), inverted }
    }
}

impl Decider for Lookup<'_> {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    fn plan(&self) -> Plan {
        // A record without a key is surely not in the filter.
        let (printed, keyless) = (Printed::Fresh, self.inverted);
        let sharded = matches!(self.filter, AnyFilter::Table(_));
        Plan { printed, keyless, sharded, limit: None }
    }

    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        if failed() {
            return;
        }
        if let AnyFilter::Table(tables) = self.filter {
            for shard in 0..SHARDS as usize {
                let Batch { entries, fresh, .. } = chunk.batch_of(shard);
                tables.query(shard, entries, |entry, found| {
                    fresh[entry.record as usize] = found != self.inverted;
                });
            }
        } else {
            let Batch { entries, fresh, .. } = chunk.batch();
            self.filter.contains(entries.iter().map(|entry| entry.hash), |number, found| {
                fresh[entries[number].record as usize] = found != self.inverted;
            });
        }
    }
}

/// Inserts records into a filter.
pub(crate) struct Insert<'f> {
    filter: &'f AnyFilter,
    hasher: Hasher,
}

impl<'f> Insert<'f> {
    pub(crate) fn new(filter: &'f AnyFilter) -> Self {
        Self { filter, hasher: hasher(filter) }
    }
}

impl Decider for Insert<'_> {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    fn plan(&self) -> Plan {
        SILENT
    }

    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        if failed() {
            return;
        }
        let Batch { entries, fresh, .. } = chunk.batch();
        let mut refused: Option<(u32, InsertError)> = None;
        self.filter.insert(entries.iter().map(|entry| entry.hash), |number, new| {
            let Entry { record, .. } = entries[number];
            match new {
                Ok(new) => fresh[record as usize] = new,
                Err(error) => refused = refused.or(Some((record, error))),
            }
        });
        if let Some((record, error)) = refused {
            chunk.stop(record, Why::Insert(error));
        }
    }
}

/// Removes records from a filter that counts copies.
pub(crate) struct Remove<'f> {
    filter: &'f CuckooFilter<[u8], AnyStable>,
    hasher: Hasher,
}

impl<'f> Remove<'f> {
    /// Returns `None` if the filter cannot remove items.
    pub(crate) fn new(filter: &'f AnyFilter) -> Option<Self> {
        let AnyFilter::Cuckoo(cuckoo) = filter else { return None };
        Some(Self { filter: cuckoo, hasher: hasher(filter) })
    }
}

impl Decider for Remove<'_> {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    fn plan(&self) -> Plan {
        SILENT
    }

    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        if !failed() {
            let Batch { entries, fresh, .. } = chunk.batch();
            self.filter.remove_hashes(entries.iter().map(|entry| entry.hash), |number, removed| {
                fresh[entries[number].record as usize] = removed;
            });
        }
    }
}

/// The plan of a command that prints no records.
pub(super) const SILENT: Plan =
    Plan { printed: Printed::None, keyless: true, sharded: false, limit: None };

fn hasher(filter: &AnyFilter) -> Hasher {
    Hasher::Any(filter.hasher().clone())
}
