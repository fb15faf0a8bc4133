//! Exact sets that threads share, which filters replace.

use std::collections::HashSet;
use std::sync::Mutex;

use dashmap::DashSet;
use tamis::hash::DefaultHashBuilder;

use crate::contender::filter::{Filter, Traits};
use crate::hasher;
use crate::item::Item;

/// The number of items up to which exact sets take part: more would fill the memory of small
/// machines.
const MAX: u64 = 10_000_000;

/// Makes a set for this number of items; none for too many.
fn sized<T>(items: u64, make: fn(usize, DefaultHashBuilder) -> T) -> Option<T> {
    (items <= MAX).then(|| make(items as usize, hasher()))
}

/// Returns the bytes of a table of the standard library's kind: a byte per slot in addition to the
/// item, seven of eight slots in use. What a `String` has on the heap is left out.
fn table<K>(capacity: usize) -> usize {
    (capacity * 8).div_ceil(7) * (size_of::<K>() + 1)
}

peer!(
    Mutex<HashSet<K, DefaultHashBuilder>>,
    "Mutex<HashSet>",
    [exact = true],
    new = |items, _rate| sized(items, HashSet::with_capacity_and_hasher).map(Self::new),
    bytes = |set| table::<K>(set.lock().expect("no panic under the lock").capacity()),
    contains = |set, item| set.lock().expect("no panic under the lock").contains(item),
    insert_shared = |set, item| set.lock().expect("no panic under the lock").insert(item.clone()),
    clear = |set| set.get_mut().expect("no panic under the lock").clear(),
);

peer!(
    DashSet<K, DefaultHashBuilder>,
    "DashSet",
    [exact = true],
    new = |items, _rate| sized(items, Self::with_capacity_and_hasher),
    bytes = |set| table::<K>(set.capacity()),
    contains = |set, item| Self::contains(set, item),
    insert_shared = |set, item| Self::insert(set, item.clone()),
    clear = |set| Self::clear(set),
);

peer!(
    papaya::HashSet<K, DefaultHashBuilder>,
    "papaya",
    [exact = true],
    new = |items, _rate| sized(items, Self::with_capacity_and_hasher),
    // At least: it reports no capacity. A pointer and a byte in the table, and an allocation, for
    // each item.
    bytes = |set| set.len() * (size_of::<usize>() + 1 + size_of::<K>()),
    contains = |set, item| set.pin().contains(item),
    insert_shared = |set, item| set.pin().insert(item.clone()),
);
