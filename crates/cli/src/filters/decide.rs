//! What commands do with the keys of records and a filter, which any number of workers use at once.

use std::sync::{Mutex, PoisonError};

use tamis::InsertError;
use tamis::hash::AnyStable;

use super::AnyFilter;
use super::reader::Reader;
use crate::error::Why;
use crate::pipeline::{Batch, Decider, Entry, Hasher, Plan, Printed, SHARDS};

/// Prints the records that may be in a filter, or those that surely are not.
pub(crate) fn lookup(filter: &Reader, inverted: bool) -> Decider<'_> {
    // A record without a key is surely not in the filter.
    let sharded = filter.tables().is_some();
    let plan = Plan { keyless: inverted, sharded, ..Plan::of(Printed::Fresh) };
    Decider::any_order(hasher(filter.hasher()), plan, move |chunk| {
        if let Some(tables) = filter.tables() {
            for shard in 0..SHARDS as usize {
                let Batch { entries, fresh, .. } = chunk.batch_of(shard);
                tables.query(shard, entries, |entry, found| {
                    fresh[entry.record as usize] = found != inverted;
                });
            }
        } else {
            let Batch { entries, fresh, .. } = chunk.batch();
            filter.contains(entries.iter().map(|entry| entry.hash), |number, found| {
                fresh[entries[number].record as usize] = found != inverted;
            });
        }
    })
}

/// Inserts records into a filter.
pub(crate) fn insertion(filter: &AnyFilter) -> Decider<'_> {
    Decider::any_order(hasher(filter.hasher()), SILENT, move |chunk| {
        let Batch { entries, fresh, .. } = chunk.batch();
        let mut refused: Option<(u32, InsertError)> = None;
        filter.insert(entries.iter().map(|entry| entry.hash), |number, new| {
            let Entry { record, .. } = entries[number];
            match new {
                Ok(new) => fresh[record as usize] = new,
                Err(error) => refused = refused.or(Some((record, error))),
            }
        });
        if let Some((record, error)) = refused {
            chunk.stop(record, Why::Insert(error));
        }
    })
}

/// Removes records from a filter that counts copies, and counts in `staying` those whose removal
/// has changed nothing. Returns `None` if it cannot remove items.
pub(crate) fn removal<'f>(filter: &'f AnyFilter, staying: &'f Mutex<u64>) -> Option<Decider<'f>> {
    filter.can_remove().then(|| {
        Decider::any_order(hasher(filter.hasher()), SILENT, move |chunk| {
            let Batch { entries, fresh, .. } = chunk.batch();
            filter.remove(entries.iter().map(|entry| entry.hash), |number, removed| {
                let Entry { record, hash, .. } = entries[number];
                fresh[record as usize] = removed;
                if removed && filter.stays(hash) {
                    *staying.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                }
            });
        })
    })
}

/// The plan of a command that prints no records.
pub(super) const SILENT: Plan = Plan::of(Printed::None);

fn hasher(hasher: &AnyStable) -> Hasher {
    Hasher::Any(hasher.clone())
}
