//! What commands do with the keys of records and a filter of another system.

use std::sync::Mutex;

use tamis::formats::foreign::{Filter, KeyType};
use tamis::hash::Rapid;

use super::{Foreign, held};
use crate::pipeline::{Chunk, Decider, Hasher, Plan, Printed, Taken, Turnstile, Why};

/// The hash function for keys, whose hashes no such filter uses.
static UNUSED: Hasher = Hasher::Fixed(Rapid::with_seed(0));

/// Prints the records that may be in a filter, or those that surely are not.
pub(crate) struct ForeignLookup<'f> {
    filter: &'f (dyn Filter + Send + Sync),
    taken: Taken,
    inverted: bool,
}

impl<'f> ForeignLookup<'f> {
    pub(crate) fn new(
        filter: &'f (dyn Filter + Send + Sync),
        key_type: KeyType,
        inverted: bool,
    ) -> Self {
        Self { filter, taken: taken_by(filter, key_type), inverted }
    }
}

impl Decider for ForeignLookup<'_> {
    fn hasher(&self) -> &Hasher {
        &UNUSED
    }

    fn plan(&self) -> Plan {
        // A record without a key is surely not in the filter.
        Plan { keyless: self.inverted, ..plan(Printed::Fresh, self.taken) }
    }

    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        if failed() {
            return;
        }
        let (entries, keys, fresh) = chunk.keyed();
        for (number, entry) in entries.iter().enumerate() {
            // Each key was one that is taken when it was kept.
            let key = keys.get(number, self.taken.key_type);
            let found = key.is_ok_and(|key| self.filter.contains(key).unwrap_or(false));
            fresh[entry.record as usize] = found != self.inverted;
        }
    }
}

/// Changes a filter record by record, in input order: the answers and the bytes of the filter
/// depend on the order.
pub(crate) struct Change<'f> {
    filter: &'f Mutex<Foreign>,
    taken: Taken,
    how: How,
    /// Whether a chunk was cut, because the input is wrong after its last record, or the filter
    /// refused a record. Nothing after it is decided, so that the filter has exactly the records
    /// before.
    cut: Turnstile<bool>,
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

impl<'f> Change<'f> {
    pub(crate) fn new(filter: &'f Mutex<Foreign>, key_type: KeyType, how: How) -> Self {
        let taken = taken_by(&*held(filter).filter, key_type);
        Self { filter, taken, how, cut: Turnstile::new(false) }
    }
}

impl Decider for Change<'_> {
    fn hasher(&self) -> &Hasher {
        &UNUSED
    }

    fn plan(&self) -> Plan {
        let printed = if self.how == How::InsertNew { Printed::Fresh } else { Printed::None };
        plan(printed, self.taken)
    }

    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        // The turn lasts until the filter has all records of the chunk.
        let Some(mut cut) = self.cut.enter(chunk.turn) else { return };
        let after_cut = *cut;
        *cut |= chunk.is_cut();
        if after_cut || failed() {
            return;
        }
        let mut filter = held(self.filter);
        let filter = &mut *filter.filter;
        let (entries, keys, fresh) = chunk.keyed();
        let mut refused = None;
        for (number, entry) in entries.iter().enumerate() {
            // Each key was one that is taken when it was kept.
            let Ok(key) = keys.get(number, self.taken.key_type) else { continue };
            let done = match self.how {
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
            *cut = true;
            chunk.stop(record, Why::Foreign(error));
        }
    }
}

/// The keys of this type that a filter takes.
fn taken_by(filter: &dyn Filter, key_type: KeyType) -> Taken {
    Taken { key_type, empty: filter.takes_empty(key_type) }
}

/// The plan for such keys.
const fn plan(printed: Printed, taken: Taken) -> Plan {
    Plan { printed, keyless: true, sharded: false, limit: None, keys: Some(taken) }
}
