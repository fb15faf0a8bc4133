//! The records of a file and their keys, kept in memory.

use std::sync::{Mutex, PoisonError};

use tamis::formats::foreign::KeyType;
use tamis::hash::Rapid;

use crate::memory;
use crate::pipeline::{Chunk, Decider, Hasher, Plan, Printed, Taken, Why};

/// The number of keys after which the memory that is left is looked at.
const CHECKED: usize = 1024;

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
        let mut kept = 0;
        for (record, key) in chunk.records() {
            // Each key is allocated by itself, which cannot report an error.
            if kept % CHECKED == 0 && memory::is_short() {
                break;
            }
            keys.push((record.to_vec(), key.to_vec()));
            kept += 1;
        }
        let is_short = kept < chunk.records().count();
        if is_short {
            let needed = memory::short(keys.len() * size_of::<(Vec<u8>, Vec<u8>)>());
            chunk.stop(0, Why::Read(needed));
        }
    }
}
