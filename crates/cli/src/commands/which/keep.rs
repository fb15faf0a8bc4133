//! The records of a file and their keys, kept in memory.

use std::sync::{Mutex, PoisonError};

use tamis::formats::foreign::KeyType;

use crate::error::Why;
use crate::memory;
use crate::pipeline::{Decider, Hasher, Plan, Printed, Taken};

/// The number of keys after which the memory that is left is looked at.
const CHECKED: usize = 1024;

/// Keeps records and their keys. With one thread they are in input order.
pub(super) fn keep(keys: &Mutex<Vec<(Vec<u8>, Vec<u8>)>>) -> Decider<'_> {
    let taken = Taken { key_type: KeyType::Bytes, empty: true };
    let plan = Plan { keys: Some(taken), ..Plan::of(Printed::None) };
    Decider::any_order(Hasher::UNUSED, plan, move |chunk| {
        let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = 0;
        for (record, key) in chunk.records() {
            // Each key is allocated by itself, which cannot report an error.
            if kept % CHECKED == 0 && memory::is_short() || keys.try_reserve(1).is_err() {
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
    })
}
