//! The buckets of a table that grows, and what a stopped thread holds up.

mod copies;
mod plans;

use std::thread;
use std::vec::Vec;

use proptest::prelude::*;
use tamis_hash::{HashItem, Rapid};
use tamis_sync::{Counter, Kernel, LINE_WORDS, PairAccess, SimdLevel, Vectors};

use super::classifier::Classifier;
use super::form::{Form, forms};
use super::layout::{halves, in_place, joined, tag, tag_of_level};
use super::many::Counted;
use super::plan::{Plan, sequence};
use super::pointer::Pointer;
use super::split::{GrowError, Progress, SHORT_ATTEMPTS};
use super::table::Table;
use crate::bucket::Shape;
use crate::error::InsertError;
use crate::geometry::Geometry;
use crate::place::Class;

/// Returns whether this processor has buckets of 128 bits, and `false`.
fn sizes() -> impl Iterator<Item = bool> {
    [true, false].into_iter().filter(|paired| !paired || PairAccess::detect().is_some())
}

fn hash(number: u64) -> u64 {
    Rapid::with_seed(7).hash_item(&number)
}

fn class(plan: &Plan, number: u64) -> Class {
    Classifier::new(plan).class(hash(number))
}

proptest! {
    /// The constants of a level find what the shape and the tag say, and so do those for vectors.
    #[test]
    fn forms_compare_as_shapes_do(
        paired in any::<bool>(),
        which in any::<prop::sample::Index>(),
        step in 0..2_usize,
        level in 0..20_u32,
        slots in prop::collection::vec(0..4_u64, 11),
        tag in 0..4_u32,
        wanted in 1..4_u64,
    ) {
        let shapes = sequence(paired);
        let number = which.index(shapes.len());
        let next = (number + step).min(shapes.len() - 1);
        let forms = forms(paired, level, [number, next]);
        for (form, (shape, level)) in forms.each.iter().zip([(number, level), (next, level + 1)]) {
            let shape = shapes[shape];
            prop_assert_eq!(form.shape, shape);
            // Few values, so slots are often empty or equal; and high ones too.
            let value = |slot: u64| if slot == 3 { shape.mask() } else { slot };
            let bucket = slots.iter().zip(0..shape.slots).fold(0, |bucket, (&slot, at)| {
                bucket | u128::from(value(slot)) << (at * shape.width)
            });
            let bits = bucket | in_place(tag, shape);
            let differences = form.differences(paired, bits, value(wanted));
            let is_at_rest = tag == tag_of_level(level);
            prop_assert_eq!(Form::has_tag(paired, differences), is_at_rest);
            let found = shape.find(bucket, value(wanted));
            let first = form.first_empty(paired, differences);
            let end = if paired { 128 } else { 64 };
            prop_assert_eq!((first != end).then(|| form.offset(first)), found);
            let empty = form.first_empty(paired, bits);
            prop_assert_eq!((empty != end).then(|| form.offset(empty)), shape.first_empty(bucket));
            let halves = [bits as u64, if paired { (bits >> 64) as u64 } else { 0 }];
            let (numbers, held) = (shape.numbers(), value(wanted));
            prop_assert_eq!(Shape::marks_of(numbers, paired, halves, held) != 0, found.is_some());
        }
    }

    /// The children hold what their parent held, each in the half of its bit, and give it back.
    #[test]
    fn halves_of_a_bucket_join_to_it(
        paired in any::<bool>(),
        which in any::<prop::sample::Index>(),
        next in any::<bool>(),
        numbers in prop::collection::vec(any::<u64>(), 0..11),
        level in 0..20_u32,
    ) {
        let shapes = sequence(paired);
        let which = which.index(shapes.len());
        let from = shapes[which];
        let to = *shapes.get(which + usize::from(next)).unwrap_or(&from);
        // Fingerprints that fit into a slot of the child, shifted.
        let held: Vec<u64> = numbers
            .iter()
            .take(from.slots as usize)
            .map(|number| (number & (from.mask().min(to.mask() << 1))).max(2))
            .collect();
        let bucket = held.iter().zip(0..).fold(in_place(tag_of_level(level), from), |bucket, (&held, slot)| {
            bucket | u128::from(held) << (slot * from.width)
        });
        let children = halves(bucket, level, from, to);
        for (bit, child) in (0..).zip(children) {
            prop_assert_eq!(tag(child, to), tag_of_level(level + 1));
            let expected: Vec<u64> =
                held.iter().filter(|&held| held & 1 == bit).map(|held| held >> 1).collect();
            prop_assert_eq!(to.fingerprints_of(child).collect::<Vec<_>>(), expected);
        }
        let back = joined(children, level, from, to).unwrap();
        let sorted = |bucket| {
            let mut held: Vec<u64> = from.fingerprints_of(bucket).collect();
            held.sort_unstable();
            held
        };
        prop_assert_eq!((tag(back, from), sorted(back)), (tag_of_level(level), sorted(bucket)));
    }
}

/// A table with items, in the middle of a level.
fn grown(plan: Plan, items: u64) -> (Table, Counter) {
    let (table, len) = (Table::new(plan).unwrap(), Counter::zeroed(1).unwrap());
    let counted = Counted { table: &table, len: &len };
    for number in 0..items {
        counted.insert(hash(number)).unwrap();
    }
    (table, len)
}

/// A splitter stops after it has frozen a bucket. Others complete the split, this level goes on,
/// and queries, inserts and removals of all buckets go on. At the end of the level, an insert
/// without room returns an error. When the thread goes on, inserts succeed again.
#[test]
fn a_stopped_splitter_holds_up_the_next_level_only_and_with_an_error() {
    for paired in sizes() {
        let plan = Plan::with_buckets(1000, 100_000, 1e-3, paired).unwrap();
        let (table, len) = grown(plan, 3000);
        let counted = Counted { table: &table, len: &len };
        let pointer = table.pointer();
        // The stopped thread holds a splitter's lock, and has frozen a bucket.
        let lock = table.stripes() + 3;
        assert!(table.try_lock(lock));
        table.freeze_only(pointer.level, pointer.next);
        let mut items = 3000;
        let error = loop {
            match counted.insert(hash(items)) {
                Ok(()) => items += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error, InsertError::Stalled);
        let stopped = table.pointer();
        assert_eq!(stopped, Pointer { level: pointer.level + 1, next: 0 });
        assert!(items as f64 > 0.9 * plan.slots(stopped) as f64, "{items} items");
        // Readers and writers go on, whichever bucket they want. There is one writer at a time:
        // another might take the slot that it has freed.
        let numbers = |parity: u64| (parity..items).step_by(2).map(|number| class(&plan, number));
        for parity in 0..2 {
            thread::scope(|scope| {
                scope.spawn(|| {
                    for class in numbers(parity) {
                        assert!(table.lock_stripe(&table.placed(class)).remove());
                        assert!(table.lock_stripe(&table.placed(class)).add(), "the slot is free");
                    }
                });
                scope.spawn(|| {
                    assert!(numbers(1 - parity).all(|class| table.contains_class(class)));
                });
            });
        }
        // The next one of a batch does not sleep again until growth has made a step.
        let mut attempts = 0;
        assert!(table.has_stalled_here());
        assert_eq!(table.grow_in(&mut attempts), Err(GrowError::Stalled));
        assert_eq!(attempts, SHORT_ATTEMPTS + 1);
        table.unlock(lock);
        assert_eq!(table.grow(), Ok(()));
        assert!(!table.has_stalled_here());
        (items..2 * items).for_each(|number| counted.insert(hash(number)).unwrap());
        assert!((0..2 * items).all(|number| table.contains_class(class(&plan, number))));
    }
}

/// The table comes to the step again at which it stalled before it was cleared.
#[test]
fn a_cleared_table_has_not_stalled() {
    let plan = Plan { buckets: 1024, width: 14, doublings: 2, paired: false };
    let mut table = Table::new(plan).unwrap();
    let lock = table.stripes() + 3;
    for _ in 0..2 {
        assert!(table.try_lock(lock));
        while table.split_portion() != Progress::Busy {}
        assert!(table.pointer().level == 1 && !table.has_stalled_here());
        assert_eq!(table.grow(), Err(GrowError::Stalled));
        assert!(table.has_stalled_here());
        table.unlock(lock);
        table.clear();
    }
}

/// The holder of a stripe stops: the level goes on, the next one does not begin.
#[test]
fn a_stopped_writer_holds_up_its_stripe_and_the_next_level() {
    let plan = Plan::with_buckets(1000, 100_000, 1e-3, false).unwrap();
    let (table, _) = grown(plan, 3000);
    let stopped = class(&plan, 17);
    let placed = table.placed(stopped);
    let guard = table.lock_stripe(&placed);
    assert!(table.contains_class(stopped));
    let level = table.pointer().level;
    while table.pointer().level == level {
        assert_eq!(table.split_portion(), Progress::Split);
    }
    assert_eq!(table.grow(), Err(GrowError::Stalled));
    assert!((0..3000).all(|number| table.contains_class(class(&plan, number))));
    // What the holder adds now is in the right bucket, although its level has ended.
    assert!(guard.add() && guard.count() >= 2);
    drop(guard);
    assert_eq!(table.grow(), Ok(()));
    assert!(table.lock_stripe(&table.placed(stopped)).count() >= 2);
}

/// Figures read buckets while the table grows: by two levels between the first bucket and the last
/// here. Each fingerprint that they read is one of the table.
#[test]
fn buckets_are_read_at_their_levels_although_the_table_grows() {
    for paired in sizes() {
        let plan = Plan::with_buckets(1000, 100_000, 1e-3, paired).unwrap();
        let (table, _) = grown(plan, 1000);
        let mut buckets = table.buckets(0, 1);
        let first = buckets.next();
        while table.pointer().level < 3 {
            table.grow().unwrap();
        }
        let mut read = 0;
        for (position, contents) in first.into_iter().chain(buckets) {
            for whole in contents.fingerprints() {
                assert!(plan.may_hold(0, whole), "{whole:x} at level {}", contents.level);
                assert!(table.contains_class(table.layout().class(whole, position)));
                read += 1;
            }
        }
        assert!(read > 0);
    }
}

/// A search that slept through a level has read slots at a wrong width. No step of it is executed.
#[test]
fn a_relocation_of_what_no_item_has_changes_nothing() {
    for paired in sizes() {
        let plan = Plan::with_buckets(1000, 100_000, 1e-3, paired).unwrap();
        let (table, _) = grown(plan, 20_000);
        let values = || -> Vec<u128> { (0..table.places()).map(|at| table.bucket(at)).collect() };
        let before = values();
        let class_of = |fingerprint, position| table.layout().class(fingerprint, position);
        for position in 0..plan.positions() {
            for shift in plan.width..64 {
                let slot = table.peek(position, 0).fingerprints().next().unwrap_or(1);
                for whole in [slot | 1 << shift, 1 << shift, u64::MAX >> (63 - shift), 1, 0] {
                    assert!(
                        !table.lock_stripe(&table.placed(class_of(whole, position))).relocate()
                    );
                }
            }
            // The other position of another fingerprint.
            for whole in table.peek(position, 0).fingerprints() {
                let [from, to] = class_of(whole, position).buckets;
                let to = (to + 2) % plan.positions();
                let wrong = Class { fingerprint: whole, buckets: [from, to] };
                assert!(!table.lock_stripe(&table.placed(wrong)).relocate());
            }
        }
        assert!(values() == before);
    }
}

#[test]
fn a_full_table_ends() {
    let plan = Plan { buckets: 1024, width: 14, doublings: 1, paired: false };
    let table = Table::new(plan).unwrap();
    while table.grow().is_ok() {}
    assert_eq!(table.pointer(), Pointer { level: 1, next: 0 });
    assert_eq!(table.grow(), Err(GrowError::Ended));
}

/// There is no portion behind the last bucket of the last level.
#[test]
fn a_table_of_its_last_size_can_be_cleared() {
    for paired in sizes() {
        let plan = Plan { buckets: 1024, width: 14, doublings: 1, paired };
        let (mut table, len) = (Table::new(plan).unwrap(), Counter::zeroed(1).unwrap());
        for _ in 0..2 {
            while table.grow().is_ok() {}
            for number in 0..4000 {
                Counted { table: &table, len: &len }.insert(hash(number)).unwrap();
            }
            assert!((0..4000).all(|number| table.contains_class(class(&plan, number))));
            table.clear();
            assert_eq!(table.pointer(), Pointer { level: 0, next: 0 });
            let empty = in_place(tag_of_level(0), plan.shape(0));
            let last = plan.buckets << plan.doublings;
            for place in 0..last {
                assert_eq!(table.bucket(place), if place < plan.buckets { empty } else { 0 });
            }
        }
    }
}

/// So can a table with some buckets behind its pointer split.
#[test]
fn a_table_in_the_middle_of_a_portion_can_be_cleared() {
    for paired in sizes() {
        let plan = Plan { buckets: 1280, width: 14, doublings: 1, paired };
        let mut table = Table::new(plan).unwrap();
        let fresh: Vec<u128> = (0..plan.last_places()).map(|place| table.bucket(place)).collect();
        for split in 0..=table.portion {
            let len = Counter::zeroed(1).unwrap();
            table.grow().unwrap();
            for number in 0..2000 {
                Counted { table: &table, len: &len }.insert(hash(number)).unwrap();
            }
            let pointer = table.pointer();
            (pointer.next..pointer.next + split)
                .for_each(|number| table.split(pointer.level, number));
            table.clear();
            assert!(fresh.iter().zip(0..).all(|(&empty, place)| table.bucket(place) == empty));
            assert_eq!(table.pointer(), plan.first());
        }
    }
}

/// Between the ends of a level and of its sweep, no bucket is split: a holder of a lock that is not
/// swept yet may still read the table by the level before (rule 14).
#[test]
fn no_portion_is_split_before_every_lock_is_swept() {
    let plan = Plan { buckets: 1024, width: 14, doublings: 2, paired: false };
    let mut table = Table::new(plan).unwrap();
    while table.pointer().level == 0 {
        table.grow().unwrap();
    }
    let (pointer, locks) = (table.pointer(), table.all_locks());
    for sweep in [(0, locks), (1, 0), (1, 1), (1, locks - 1)] {
        let sweep = Pointer { level: sweep.0, next: sweep.1 };
        table.sweep.update(|bits| *bits = sweep.bits());
        assert_eq!(table.split_next_portion_locked(), Progress::Busy);
        assert_eq!(table.pointer(), pointer);
    }
    assert!(
        (0..plan.places(pointer))
            .all(|place| tag(table.bucket(place), *table.shape(1)) == tag_of_level(1))
    );
    table.sweep.update(|bits| *bits = Pointer { level: 1, next: locks }.bits());
    assert_eq!(table.split_next_portion_locked(), Progress::Split);
}

/// The first attempt of a query.
struct Attempt<'t>(&'t Table, Class);

impl Kernel for Attempt<'_> {
    type Output = Option<bool>;

    #[inline(always)]
    fn run(self, vectors: Option<Vectors>) -> Option<bool> {
        let Self(table, class) = self;
        table.try_at_rest(&table.placed(class), vectors)
    }
}

/// At every SIMD level, with slots of either kind of lanes, between two levels too. Otherwise a
/// query would be right, and slow.
#[test]
fn one_attempt_is_enough_for_buckets_at_rest() {
    for (rate, paired) in
        [0.05, 1e-4, 1e-7].map(|rate| (rate, true)).into_iter().chain([(0.05, false)])
    {
        if !sizes().any(|size| size == paired) {
            continue;
        }
        let plan = Plan::with_buckets(1000, 60_000, rate, paired).unwrap();
        let (table, len) = (Table::new(plan).unwrap(), Counter::zeroed(1).unwrap());
        let mut middles = 0;
        for number in 0..30_000 {
            Counted { table: &table, len: &len }.insert(hash(number)).unwrap();
            if number % 3000 != 2999 {
                continue;
            }
            middles += u32::from(table.pointer().next != 0);
            for number in 0..2 * number {
                let class = table.class(hash(number));
                let right = table.try_contains(class);
                assert!(right.is_some());
                for simd in SimdLevel::all() {
                    assert_eq!(simd.run(Attempt(&table, class)), right, "{simd:?}");
                }
            }
        }
        assert!(middles > 5);
    }
}
