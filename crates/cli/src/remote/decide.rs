//! What commands do with records and a filter in Redis.

use tamis_redis::Error as RedisError;

use super::failure::{may_be_stored, without_verdict};
use super::filter::Filter;
use crate::pipeline::{Batch, Decider, Hasher, Plan, Printed};

/// Prints the records that may be in a filter, or those that surely are not.
pub(crate) fn lookup(filter: &Filter, inverted: bool) -> Decider<'_> {
    // A record without a key is surely not in the filter.
    let plan = Plan { keyless: inverted, ..Plan::of(Printed::Fresh) };
    Decider::any_order(hasher(filter), plan, move |chunk| {
        let Batch { entries, fresh, .. } = chunk.batch();
        let hashes: Vec<u64> = entries.iter().map(|entry| entry.hash).collect();
        match filter.contains_hashes(&hashes) {
            Ok(found) => {
                for (entry, found) in entries.iter().zip(found) {
                    fresh[entry.record as usize] = found != inverted;
                }
            }
            Err(source) => {
                // No record of the chunk has an answer, so the chunk ends before its first.
                let first = entries.first().map_or(0, |entry| entry.record);
                let why = without_verdict(0, entries.len() as u64, source);
                chunk.stop(first, why);
            }
        }
    })
}

/// Inserts records, and prints those of which this run is the first.
///
/// Chunks are inserted one after another, so that of equal records of the input the first is
/// printed. While one waits for the server, others are read and hashed. After a failure nothing
/// more is inserted, because it would not be printed.
pub(crate) fn claim(filter: &Filter) -> Decider<'_> {
    let plan = Plan::of(Printed::Fresh);
    Decider::in_order(hasher(filter), plan, move |chunk| {
        let Batch { entries, fresh, .. } = chunk.batch();
        let hashes: Vec<u64> = entries.iter().map(|entry| entry.hash).collect();
        let mut first: Option<(u32, RedisError)> = None;
        let (mut unknown, mut others) = (0, 0);
        for (entry, result) in entries.iter().zip(filter.insert_hashes(&hashes)) {
            match result {
                Ok(new) => fresh[entry.record as usize] = new,
                Err(error) => {
                    // It is not printed, and all others of the chunk that are new are: they are
                    // stored.
                    fresh[entry.record as usize] = false;
                    *(if may_be_stored(&error) { &mut unknown } else { &mut others }) += 1;
                    let (_, reason) = first.get_or_insert((entry.record, error.clone()));
                    // Of several reasons, one by which records may be stored counts most.
                    if may_be_stored(&error) && !may_be_stored(reason) {
                        *reason = error;
                    }
                }
            }
        }
        if let Some((record, source)) = first {
            chunk.stop_after(record, without_verdict(unknown, others, source));
        }
    })
}

fn hasher(filter: &Filter) -> Hasher {
    Hasher::Any(filter.hasher().clone())
}
