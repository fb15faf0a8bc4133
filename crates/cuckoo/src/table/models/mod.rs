//! loom models of the table: what the filters guarantee under every interleaving, and the bugs that
//! the models must find. A child module of `table`, because the bugs use its private parts.
//!
//! Each property is a function of the operation that it checks. A test `model_*` runs it with the
//! operation of this crate. A test `mutant_*` or `mutants_*` runs it with a planted bug, and must
//! fail with the message of the property. The first argument of `check` is the minimum number of
//! executions that the model must explore, about half of what it explores now. The second is a
//! bound on preemptions, given only where the unbounded model takes hours.

use tamis_sync::Ordering;
use tamis_sync::model::{Mutant, bound, check, must_fail, must_fail_with, with_plain_looks};
use tamis_sync::thread::{Arc, spawn};

use super::guard::StripeGuard;
use super::{BatchRead, Table};
use crate::batch::Classes;
use crate::error::InsertError;
use crate::evict;
use crate::geometry::Geometry;
use crate::place::Class;

mod inserts;
mod once;
mod relocations;
mod removes;
mod snapshots;

const BUCKETS: u64 = 4;

/// The messages of the properties begin with one of these.
const MISSED: &str = "a present item was missed";
const COPIES: &str = "wrong number of copies";

fn table(slots: u32, stripes: u64) -> Arc<Table> {
    let geometry = Geometry::for_buckets(BUCKETS, slots, if slots == 2 { 32 } else { 16 }).unwrap();
    Arc::new(Table::with_stripes(geometry, stripes).unwrap())
}

/// Fingerprints whose two buckets are 0 and 1, or 2 and 3.
const NEAR: [u64; 6] = [2, 4, 5, 7, 10, 12];
/// Fingerprints whose two buckets are 0 and 3, or 1 and 2.
const FAR: [u64; 3] = [1, 3, 8];

/// Returns a class with the given first bucket.
fn class(fingerprint: u64, bucket: u64) -> Class {
    Class::of(fingerprint, bucket, BUCKETS)
}

/// Returns the class with its two buckets in the other order.
fn mirrored(class: Class) -> Class {
    let [one, other] = class.buckets;
    Class { buckets: [other, one], ..class }
}

/// Counts the copies of a class. Exact only while no thread writes.
fn copies(table: &Table, class: Class) -> u32 {
    class
        .buckets
        .map(|bucket| table.geometry.shape().count(table.buckets().read(bucket), class.fingerprint))
        .iter()
        .sum()
}

fn add(table: &Table, class: Class) {
    assert!(table.buckets().add(class), "no empty slot");
}

type Query = fn(&Table, Class) -> bool;
type Change = fn(&StripeGuard<'_>) -> bool;

fn contains(table: &Table, class: Class) -> bool {
    table.buckets().contains(class)
}

/// Queries the class, and reads its second bucket first.
fn mirrored_contains(table: &Table, class: Class) -> bool {
    table.buckets().contains(mirrored(class))
}

/// Queries a batch of the class and of another class that is absent.
fn contains_in_batch(table: &Table, class: Class) -> bool {
    let (classes, mut read) = (batch(class), BatchRead::NONE);
    table.buckets().read_batch(&classes, &mut read);
    table.buckets().contains_batch(&classes, &read)[0]
}

fn mirrored_contains_in_batch(table: &Table, class: Class) -> bool {
    contains_in_batch(table, mirrored(class))
}

/// Returns a batch of a class and another class, which is in another stripe if there are two.
fn batch(class: Class) -> Classes<2> {
    let both = [class, Class::of(FAR[0], 1, BUCKETS)];
    Classes {
        fingerprints: both.map(|class| class.fingerprint),
        buckets: [0, 1].map(|which| both.map(|class| class.buckets[which])),
        keys: both.map(Class::key),
    }
}

/// A planted bug: reads both buckets, and does not check the version.
fn contains_without_version(table: &Table, class: Class) -> bool {
    table.buckets().contains_unvalidated(class)
}

fn insert(table: &Table, class: Class) -> Result<(), InsertError> {
    evict::insert(table.buckets(), class)
}

fn relocate(guard: &StripeGuard<'_>) -> bool {
    guard.relocate()
}

fn remove(guard: &StripeGuard<'_>) -> bool {
    guard.remove()
}

#[test]
fn buckets_are_as_the_models_assume() {
    for fingerprint in NEAR {
        assert_eq!(class(fingerprint, 0).buckets, [0, 1], "{fingerprint}");
    }
    for fingerprint in FAR {
        assert_eq!(class(fingerprint, 0).buckets, [0, 3], "{fingerprint}");
    }
}
