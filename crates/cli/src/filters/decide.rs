//! What commands do with the keys of records and a filter, which any number of workers use at once.

use tamis::InsertError;
use tamis::hash::AnyStable;

use super::AnyFilter;
use super::reader::Reader;
use crate::pipeline::{Batch, Chunk, Decider, Entry, Hasher, Plan, Printed, SHARDS, Why};

/// Prints the records that may be in a filter, or those that surely are not.
pub(crate) struct Lookup<'f> {
    filter: &'f Reader,
    hasher: Hasher,
    inverted: bool,
}

impl<'f> Lookup<'f> {
    pub(crate) fn new(filter: &'f Reader, inverted: bool) -> Self {
        Self { filter, hasher: hasher(filter.hasher()), inverted }
    }
}

impl Decider for Lookup<'_> {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    fn plan(&self) -> Plan {
        // A record without a key is surely not in the filter.
        let (printed, keyless) = (Printed::Fresh, self.inverted);
        let sharded = self.filter.tables().is_some();
        Plan { printed, keyless, sharded, limit: None, keys: None }
    }

    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        if failed() {
            return;
        }
        if let Some(tables) = self.filter.tables() {
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
        Self { filter, hasher: hasher(filter.hasher()) }
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
    filter: &'f AnyFilter,
    hasher: Hasher,
}

impl<'f> Remove<'f> {
    /// Returns `None` if the filter cannot remove items.
    pub(crate) fn new(filter: &'f AnyFilter) -> Option<Self> {
        filter.can_remove().then(|| Self { filter, hasher: hasher(filter.hasher()) })
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
            self.filter.remove(entries.iter().map(|entry| entry.hash), |number, removed| {
                fresh[entries[number].record as usize] = removed;
            });
        }
    }
}

/// The plan of a command that prints no records.
pub(super) const SILENT: Plan =
    Plan { printed: Printed::None, keyless: true, sharded: false, limit: None, keys: None };

fn hasher(hasher: &AnyStable) -> Hasher {
    Hasher::Any(hasher.clone())
}
