//! What commands do with the keys of records and a filter of another system.

use std::sync::Mutex;

use tamis::formats::foreign::{Filter, KeyType};

use super::{Foreign, held};
use crate::error::Why;
use crate::pipeline::{Decider, Hasher, Plan, Printed, Taken};

/// Prints the records that may be in a filter, or those that surely are not.
pub(crate) fn lookup(
    filter: &(dyn Filter + Send + Sync),
    key_type: KeyType,
    inverted: bool,
) -> Decider<'_> {
    // A record without a key is surely not in the filter.
    let plan = Plan { keyless: inverted, ..plan(Printed::Fresh, filter, key_type) };
    Decider::any_order(Hasher::UNUSED, plan, move |chunk| {
        let (entries, keys, fresh) = chunk.keyed();
        for (number, entry) in entries.iter().enumerate() {
            // Each key was one that is taken when it was kept.
            let key = keys.get(number, key_type);
            let found = key.is_ok_and(|key| filter.contains(key).unwrap_or(false));
            fresh[entry.record as usize] = found != inverted;
        }
    })
}

/// What is done with each record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It is inserted, also if it was inserted before.
    Insert,
    /// It is printed and inserted, unless the filter contains it.
    InsertNew,
    /// One copy of it is removed.
    Remove,
}

/// Changes a filter record by record, in input order: the answers and the bytes of the filter
/// depend on the order.
pub(crate) fn change(filter: &Mutex<Foreign>, key_type: KeyType, how: How) -> Decider<'_> {
    let printed = if how == How::InsertNew { Printed::Fresh } else { Printed::None };
    let plan = plan(printed, &*held(filter).filter, key_type);
    Decider::in_order(Hasher::UNUSED, plan, move |chunk| {
        let mut filter = held(filter);
        let filter = &mut *filter.filter;
        let (entries, keys, fresh) = chunk.keyed();
        let mut refused = None;
        for (number, entry) in entries.iter().enumerate() {
            // Each key was one that is taken when it was kept.
            let Ok(key) = keys.get(number, key_type) else { continue };
            let done = match how {
                How::Insert => filter.insert(key),
                How::InsertNew => match filter.contains(key) {
                    Ok(true) => Ok(false),
                    Ok(false) => filter.insert(key).map(|_| true),
                    Err(error) => Err(error),
                },
                How::Remove => filter.remove(key),
            };
            match done {
                Ok(done) => fresh[entry.record as usize] = done,
                Err(error) => {
                    refused = Some((entry.record, error));
                    break;
                }
            }
        }
        if let Some((record, error)) = refused {
            chunk.stop(record, Why::Foreign(error));
        }
    })
}

/// The plan for the keys of this type that a filter takes.
fn plan(printed: Printed, filter: &dyn Filter, key_type: KeyType) -> Plan {
    let taken = Taken { key_type, empty: filter.takes_empty(key_type) };
    Plan { keys: Some(taken), ..Plan::of(printed) }
}
