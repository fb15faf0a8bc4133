//! What commands do with records and a filter in Redis.

use tamis_redis::Error as RedisError;

use super::failure::{may_be_stored, without_verdict};
use super::filter::Filter;
use crate::pipeline::{Batch, Chunk, Decider, Hasher, Plan, Printed, Turnstile};

/// Prints the records that may be in a filter, or those that surely are not.
pub(crate) struct RemoteLookup<'f> {
    filter: &'f Filter,
    hasher: Hasher,
    inverted: bool,
}

impl<'f> RemoteLookup<'f> {
    pub(crate) fn new(filter: &'f Filter, inverted: bool) -> Self {
        Self { filter, hasher: Hasher::Any(filter.hasher().clone()), inverted }
    }
}

impl Decider for RemoteLookup<'_> {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    fn plan(&self) -> Plan {
        // A record without a key is surely not in the filter.
        plan(self.inverted)
    }

    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        if failed() {
            return;
        }
        let Batch { entries, fresh, .. } = chunk.batch();
        let hashes: Vec<u64> = entries.iter().map(|entry| entry.hash).collect();
        match self.filter.contains_hashes(&hashes) {
            Ok(found) => {
                for (entry, found) in entries.iter().zip(found) {
                    fresh[entry.record as usize] = found != self.inverted;
                }
            }
            Err(source) => {
                // No record of the chunk has an answer, so the chunk ends before its first.
                let (record, count) =
                    (entries.first().map_or(0, |entry| entry.record), entries.len());
                let count = count as u64;
                chunk.stop(record, without_verdict(record, count, source));
            }
        }
    }
}

/// Inserts records, and prints those of which this run is the first.
///
/// Chunks are inserted one after another, so that of equal records of the input the first is
/// printed. While one waits for the server, others are read and hashed.
pub(crate) struct Claim<'f> {
    filter: &'f Filter,
    hasher: Hasher,
    /// Whether a chunk was cut, because the input is wrong after its last record, or the filter has
    /// failed. Nothing after it is inserted, because it would not be printed.
    cut: Turnstile<bool>,
}

impl<'f> Claim<'f> {
    pub(crate) fn new(filter: &'f Filter) -> Self {
        let hasher = Hasher::Any(filter.hasher().clone());
        Self { filter, hasher, cut: Turnstile::new(false) }
    }
}

impl Decider for Claim<'_> {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    fn plan(&self) -> Plan {
        plan(true)
    }

    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        // The turn lasts until the server has answered.
        let Some(mut cut) = self.cut.enter(chunk.turn) else { return };
        let after_cut = *cut;
        *cut |= chunk.is_cut();
        if after_cut || failed() {
            return;
        }
        let Batch { entries, fresh, .. } = chunk.batch();
        let hashes: Vec<u64> = entries.iter().map(|entry| entry.hash).collect();
        let mut first: Option<(u32, RedisError)> = None;
        let mut count = 0;
        for (entry, result) in entries.iter().zip(self.filter.insert_hashes(&hashes)) {
            match result {
                Ok(new) => fresh[entry.record as usize] = new,
                Err(error) => {
                    // It is not printed, and all others of the chunk that are new are: they are
                    // stored.
                    fresh[entry.record as usize] = false;
                    count += 1;
                    let (_, reason) = first.get_or_insert((entry.record, error.clone()));
                    // Of several reasons, one by which records may be stored counts most.
                    if may_be_stored(&error) && !may_be_stored(reason) {
                        *reason = error;
                    }
                }
            }
        }
        if let Some((record, source)) = first {
            *cut = true;
            chunk.stop_after(without_verdict(record, count, source));
        }
    }
}

/// The plan for a filter in Redis.
const fn plan(keyless: bool) -> Plan {
    Plan { printed: Printed::Fresh, keyless, sharded: false, limit: None, keys: None }
}
