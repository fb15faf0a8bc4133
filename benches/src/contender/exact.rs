//! Exact sets that threads share, as contenders: what a filter stands in for.
//!
//! Their memory is a count of what they must have: of the table's slots, and of the items. What a `String`
//! has on the heap is left out.

use std::collections::HashSet;
use std::sync::Mutex;

use dashmap::DashSet;
use tamis::hash::DefaultHashBuilder;

use crate::contender::{Filter, Shared, SharedVisitor};
use crate::hasher;
use crate::item::Item;

/// The items up to which they take part: more would fill the memory of small machines.
const MOST: u64 = 10_000_000;

pub(super) fn each_shared<K: Item>(visitor: &mut impl SharedVisitor<K>) {
    visitor.visit::<Mutex<HashSet<K, DefaultHashBuilder>>>();
    visitor.visit::<DashSet<K, DefaultHashBuilder>>();
    visitor.visit::<papaya::HashSet<K, DefaultHashBuilder>>();
}

/// Bytes of a table of the standard library's kind: a byte beside each slot, seven of eight slots in use.
fn table<K>(capacity: usize) -> u64 {
    ((capacity * 8).div_ceil(7) * (size_of::<K>() + 1)) as u64
}

impl<K: Item> Filter<K> for Mutex<HashSet<K, DefaultHashBuilder>> {
    const NAME: &'static str = "Mutex<HashSet>";
    const EXACT: bool = true;

    fn new(items: u64, _: f64) -> Option<Self> {
        let set = || HashSet::with_capacity_and_hasher(items as usize, hasher()).into();
        (items <= MOST).then(set)
    }

    fn bytes(&self) -> u64 {
        table::<K>(self.lock().expect("no panic under the lock").capacity())
    }

    #[inline]
    fn contains(&self, item: &K) -> bool {
        self.lock().expect("no panic under the lock").contains(item)
    }

    fn clear(&mut self) -> bool {
        self.get_mut().expect("no panic under the lock").clear();
        true
    }
}

contends!(Mutex<HashSet<K, DefaultHashBuilder>>);

impl<K: Item> Shared<K> for Mutex<HashSet<K, DefaultHashBuilder>> {
    #[inline]
    fn insert(&self, item: &K) -> bool {
        self.lock().expect("no panic under the lock").insert(item.clone())
    }
}

impl<K: Item> Filter<K> for DashSet<K, DefaultHashBuilder> {
    const NAME: &'static str = "DashSet";
    const EXACT: bool = true;

    fn new(items: u64, _: f64) -> Option<Self> {
        let set = || Self::with_capacity_and_hasher(items as usize, hasher());
        (items <= MOST).then(set)
    }

    fn bytes(&self) -> u64 {
        table::<K>(self.capacity())
    }

    #[inline]
    fn contains(&self, item: &K) -> bool {
        Self::contains(self, item)
    }

    fn clear(&mut self) -> bool {
        Self::clear(self);
        true
    }
}

contends!(DashSet<K, DefaultHashBuilder>);

impl<K: Item> Shared<K> for DashSet<K, DefaultHashBuilder> {
    #[inline]
    fn insert(&self, item: &K) -> bool {
        Self::insert(self, item.clone())
    }
}

impl<K: Item> Filter<K> for papaya::HashSet<K, DefaultHashBuilder> {
    const NAME: &'static str = "papaya";
    const EXACT: bool = true;

    fn new(items: u64, _: f64) -> Option<Self> {
        let set = || Self::with_capacity_and_hasher(items as usize, hasher());
        (items <= MOST).then(set)
    }

    /// At least: it tells of no capacity. A pointer and a byte in the table, and an allocation, for each item.
    fn bytes(&self) -> u64 {
        (self.len() * (size_of::<usize>() + 1 + size_of::<K>())) as u64
    }

    #[inline]
    fn contains(&self, item: &K) -> bool {
        self.pin().contains(item)
    }
}

contends!(papaya::HashSet<K, DefaultHashBuilder>);

impl<K: Item> Shared<K> for papaya::HashSet<K, DefaultHashBuilder> {
    #[inline]
    fn insert(&self, item: &K) -> bool {
        self.pin().insert(item.clone())
    }
}
