//! What commands do with the keys of records and a filter of another system.

use std::sync::Mutex;

use tamis::formats::foreign::{Filter, KeyType};
use tamis::hash::Rapid;

use super::{Foreign, held};
use crate::pipeline::{Chunk, Decider, Hasher, Plan, Printed, Turnstile, Why};

/// The hash function for keys, whose hashes no such filter uses.
static UNUSED: Hasher = Hasher::Fixed(Rapid::with_seed(0));

/// Prints the records that may be in a filter, or those that surely are not.
pub(crate) struct ForeignLookup<'f> {
    filter: &'f (dyn Filter + Send + Sync),
    key_type: KeyType,
    inverted: bool,
}

impl<'f> ForeignLookup<'f> {
    pub(crate) fn new(
        filter: &'f (dyn Filter + Send + Sync),
        key_type: KeyType,
        inverted: bool,
    ) -> Self {
        Self { filter, key_type, inverted }
    }
}

impl Decider for ForeignLookup<'_> {
    fn hasher(&self) -> &Hasher {
        &UNUSED
    }

    fn plan(&self) -> Plan {
        // A record without a key is surely not in the filter.
        Plan { keyless: self.inverted, ..plan(Printed::Fresh, self.key_type) }
    }

    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        if failed() {
            return;
        }
        let (entries, keys, fresh) = chunk.keyed();
        for (number, entry) in entries.iter().enumerate() {
            // A key that the system does not have, such as an empty one, is not in the filter.
            let key = keys.get(number, self.key_type);
            let found = key.is_ok_and(|key| self.filter.contains(key).unwrap_or(false));
            fresh[entry.record as usize] = found != self.inverted;
        }
    }
}

/// Changes a filter record by record, in input order: the answers and the bytes of the filter depend on the order.
pub(crate) struct Change<'f> {
    filter: &'f Mutex<Foreign>,
    key_type: KeyType,
    how: How,
    /// Whether a chunk was cut, because the input is wrong after its last record, or the filter refused a record.
    /// Nothing after it is decided, so that the filter has exactly the records before.
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
        Self { filter, key_type, how, cut: Turnstile::new(false) }
    }
}

impl Decider for Change<'_> {
    fn hasher(&self) -> &Hasher {
        &UNUSED
    }

    fn plan(&self) -> Plan {
        let printed = if self.how == How::InsertNew { Printed::Fresh } else { Printed::None };
        plan(printed, self.key_type)
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
            // Each key was of this type when it was kept.
            let Ok(key) = keys.get(number, self.key_type) else { continue };
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

/// The plan for keys of this type.
const fn plan(printed: Printed, key_type: KeyType) -> Plan {
    Plan { printed, keyless: true, sharded: false, limit: None, keys: Some(key_type) }
}
