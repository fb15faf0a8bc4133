//! The records of a file and their keys, kept in memory.

use std::sync::{Mutex, PoisonError};

use tamis::formats::foreign::KeyType;
use tamis::hash::Rapid;

use crate::pipeline::{Chunk, Decider, Hasher, Plan, Printed, Taken};

/// The hash function for keys, whose hashes are not used.
static UNUSED: Hasher = Hasher::Fixed(Rapid::with_seed(0));

/// Keeps records and their keys. With one thread they are in input order.
#[derive(Default)]
pub(super) struct Keep {
    keys: Mutex<Vec<(Vec<u8>, Vec<u8>)>>,
}

impl Keep {
    /// Returns the records and their keys.
    pub(super) fn into_keys(self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.keys.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Decider for Keep {
    fn hasher(&self) -> &Hasher {
        &UNUSED
    }

    fn plan(&self) -> Plan {
        let keys = Some(Taken { key_type: KeyType::Bytes, empty: true });
        Plan { printed: Printed::None, keyless: true, sharded: false, limit: None, keys }
    }

    fn decide(&self, chunk: &mut Chunk<'_>, _failed: &dyn Fn() -> bool) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.extend(chunk.records().map(|(record, key)| (record.to_vec(), key.to_vec())));
    }
}
