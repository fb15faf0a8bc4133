//! What commands do with the keys of records and a filter, which any number of workers use at once.

use std::sync::{Mutex, PoisonError};

use tamis::InsertError;
use tamis::hash::AnyStable;

use super::AnyFilter;
use super::reader::Reader;
use super::room::Room;
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

/// Inserts the records that a filter does not contain, in input order: the answers and the bytes of
/// the filter depend on the order. Nothing that is not printed may be inserted, and a filter of
/// bits cannot remove items. So the run ends at the first record that has no room, or that the
/// filter refuses. `room`: if it is limited, the limit and the name of the filter in messages.
/// The caller does not change the filter meanwhile.
pub(crate) fn discovery(
    filter: &AnyFilter,
    hasher: Hasher,
    printed: Printed,
    room: Option<(Room, String)>,
) -> Decider<'_> {
    // The number of items in it is an estimate. The conversion saturates: the estimate of a filter
    // with all bits set is infinite.
    let items = room.as_ref().map_or(0, |_| filter.described().items().round() as u64);
    let items = Mutex::new(items);
    let unlimited = || (Room { items: u64::MAX, rate: 1.0 }, String::new());
    let (Room { items: most, rate }, name) = room.unwrap_or_else(unlimited);
    Decider::in_order(hasher, Plan::of(printed), move |chunk| {
        let Batch { entries, fresh, .. } = chunk.batch();
        let mut items = items.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut left, mut refused) = (&*entries, None);
        while !left.is_empty() && refused.is_none() {
            let count = match most.saturating_sub(*items) {
                0 => {
                    let absent = left.iter().find(|entry| !filter.contains(entry.hash));
                    let why = Why::Overfull { filter: name.clone(), items: most, rate };
                    refused = absent.map(|entry| (entry.record, why));
                    break;
                }
                // Nobody knows which one is refused, and nothing after it is inserted.
                _ if filter.refuses() => 1,
                // As many as have room even if all are new.
                room => left.len().min(usize::try_from(room).unwrap_or(usize::MAX)),
            };
            let (part, rest) = left.split_at(count);
            filter.insert_new(part.iter().map(|entry| entry.hash), |number, new| {
                let Entry { record, .. } = part[number];
                match new {
                    Ok(new) => {
                        fresh[record as usize] = new;
                        *items += u64::from(new);
                    }
                    Err(error) => refused = Some((record, Why::Insert(error))),
                }
            });
            left = rest;
        }
        if let Some((record, why)) = refused {
            chunk.stop(record, why);
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
