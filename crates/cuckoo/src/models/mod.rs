//! loom models of the table: what the filters promise under every interleaving, and the bugs that the
//! models must find. A child of `table`, since the bugs are made of its private parts.
//!
//! Each property is a function over the operation it is about. A `model` runs it with the operation of
//! this crate; a `mutant` runs it with one that has a planted bug, and it must fail with the message of
//! the property. The minimum of executions that a model must explore is about half of what it explores
//! now. Where a bound on preemptions is given, the model without it takes hours.

use tamis_sync::Ordering;
use tamis_sync::model::{Mutant, check, must_fail, must_fail_with, with_plain_looks};
use tamis_sync::thread::{Arc, spawn};

use super::{BatchRead, Classes, StripeGuard, Table};
use crate::geometry::Geometry;
use crate::place::Class;
use crate::{InsertError, evict};

mod inserts;
mod moves;
mod once;
mod removes;
mod snapshots;

const BUCKETS: u64 = 4;

/// What the reports of the properties begin with.
const MISSED: &str = "an item that is in was missed";
const COPIES: &str = "wrong number of copies";

fn table(slots: u32, stripes: u64) -> Arc<Table> {
    let geometry = Geometry::for_buckets(BUCKETS, slots, if slots == 2 { 32 } else { 16 }).unwrap();
    Arc::new(Table::with_stripes(geometry, stripes).unwrap())
}

/// Fingerprints for which the buckets 0 and 1 go together, and 2 and 3.
const NEAR: [u64; 6] = [2, 4, 5, 7, 10, 12];
/// Fingerprints for which the buckets 0 and 3 go together, and 1 and 2.
const FAR: [u64; 3] = [1, 3, 8];

/// A class, first bucket as given.
fn class(fingerprint: u64, bucket: u64) -> Class {
    Class::of(fingerprint, bucket, BUCKETS)
}

fn mirrored(class: Class) -> Class {
    let [one, other] = class.buckets;
    Class { buckets: [other, one], ..class }
}

/// The copies of a class, read when nobody writes.
fn copies(table: &Table, class: Class) -> u32 {
    class
        .buckets
        .map(|bucket| {
            table.geometry().shape().count(table.buckets().read(bucket), class.fingerprint)
        })
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

/// The other way round.
fn mirrored_contains(table: &Table, class: Class) -> bool {
    table.buckets().contains(mirrored(class))
}

/// The query of a batch: of the class, and of another that is not in.
fn contains_beside(table: &Table, class: Class) -> bool {
    let (classes, mut read) = (batch(class), BatchRead::NONE);
    table.buckets().read_batch(&classes, &mut read);
    table.buckets().contains_batch(&classes, &read)[0]
}

fn mirrored_contains_beside(table: &Table, class: Class) -> bool {
    contains_beside(table, mirrored(class))
}

/// A class, and another in another stripe, if there are two.
fn batch(class: Class) -> Classes<2> {
    let both = [class, Class::of(FAR[0], 1, BUCKETS)];
    Classes {
        fingerprints: both.map(|class| class.fingerprint),
        buckets: [0, 1].map(|which| both.map(|class| class.buckets[which])),
        keys: both.map(Class::key),
    }
}

/// A look that does not ask whether something moved meanwhile.
fn look(table: &Table, class: Class) -> bool {
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
fn buckets_are_as_the_models_take_them() {
    for fingerprint in NEAR {
        assert_eq!(class(fingerprint, 0).buckets, [0, 1], "{fingerprint}");
    }
    for fingerprint in FAR {
        assert_eq!(class(fingerprint, 0).buckets, [0, 3], "{fingerprint}");
    }
}
