//! The sizes of a table that grows: its rate, its loads and its memory.

use core::cell::Cell;

use super::*;
use crate::growth::layout::Contents;
use crate::search::{Readable, Search};

#[test]
fn shapes_leave_two_bits_and_never_lose_a_slot() {
    for paired in [true, false] {
        let shapes = sequence(paired);
        for pair in shapes.windows(2) {
            assert!(pair[0].slots < pair[1].slots && pair[0].width > pair[1].width);
        }
        for shape in shapes {
            assert!(shape.slots * shape.width <= shape.bits - 2, "{shape:?}");
            assert_eq!(
                (shape.bits, shape.is_pair()),
                if paired { (128, true) } else { (64, false) }
            );
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

proptest! {
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
        let plan = Plan::with_buckets(first, most, rate, paired).unwrap();
        prop_assert!(plan.items(plan.first()) >= first && plan.capacity() >= most, "{plan:?}");
        prop_assert!(plan.rate_at(most) <= rate);
        // Buckets of every level count.
        for level in 0..plan.last_level() {
            let all = plan.positions() << level;
            let items = [0, all].map(|next| plan.items(Pointer { level, next }));
            prop_assert!(items[1] > items[0], "{plan:?}: level {level}");
        }
        let narrower = Plan { width: plan.width - 1, ..plan };
        let fewer = Plan { buckets: plan.buckets - 8, ..narrower };
        let least = sequence(paired).last().unwrap().width;
        if narrower.width >= least
            && narrower.checked().is_some()
            && narrower.capacity() >= most
            // With the same slots, the same loads, and as few buckets.
            && plan.items(plan.first()) == narrower.items(plan.first())
            && (plan.buckets * plan.bucket_bytes() == 8 << 10 || fewer.items(fewer.first()) < first) {
            prop_assert!(narrower.rate_at(most) > rate, "{plan:?}");
        }
        let Class { fingerprint, buckets } = Classifier::new(&plan).class(hash);
        prop_assert!(buckets.iter().all(|&position| position < plan.positions()));
        for level in 0..=plan.last_level() {
            let held = fingerprint >> level;
            prop_assert!(plan.may_hold(level, held) && held <= plan.shape(level).mask());
            prop_assert!(level == 0 || plan.shape(level).slots >= plan.shape(level - 1).slots);
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

/// A higher first capacity is not refused where a lower one is accepted.
#[test]
fn a_power_of_two_leads_as_far_as_fewer_buckets() {
    for (rate, most, paired, capacities) in [
        (0.05, 40_000_000_000, false, [1597, 1598, 2582, 2583]),
        (0.1, 53_000_000_000_000, true, [1278, 1279, 1437, 1500]),
    ] {
        for first in capacities {
            let plan = Plan::with_buckets(first, most, rate, paired).unwrap();
            assert!(plan.items(plan.first()) >= first && plan.capacity() >= most, "{plan:?}");
            assert!(plan.rate_at(most) <= rate, "{plan:?}");
        }
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
                let width = shapes[1].width + if eighths == 0 { 1 } else { 2 };
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
                let more = plan.capacity()..plan.capacity() + plan.capacity() / 100;
                assert!(more.map(hash).all(|hash| counted.insert(hash).is_ok()), "{plan:?}");
            }
        }
        assert!(tables >= 20, "{tables} tables");
    }
}

/// A table that counts the buckets that a search reads.
struct Read<'t> {
    table: &'t Table,
    count: Cell<u32>,
}

impl Readable for Read<'_> {
    fn len(&self) -> u64 {
        Readable::len(self.table)
    }

    fn read(&self, position: u64, whole: u64) -> Contents<'_> {
        self.count.set(self.count.get() + 1);
        self.table.peek(position, whole)
    }

    fn alternate(&self, whole: u64, position: u64) -> u64 {
        Readable::alternate(self.table, whole, position)
    }
}

/// Without a dip, the searches of an insert read several times the buckets in the middle of such a
/// doubling.
#[test]
fn searches_stay_short_where_the_number_of_slots_changes() {
    for (buckets, width, doublings, paired, most) in [
        (8192, 32, 12, true, 12.0),
        (8192, 26, 2, true, 11.0),
        (8192, 23, 8, true, 9.0),
        (16_384, 14, 4, false, 11.0),
    ] {
        let plan = Plan { buckets, width, doublings, paired };
        let changes = |level| plan.shape(level).slots != plan.shape(level + 1).slots;
        let level = (0..doublings).find(|&level| changes(level)).unwrap();
        if paired && PairAccess::detect().is_none() {
            continue;
        }
        let (table, len) = (Table::new(plan).unwrap(), Counter::zeroed(1).unwrap());
        let counted = Counted { table: &table, len: &len };
        let reads = Read { table: &table, count: Cell::new(0) };
        let mut search = Search::new();
        // The reads of the searches in each eighth of the level, and their number.
        let mut eighths = [(0, 0); 8];
        for number in 0.. {
            counted.insert(hash(number)).unwrap();
            let pointer = table.pointer();
            if pointer.level > level {
                break;
            }
            if pointer.level == level {
                let (all, searches) =
                    &mut eighths[(8 * pointer.next / (plan.positions() << level)) as usize];
                assert!(search.steps(class(&plan, !number), &reads).is_some());
                (*all, *searches) = (*all + reads.count.take(), *searches + 1);
            }
        }
        let means = eighths.map(|(reads, searches)| f64::from(reads) / f64::from(searches));
        assert!(means.iter().all(|&mean| mean < most), "{plan:?}: {means:?}");
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
/// for the same count: at the rate that this one has there, at the request times the share of the
/// maximum, and at the request. The bounds of the first two are for the worst count and for the
/// average, those of the last for the first count and for the maximum.
#[test]
fn the_size_stays_near_that_of_a_fixed_filter_at_every_count() {
    for (rate, paired, bounds) in [
        (1e-2, true, [[1.27, 1.10], [1.28, 1.15], [2.0, 1.3]]),
        (1e-4, true, [[1.23, 1.15], [1.23, 1.15], [2.0, 1.3]]),
        (1e-5, true, [[1.23, 1.15], [1.30, 1.19], [2.0, 1.3]]),
        (1e-6, true, [[1.37, 1.17], [1.46, 1.19], [2.0, 1.3]]),
        (1e-2, false, [[1.37, 1.15], [1.51, 1.21], [2.0, 1.3]]),
        (1e-4, false, [[1.60, 1.30], [1.60, 1.30], [2.2, 1.3]]),
    ] {
        if paired && PairAccess::detect().is_none() {
            continue;
        }
        let (first, most, counts) = (100_000_u64, 100_000_000_u64, 64);
        let plan = Plan::with_buckets(first, most, rate, paired).unwrap();
        let ratios: Vec<[f64; 3]> = (0..counts)
            .map(|number| {
                let grown = libm::pow(most as f64 / first as f64, f64::from(number) / 63.0);
                let items = (first as f64 * grown) as u64;
                let bytes = bytes_for(&plan, items) as f64;
                let share = rate * items as f64 / most as f64;
                [plan.rate_at(items), share, rate].map(|rate| {
                    bytes / Geometry::for_items(items, rate).unwrap().size_in_bytes() as f64
                })
            })
            .collect();
        let worst_and_average = |which: usize| {
            let of_it = ratios.iter().map(|ratios| ratios[which]);
            [of_it.clone().fold(0.0, f64::max), of_it.sum::<f64>() / f64::from(counts)]
        };
        let ends = [ratios[0][2], ratios[63][2]];
        let found = [worst_and_average(0), worst_and_average(1), ends];
        let pairs = found.as_flattened().iter().zip(bounds.as_flattened());
        assert!(pairs.clone().all(|(found, bound)| found <= bound), "{rate}: {found:.4?}");
    }
}
