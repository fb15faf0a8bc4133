//! The loads that filters reach: the load at the first failed insert, the stated capacity, and the
//! number of copies.
//!
//! Everything is seeded, so a test always passes or always fails. `examples/load.rs` fills one
//! filter of any size.

use crate::common::sample;
use tamis_cuckoo::{Builder, CuckooFilter, Geometry, InsertError};
use tamis_hash::{HashItem as _, Rapid};

type Filter = CuckooFilter<u64, Rapid>;

/// Returns the hash of item number `item` of a seed.
fn hash(seed: u64, item: u64) -> u64 {
    Rapid::with_seed(seed).hash_item(&item)
}

fn of_buckets(buckets: u64, slots: u32, bits: u32) -> Filter {
    let builder = Builder::<Filter>::new(Rapid::with_seed(0)).buckets(buckets);
    builder.slots(slots).fingerprint_bits(bits).build().unwrap()
}

/// Returns the loads at the first failed insert of one filter per seed, in ascending order.
fn loads_at_first_failure(buckets: u64, slots: u32, bits: u32, seeds: u64) -> Vec<f64> {
    let mut filter = of_buckets(buckets, slots, bits);
    let mut loads: Vec<f64> = (0..seeds)
        .map(|seed| {
            filter.clear();
            let failed = (0..).find(|&item| filter.by_hash().insert(hash(seed, item)).is_err());
            assert_eq!(failed, Some(filter.len() as u64));
            filter.load_factor()
        })
        .collect();
    loads.sort_by(f64::total_cmp);
    loads
}

/// Checks the lowest and the median load, for filters with about the given numbers of slots: one
/// whose number of buckets is a power of two, and one whose is not.
fn check_loads_at_first_failure(
    (slots, bits): (u32, u32),
    sizes: &[u64],
    seeds: u64,
    (least, median): (f64, f64),
) {
    for size in sizes {
        let round = (size / u64::from(slots)).next_multiple_of(2);
        assert!(!round.is_power_of_two());
        for buckets in [round, round.next_power_of_two()] {
            let loads = loads_at_first_failure(buckets, slots, bits, seeds);
            let found = (loads[0], loads[loads.len() / 2]);
            assert!(
                found.0 >= least && found.1 >= median,
                "{slots}x{bits}, {buckets} buckets: lowest and median load {found:?}"
            );
        }
    }
}

#[test]
fn filters_with_four_slots_fill_to_95_percent() {
    check_loads_at_first_failure((4, 16), &[1000, 10_000, 100_000], 50, (0.94, 0.95));
}

/// In a filter of this size the load hardly varies, so a few seeds are enough.
#[test]
fn a_million_slots_in_buckets_of_four_fill_to_95_percent() {
    check_loads_at_first_failure((4, 16), &[1_000_000], 5, (0.94, 0.95));
}

#[test]
fn filters_with_two_slots_fill_to_84_percent() {
    check_loads_at_first_failure((2, 32), &[1000, 10_000, 100_000], 50, (0.82, 0.84));
}

#[test]
fn filters_with_eight_slots_fill_to_98_percent() {
    check_loads_at_first_failure((8, 8), &[1000, 10_000, 100_000], 50, (0.96, 0.98));
}

/// Returns the smallest geometry of a shape that states a capacity of at least `items`.
fn for_items(items: u64, (slots, bits): (u32, u32)) -> Geometry {
    let of = |buckets| {
        let builder = CuckooFilter::<u64>::builder().buckets(buckets).slots(slots);
        builder.fingerprint_bits(bits).geometry().unwrap()
    };
    let least = (items / u64::from(slots)).next_multiple_of(2).max(2);
    let sizes = (least..).step_by(2).map(of);
    sizes.into_iter().find(|geometry| geometry.capacity() as u64 >= items).unwrap()
}

/// Counts the seeds whose items do not all fit into a filter of this geometry.
fn failures(geometry: Geometry, items: u64, seeds: core::ops::Range<u64>) -> usize {
    let builder = Builder::<Filter>::new(Rapid::with_seed(0)).like(geometry);
    let mut filter = builder.capacity(items as usize).build().unwrap();
    let fails = |&seed: &u64| {
        filter.clear();
        (0..items).any(|item| filter.by_hash().insert(hash(seed, item)).is_err())
    };
    seeds.filter(fails).count()
}

/// Filters of each shape, from one item to some hundreds. POWER: if one filter in 14,000 failed to
/// insert an item, this would be found with probability 0.999, and in the long form if one in
/// 140,000 did.
#[test]
fn small_filters_hold_their_capacity() {
    let spread = [45, 50, 60, 70, 80, 100, 120, 150, 200, 250, 300, 400, 500, 600, 800];
    for (slots, bits) in Geometry::shapes() {
        let sizes: Vec<u64> = (1..=40).chain(spread).collect();
        let seeds = sample(100_000, 1_000_000).div_ceil(sizes.len() as u64);
        for items in sizes {
            let geometry = for_items(items, (slots, bits));
            let from = items * seeds;
            let failed = failures(geometry, items, from..from + seeds);
            assert_eq!(failed, 0, "failures of {seeds} filters for {items} items: {geometry:?}");
        }
    }
}

/// A filter of `with_capacity` usually has room to spare, because buckets come in pairs. Filters
/// sized by buckets and filled to the capacity that they state have none.
#[test]
fn filters_sized_by_buckets_hold_their_stated_capacity() {
    for (slots, bits) in Geometry::shapes() {
        for buckets in (1..=20).map(|size| 2 * size).chain([60, 100, 200, 400]) {
            let geometry = of_buckets(buckets, slots, bits).geometry();
            let failed = failures(geometry, geometry.capacity() as u64, 0..1000);
            assert_eq!(failed, 0, "failures of 1000 filters: {geometry:?}");
        }
    }
}

/// The sizes that the builder chooses for a capacity and a rate.
#[test]
fn filters_of_any_rate_hold_their_capacity() {
    for step in 1..40 {
        let builder = CuckooFilter::<u64>::builder().capacity(10_000);
        let Ok(geometry) = builder.false_positive_rate(0.5_f64.powi(step)).geometry() else {
            break;
        };
        let failed = failures(geometry, 10_000, 0..10);
        assert_eq!(failed, 0, "failures of 10 filters at 2^-{step}: {geometry:?}");
    }
}

/// Filters of each shape with the same number of items in all for each size. POWER: for a million
/// items, and in the long form three millions, a failure of one filter of 10,000 items in 15, or in
/// 45, is found with probability 0.999.
#[test]
fn larger_filters_hold_their_capacity() {
    for (slots, bits) in Geometry::shapes() {
        for items in [1000, 3000, 10_000, 30_000, 100_000, 1_000_000] {
            let seeds = sample(1_000_000, 3_000_000) / items;
            let geometry = for_items(items, (slots, bits));
            let failed = failures(geometry, items, 0..seeds);
            assert_eq!(failed, 0, "failures of {seeds} filters for {items} items: {geometry:?}");
        }
    }
}

/// The control: the tests of the capacity would detect a capacity that is 5 % too high.
#[test]
fn filters_do_not_hold_much_more_than_their_capacity() {
    for (slots, bits) in Geometry::shapes() {
        let failed = failures(for_items(30_000, (slots, bits)), 31_500, 0..20);
        assert!(failed > 10, "{slots}x{bits}: {failed} of 20 filters failed");
    }
}

/// A filter holds twice as many copies of an item as a bucket has slots; other items are relocated
/// out of their way. (An item with the same two buckets could not be, but with this number of
/// buckets, no other item has them.)
#[test]
fn an_item_has_at_most_two_buckets_of_copies() {
    for (slots, bits) in Geometry::shapes() {
        for buckets in [4096, 10_000] {
            let filter = of_buckets(buckets, slots, bits);
            let others = buckets * u64::from(slots) / 3;
            (0..others).for_each(|item| filter.by_hash().insert(hash(1, item)).unwrap());
            // An item that the filter distinguishes from the others.
            let copied =
                (0..).map(|item| hash(2, item)).find(|&hash| !filter.by_hash().contains(hash));
            let (copied, copies) = (copied.unwrap(), 2 * slots);
            for copy in 0..copies {
                assert_eq!(filter.by_hash().count(copied), copy);
                assert_eq!(filter.by_hash().insert(copied), Ok(()), "{slots}x{bits}: copy {copy}");
            }
            assert_eq!(filter.by_hash().insert(copied), Err(InsertError::TooManyCopies));
            assert_eq!(filter.by_hash().count(copied), copies);
            // Other items can still be inserted. With one copy fewer, the item can too.
            (0..10).for_each(|item| filter.by_hash().insert(hash(3, item)).unwrap());
            assert!((0..others).all(|item| filter.by_hash().contains(hash(1, item))));
            assert!(filter.by_hash().remove(copied));
            assert_eq!(filter.by_hash().insert(copied), Ok(()));
            assert_eq!(filter.len(), (others + u64::from(copies) + 10) as usize);
        }
    }
}

/// `TooManyCopies` is detected in the two buckets, before any search. In this full filter, a search
/// would return `Full`.
#[test]
fn too_many_copies_are_detected_before_a_search() {
    for (slots, bits) in Geometry::shapes() {
        let filter = of_buckets(100, slots, bits);
        let copied = hash(2, 0);
        (0..2 * slots).for_each(|_| filter.by_hash().insert(copied).unwrap());
        let inserted: Vec<u64> = (0..3000)
            .map(|item| hash(1, item))
            .filter(|&other| filter.by_hash().insert(other).is_ok())
            .collect();
        let more = (3000..3100).map(|item| filter.by_hash().insert(hash(1, item)));
        assert!(more.filter(|&result| result == Err(InsertError::Full)).count() > 80);
        let before = (filter.len(), filter.false_positive_rate());
        for _ in 0..10 {
            assert_eq!(filter.by_hash().insert(copied), Err(InsertError::TooManyCopies));
        }
        assert_eq!((filter.len(), filter.false_positive_rate()), before);
        assert!(inserted.iter().all(|&other| filter.by_hash().contains(other)));
    }
}
