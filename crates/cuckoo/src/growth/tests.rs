//! The arithmetic of a table that grows, and what a stopped thread holds up.

mod copies;

use std::thread;
use std::vec::Vec;

use proptest::prelude::*;
use tamis_hash::{HashItem, Rapid};
use tamis_sync::{Counter, LINE_WORDS, PairAccess};

use super::classifier::Classifier;
use super::form::{Form, forms};
use super::layout::{halves, in_place, joined, tag, tag_of_level};
use super::many::Counted;
use super::plan::{Plan, sequence};
use super::pointer::Pointer;
use super::split::{GrowError, Progress};
use super::table::Table;
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

#[test]
fn shapes_leave_two_bits_and_never_lose_a_slot() {
    for paired in [true, false] {
        let shapes = sequence(paired);
        for pair in shapes.windows(2) {
            assert!(pair[0].slots() < pair[1].slots() && pair[0].width() > pair[1].width());
        }
        for shape in shapes {
            assert!(shape.slots() * shape.width() <= shape.bits() - 2, "{shape:?}");
            assert_eq!(
                (shape.bits(), shape.is_pair()),
                if paired { (128, true) } else { (64, false) }
            );
        }
    }
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
            let bucket = slots.iter().zip(0..shape.slots()).fold(0, |bucket, (&slot, at)| {
                bucket | u128::from(value(slot)) << (at * shape.width())
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
            let (numbers, held) = (form.numbers(), value(wanted));
            prop_assert_eq!(Form::marks_of(numbers, paired, halves, held) != 0, found.is_some());
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
            .take(from.slots() as usize)
            .map(|number| (number & (from.mask().min(to.mask() << 1))).max(2))
            .collect();
        let bucket = held.iter().zip(0..).fold(in_place(tag_of_level(level), from), |bucket, (&held, slot)| {
            bucket | u128::from(held) << (slot * from.width())
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

    /// A plan holds what it is for, at the rate, with no narrower fingerprint; and every class
    /// fits into the slots of every level.
    #[test]
    fn plans_keep_the_rate(
        first in 1_u64..1 << 22,
        growth in 1..11_u32,
        magnitude in 0.5_f64..5.0,
        paired in any::<bool>(),
        hash in any::<u64>(),
    ) {
        let (most, rate) = (first << growth, libm::pow(10.0, -magnitude));
        let plan = match Plan::with_buckets(first, most, rate, paired) {
            Ok(plan) => plan,
            Err(error) => {
                prop_assert!(!paired && magnitude > 2.0, "{error}");
                return Ok(());
            }
        };
        prop_assert!(plan.items(plan.first()) >= first && plan.capacity() >= most, "{plan:?}");
        prop_assert!(plan.rate_at(most) <= rate);
        let narrower = Plan { width: plan.width - 1, ..plan };
        let least = sequence(paired).last().unwrap().width();
        if narrower.width >= least
            && narrower.checked().is_some()
            // With the same slots, and the same loads.
            && plan.items(plan.first()) == narrower.items(plan.first()) {
            prop_assert!(narrower.rate_at(most) > rate, "{plan:?}");
        }
        let Class { fingerprint, buckets } = Classifier::new(&plan).class(hash);
        prop_assert!(buckets.iter().all(|&position| position < plan.positions()));
        for level in 0..=plan.last_level() {
            let held = fingerprint >> level;
            prop_assert!(plan.may_hold(level, held) && held <= plan.shape(level).mask());
            prop_assert!(level == 0 || plan.shape(level).slots() >= plan.shape(level - 1).slots());
        }
    }
}

/// Also where the first buckets are nearly two times the positions.
#[test]
fn a_plan_has_room_for_its_first_items() {
    for (first, paired) in (2000..8000).flat_map(|first| [(first, true), (first, false)]) {
        let plan = Plan::with_buckets(first, 64 * first, 0.01, paired).unwrap();
        let fewer = Plan { buckets: plan.buckets - 8, ..plan };
        assert!(plan.items(plan.first()) >= first, "{first} items, {plan:?}");
        let is_least = plan.buckets <= 1024 || fewer.items(fewer.first()) < first;
        assert!(is_least, "{first} items, {plan:?}");
    }
}

/// The class of a hash has the probability that the rate is computed with.
#[test]
fn equal_classes_are_as_frequent_as_the_formula_says() {
    // 2^9 fingerprints, of which 2 · 2^4 have two times the items, and 8 positions.
    let plan = Plan { buckets: 8, width: 9, doublings: 4, paired: false };
    let (all, least) = (1_u64 << 9, 1_u64 << 4);
    let squares: u64 = (0..all)
        .map(|fingerprint| match fingerprint {
            0..16 => 0,
            16..32 => 4,
            _ => 1,
        })
        .sum();
    assert_eq!(squares, all + 2 * least);
    // The chance that two fingerprints are equal, times that of equal pairs of positions.
    let equal = squares as f64 / (all * all) as f64 * 2.0 / 8.0;
    assert!((1.0 / plan.classes() / equal - 1.0).abs() < 1e-12);
    let counts = (0..1_u64 << 16).fold([0_u32; 512], |mut counts, number| {
        let hash = Rapid::with_seed(1).hash_item(&number);
        counts[Classifier::new(&plan).fingerprint(hash) as usize] += 1;
        counts
    });
    assert!(counts[..16].iter().all(|&count| count == 0));
    let mean = |counts: &[u32]| f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    // 128 items per fingerprint are expected, and 256: the means of 16 and of 480 of them.
    assert!(
        (mean(&counts[16..32]) - 256.0).abs() < 30.0 && (mean(&counts[32..]) - 128.0).abs() < 4.0
    );
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
        assert_eq!(table.grow(), Err(GrowError::Stalled));
        table.unlock(lock);
        (items..2 * items).for_each(|number| counted.insert(hash(number)).unwrap());
        assert!((0..2 * items).all(|number| table.contains_class(class(&plan, number))));
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

/// Where a doubling gives buckets another slot, those that are not split are full long before the
/// others. With the loads of a plan, a search finds a slot even then, so the table splits no bucket
/// but for its number of items. At its last size it takes all items of its capacity, and more.
#[test]
fn loads_leave_room_where_the_number_of_slots_changes() {
    for paired in sizes() {
        let mut tables = 0;
        for shapes in sequence(paired).windows(2) {
            for eighths in [0, 1, 2, 3, 4] {
                // From shape 0 at level 0 to shape 1; or from level 1, which is the last one.
                let (buckets, doublings) = (1024 + 128 * eighths, 1);
                let width = shapes[1].width() + if eighths == 0 { 1 } else { 2 };
                let plan = Plan { buckets, width, doublings, paired };
                let level = plan.last_level() - 1;
                if plan.checked().is_none() || plan.shape(level) != shapes[0] {
                    continue;
                }
                tables += 1;
                let (table, len) = (Table::new(plan).unwrap(), Counter::zeroed(1).unwrap());
                let counted = Counted { table: &table, len: &len };
                for number in 0..plan.capacity() {
                    let before = table.pointer();
                    counted.insert(hash(number)).unwrap();
                    let is_due = || number + 1 >= plan.items(before);
                    assert!(table.pointer() == before || is_due(), "{plan:?}: {number} {before:?}");
                }
                let more = plan.capacity()..plan.capacity() + plan.capacity() / 25;
                assert!(more.map(hash).all(|hash| counted.insert(hash).is_ok()), "{plan:?}");
            }
        }
        assert!(tables >= 20, "{tables} tables");
    }
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

/// A comparison of the shapes of two levels tells all shapes of one size apart.
#[test]
fn shapes_of_one_size_differ() {
    for paired in [true, false] {
        let shapes = sequence(paired);
        for (at, shape) in shapes.iter().enumerate() {
            assert!(shapes.iter().enumerate().all(|(to, other)| shape.is(*other) == (at == to)));
        }
    }
}

/// Returns the bytes of a table that has just room for this number of items.
fn bytes_for(plan: &Plan, items: u64) -> u64 {
    let items_at = |level, next| plan.items(Pointer { level, next });
    let level =
        (0..plan.doublings).take_while(|&level| items_at(level + 1, 0) < items).count() as u32;
    let (mut low, mut high) = (0, plan.positions() << level);
    while low < high {
        let middle = low.midpoint(high);
        (low, high) =
            if items_at(level, middle) < items { (middle + 1, high) } else { (low, middle) };
    }
    plan.places(Pointer { level, next: low }) * plan.bucket_bytes() + plan.lock_bytes()
}

/// The bits per item at 64 counts from 100,000 to a maximum of 10^8, against a filter of one size
/// for the same count at the rate that this one has there, and against one at the request.
#[test]
fn the_size_stays_near_that_of_a_fixed_filter_at_every_count() {
    for (rate, paired, bounds) in [
        (1e-2, true, [1.30, 1.15, 2.0, 1.3]),
        (1e-4, true, [1.24, 1.15, 2.0, 1.3]),
        (1e-5, true, [1.24, 1.15, 2.0, 1.3]),
        (1e-6, true, [1.37, 1.17, 2.0, 1.3]),
        (1e-2, false, [1.37, 1.15, 2.0, 1.3]),
        (1e-4, false, [1.60, 1.30, 2.2, 1.3]),
    ] {
        if paired && PairAccess::detect().is_none() {
            continue;
        }
        let (first, most, counts) = (100_000_u64, 100_000_000_u64, 64);
        let plan = Plan::with_buckets(first, most, rate, paired).unwrap();
        let (mut worst, mut sum, mut ends) = (0.0_f64, 0.0, [0.0; 2]);
        for number in 0..counts {
            let grown =
                libm::pow(most as f64 / first as f64, f64::from(number) / f64::from(counts - 1));
            let items = (first as f64 * grown) as u64;
            let bytes = bytes_for(&plan, items) as f64;
            let fixed = |rate| Geometry::for_items(items, rate).unwrap().size_in_bytes() as f64;
            let ratio = bytes / fixed(plan.rate_at(items));
            (worst, sum) = (worst.max(ratio), sum + ratio);
            if number == 0 {
                ends[0] = bytes / fixed(rate);
            }
            ends[1] = bytes / fixed(rate);
        }
        let found = [worst, sum / f64::from(counts), ends[0], ends[1]];
        assert!(found.iter().zip(bounds).all(|(&found, bound)| found <= bound), "{found:?}");
    }
}
