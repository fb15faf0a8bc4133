//! loom models of the table that grows: what its protocol guarantees under every interleaving, and
//! the bugs that the models must find.
//!
//! Each property is a function of the operation that it checks. A test `model_*` runs it with the
//! operation of this crate. A test `mutant_*` or `mutants_*` runs it with a planted bug, and must
//! fail with the message of the property. Where a bug needs a wrong step, this file has the steps
//! of the protocol once more, each with a switch; a model shows that they are right with all
//! switches in place. The first argument of `check` is the minimum number of executions that the
//! model must explore: about half of what it explores now, in a loop half of the fewest. The second
//! is a bound on preemptions.
//!
//! A load followed by an exchange of the same word hides earlier loads of other threads from
//! loom's reduction (tokio-rs/loom#392). So the thread that writes is the main one where the other
//! only reads: loom runs it first, and the reader then chooses among the values that it may still
//! load. Two writers run in both orders.

use tamis_sync::Ordering;
use tamis_sync::model::{
    Mutant, bound, check, must_fail, must_fail_with, must_panic, with_planted,
};
use tamis_sync::thread::{Arc, spawn};

use crate::growth::guard::StripeGuard;
use crate::growth::layout::{FROZEN, UNBORN, halves, tag, tag_of_level, with_tag};
use crate::growth::locate::Placed;
use crate::growth::plan::Plan;
use crate::growth::pointer::Pointer;
use crate::growth::split::Progress;
use crate::growth::table::Table;
use crate::place::Class;

mod copies;
mod queries;
mod splits;
mod sweeps;
mod writers;

/// The messages of the properties begin with one of these.
const MISSED: &str = "a present item was missed";
const COPIES: &str = "wrong number of copies";
const REACHED: &str = "an unborn bucket was reached";

/// Two buckets of four slots, up to eight.
const PLAN: Plan = Plan { buckets: 2, width: 15, doublings: 2, paired: false };

/// Two buckets of four slots, then four of five slots, which are narrower.
const WIDENING: Plan = Plan { width: 13, ..PLAN };

/// Fingerprints by their two lowest bits, which say in which buckets they are after two splits.
/// The rest is the same, so a read at a wrong width confuses none of them by chance.
const KINDS: [u64; 4] = [0b1_0100, 0b1_0101, 0b1_0110, 0b1_0111];

/// Returns an empty table with one stripe, and with portions of one bucket.
fn table(plan: Plan) -> Table {
    Table::with_sizes(plan, 1, 1).unwrap()
}

/// Returns an empty table whose first buckets are split, in one portion that is not yet published,
/// as a splitter that stopped leaves it.
fn table_before_publication(item: Option<Class>) -> Table {
    let table = Table::with_sizes(PLAN, 1, PLAN.buckets).unwrap();
    item.into_iter().for_each(|item| add_at(&table, item));
    (0..PLAN.buckets).for_each(|number| split_bucket(&table, 0, number, SPLITTING));
    table
}

/// Returns the class of a fingerprint, with its bucket at this position first.
fn class(fingerprint: u64, position: u64) -> Class {
    PLAN.layout().class(fingerprint, position)
}

/// Returns the class with its two buckets in the other order, in which a query reads them.
fn mirrored(class: Class) -> Class {
    let [one, other] = class.buckets;
    Class { buckets: [other, one], ..class }
}

/// Adds as an insert does, which loads the pointer before the lock and under it.
fn add(table: &Table, class: Class) {
    assert!(table.lock_stripe(&table.placed(class)).add(), "no empty slot");
}

/// Relocates a copy from the first bucket of a class to the second.
fn relocate(table: &Table, class: Class) {
    let moved = table.lock_stripe(&table.placed(class)).relocate();
    assert!(moved, "no copy to relocate, or no empty slot");
}

/// Returns a table with one copy of each class, in its first bucket.
fn table_with(plan: Plan, classes: &[Class]) -> Table {
    let table = table(plan);
    classes.iter().for_each(|&class| add_at(&table, class));
    table
}

/// Adds a copy to the first bucket of a class, which is at rest. For one thread.
fn add_at(table: &Table, class: Class) {
    let shape = *table.shape(0);
    let at = class.buckets[0];
    // ORDERING: Relaxed, both: no other thread has been started.
    let value = table.words.load(at, Ordering::Relaxed);
    let to = value | u128::from(class.fingerprint) << shape.find(value, 0).unwrap();
    let _ = table.words.exchange(at, [value, to], Ordering::Relaxed);
}

/// Counts the copies of a class. Exact only while no thread writes.
fn copies(table: &Table, class: Class) -> u32 {
    table.lock_stripe(&table.placed(class)).count()
}

type Query = fn(&Table, Class) -> bool;
type Action = fn(&Table);

fn contains(table: &Table, class: Class) -> bool {
    table.contains_class(class)
}

/// A query whose first attempt has failed: the following ones also read buckets that are being
/// split.
fn contains_contended(table: &Table, class: Class) -> bool {
    table.contains_contended(class)
}

/// Splits a portion, or takes the locks of a sweep.
fn split(table: &Table) {
    table.split_portion();
}

// The steps of the protocol, each with a switch.

/// How a query reads.
#[derive(Clone, Copy)]
struct Reading {
    pointer: Ordering,
    bucket: Ordering,
    /// Whether it loads the pointer again.
    again: bool,
    /// Whether it follows a tag to the upper child.
    follow: bool,
}

// ORDERING: those of `read_from` and `pointer`.
const READING: Reading =
    Reading { pointer: Ordering::Acquire, bucket: Ordering::Acquire, again: true, follow: true };

/// A query without the version and without the lock: for models without clears, in which the level
/// changes once.
fn contains_by(table: &Table, class: Class, how: Reading) -> bool {
    for _ in 0..3 {
        // ORDERING: the model's; the second load is Relaxed, as in `try_contains`.
        let pointer = Pointer::of(table.pointer.load(how.pointer));
        let found = class.buckets.map(|position| read_by(table, pointer, position, class, how));
        let now = Pointer::of(table.pointer.load(Ordering::Relaxed));
        if let [Some(one), Some(other)] = found
            && (!how.again || now.level == pointer.level)
        {
            return one | other;
        }
    }
    panic!("the pointer was out of date three times");
}

/// Reads the bucket of a class at a position. Returns whether it has the class, or `None` if the
/// pointer is out of date.
fn read_by(
    table: &Table,
    pointer: Pointer,
    position: u64,
    class: Class,
    how: Reading,
) -> Option<bool> {
    let (layout, level) = (table.layout(), pointer.level);
    let folded = layout.folded_at(class.fingerprint, position);
    let read = |level| {
        let at = layout.number(position, folded, level);
        // ORDERING: the model's.
        let value = table.words.load(at, how.bucket);
        let tag = tag(value, *table.shape(level));
        assert!(tag != UNBORN, "{REACHED}");
        (tag, table.shape(level).contains(value, folded >> level))
    };
    let first = pointer.level_of(layout.number(position, folded, level));
    let (tag, found) = read(first);
    if tag == tag_of_level(first) || !how.follow || tag == FROZEN && first == level {
        return Some(found);
    }
    if first != level {
        return None;
    }
    let (tag, found) = read(level + 1);
    (tag == tag_of_level(level + 1)).then_some(found)
}

/// How a thread splits.
#[derive(Clone, Copy)]
struct Splitting {
    freeze: Ordering,
    /// Whether the parent is frozen first. Otherwise it is split as it was read.
    freezes: bool,
    /// Whether the child is born before the commit.
    birth_first: bool,
    /// Whether the birth replaces whatever the child is.
    birth_from_any: bool,
    commit: Ordering,
    /// The load of the tags before the publication.
    tags: Ordering,
    publish: Ordering,
}

// ORDERING: those of `split.rs`.
const SPLITTING: Splitting = Splitting {
    freeze: Ordering::Release,
    freezes: true,
    birth_first: true,
    birth_from_any: false,
    commit: Ordering::Release,
    tags: Ordering::Acquire,
    publish: Ordering::AcqRel,
};

/// Splits the buckets of the portion at the pointer, and moves the pointer.
fn split_by(table: &Table, how: Splitting) {
    let pointer = table.pointer();
    let numbers = pointer.next..pointer.next + table.portion;
    numbers.for_each(|number| split_bucket(table, pointer.level, number, how));
    publish_by(table, pointer, how.publish);
}

/// Splits the bucket with this number among those of its level.
fn split_bucket(table: &Table, level: u32, number: u64, how: Splitting) {
    loop {
        // ORDERING: the model's, both.
        let bucket = table.words.load(number, how.tags);
        match tag(bucket, *table.shape(level)) {
            tag if tag == tag_of_level(level) && how.freezes => {
                freeze(table, level, number, how.freeze);
            }
            tag if tag == tag_of_level(level) || tag == FROZEN => {
                complete_by(table, level, number, bucket, how);
            }
            _ => return,
        }
    }
}

/// Freezes the bucket with this number among those of its level, if it is at rest there. Returns
/// what it was.
fn freeze(table: &Table, level: u32, number: u64, order: Ordering) -> u128 {
    let shape = *table.shape(level);
    // ORDERING: Relaxed: an exchange with this value follows. Then the model's.
    let bucket = table.words.load(number, Ordering::Relaxed);
    let frozen = with_tag(bucket, FROZEN, shape);
    if tag(bucket, shape) == tag_of_level(level) {
        let _ = table.words.exchange(number, [bucket, frozen], order);
    }
    frozen
}

/// Completes the split of a frozen bucket of this value.
fn complete_by(table: &Table, level: u32, number: u64, frozen: u128, how: Splitting) {
    let [lower, upper] = halves(frozen, level, *table.shape(level), *table.shape(level + 1));
    // ORDERING: the model's; a birth is Relaxed, as in `complete_split`.
    let commit = || {
        let _ = table.words.exchange(number, [frozen, lower], how.commit);
    };
    if !how.birth_first {
        commit();
    }
    let child = (table.plan.positions() << level) + number;
    let from = if how.birth_from_any { table.words.load(child, Ordering::Relaxed) } else { 0 };
    let _ = table.words.exchange(child, [from, upper], Ordering::Relaxed);
    if how.birth_first {
        commit();
    }
}

/// Moves the pointer behind the portion at it.
fn publish_by(table: &Table, pointer: Pointer, order: Ordering) {
    let end = pointer.next + table.portion;
    let is_last = end == table.plan.positions() << pointer.level;
    let next = if is_last {
        Pointer { level: pointer.level + 1, next: 0 }
    } else {
        Pointer { next: end, ..pointer }
    };
    let (from, to) = (pointer.bits(), next.bits());
    // ORDERING: the model's.
    let _ = table.pointer.try_update(order, |bits| (bits == from).then_some(to));
}

/// Makes some steps of a sweep: takes and frees the locks for which `is_swept`. Stops if one is
/// held.
fn sweep_by(
    table: &Table,
    load: Ordering,
    update: Ordering,
    is_swept: impl Fn(u64) -> bool,
    steps: usize,
) {
    for _ in 0..steps {
        // A read-modify-write instead of a load: before an exchange, a load would hide those of
        // the other thread.
        // ORDERING: the model's, both.
        let sweep = Pointer::of(table.sweep.fetch_or(0, load));
        let next = if sweep.next == table.all_locks() {
            if table.pointer().level <= sweep.level {
                return;
            }
            Pointer { level: sweep.level + 1, next: 0 }
        } else {
            if is_swept(sweep.next) {
                if !table.try_lock(sweep.next) {
                    return;
                }
                table.unlock(sweep.next);
            }
            Pointer { next: sweep.next + 1, ..sweep }
        };
        let (from, to) = (sweep.bits(), next.bits());
        let _ = table.sweep.try_update(update, |bits| (bits == from).then_some(to));
    }
}

/// Runs two actions on a table in two threads. The main thread, which loom runs first, runs `one`.
fn at_once(
    table: Table,
    one: impl FnOnce(&Table) + 'static,
    other: impl FnOnce(&Table) + 'static,
) -> Arc<Table> {
    let table = Arc::new(table);
    let shared = Arc::clone(&table);
    let thread = spawn(move || other(&shared));
    one(&table);
    thread.join().unwrap();
    table
}

/// As [`at_once`], with the other order of the threads if `swapped`.
fn in_order(
    swapped: bool,
    table: Table,
    one: impl FnOnce(&Table) + 'static,
    other: impl FnOnce(&Table) + 'static,
) -> Arc<Table> {
    if swapped { at_once(table, other, one) } else { at_once(table, one, other) }
}

/// Checks a property of two writers in both orders of their threads.
fn check_both(
    at_least: [usize; 2],
    preemptions: Option<usize>,
    property: impl Fn(bool) + Copy + Send + Sync + 'static,
) {
    for (at_least, swapped) in at_least.into_iter().zip([false, true]) {
        check(at_least, preemptions, move || property(swapped));
    }
}

/// Checks that a property fails, with a planted bug, in one order of the threads at least.
fn must_break(
    expected: &str,
    preemptions: Option<usize>,
    property: impl Fn(bool) + Copy + Send + Sync + 'static,
) {
    must_panic(expected, || check_both([1; 2], preemptions, property));
}
