//! How much the filters take: the load at the first refusal, the capacity that they promise, and copies.
//!
//! Everything is seeded, so that a test passes or fails for good. `examples/load.rs` fills one filter of
//! any size.

mod common;

use common::sample;
use tamis_cuckoo::{CuckooFilter, Geometry, InsertError};
use tamis_hash::{HashItem as _, Rapid};

type Filter = CuckooFilter<u64, Rapid>;

/// Slots, bits of a slot, and a rate for which large filters have this shape.
const SHAPES: [(u32, u32, f64); 6] =
    [(8, 8, 0.07), (4, 8, 0.03), (5, 12, 0.01), (4, 16, 1e-3), (3, 20, 1e-5), (2, 32, 1e-9)];

/// The hash of item number `item` of those of a seed.
fn hash(seed: u64, item: u64) -> u64 {
    Rapid::with_seed(seed).hash_item(&item)
}

fn of_buckets(buckets: u64, slots: u32, bits: u32) -> Filter {
    let builder = Filter::builder_with_hasher(Rapid::with_seed(0)).buckets(buckets);
    builder.slots(slots).fingerprint_bits(bits).build().unwrap()
}

/// The loads at which so many filters first refuse an item, in order.
fn first_refusals(buckets: u64, slots: u32, bits: u32, seeds: u64) -> Vec<f64> {
    let mut filter = of_buckets(buckets, slots, bits);
    let mut loads: Vec<f64> = (0..seeds)
        .map(|seed| {
            filter.clear();
            let refused = (0..).find(|&item| filter.insert_hash(hash(seed, item)).is_err());
            assert_eq!(refused, Some(filter.len() as u64));
            filter.load_factor()
        })
        .collect();
    loads.sort_by(f64::total_cmp);
    loads
}

/// The least and the median load, over sizes of about so many slots: one whose buckets are a power of two
/// in number, and one whose are not.
fn check_first_refusals(
    (slots, bits): (u32, u32),
    sizes: &[u64],
    seeds: u64,
    (least, median): (f64, f64),
) {
    for size in sizes {
        let round = (size / u64::from(slots)).next_multiple_of(2);
        assert!(!round.is_power_of_two());
        for buckets in [round, round.next_power_of_two()] {
            let loads = first_refusals(buckets, slots, bits, seeds);
            let of_these = (loads[0], loads[loads.len() / 2]);
            assert!(
                of_these.0 >= least && of_these.1 >= median,
                "{slots}x{bits}, {buckets} buckets: least and median {of_these:?}"
            );
        }
    }
}

#[test]
fn four_slots_fill_to_95_per_cent() {
    check_first_refusals((4, 16), &[1000, 10_000, 100_000], 50, (0.94, 0.95));
}

/// In so large a filter the load hardly varies: a few seeds say as much.
#[test]
fn a_million_slots_in_fours_fill_to_95_per_cent() {
    check_first_refusals((4, 16), &[1_000_000], 5, (0.94, 0.95));
}

#[test]
fn two_slots_fill_to_84_per_cent() {
    check_first_refusals((2, 32), &[1000, 10_000, 100_000], 50, (0.82, 0.84));
}

#[test]
fn eight_slots_fill_to_98_per_cent() {
    check_first_refusals((8, 8), &[1000, 10_000, 100_000], 50, (0.96, 0.98));
}

/// The smallest filter of a shape that the builder gives for so many items, if it gives one: over rates
/// from high to low, since for a few items a rate does not tell the shape.
fn for_items(items: u64, (slots, bits): (u32, u32)) -> Option<Geometry> {
    let of_rate = |step| {
        let builder = CuckooFilter::<u64>::builder().capacity(items as usize);
        builder.false_positive_rate(0.8_f64.powi(step)).geometry().ok()
    };
    let of_shape = |sizes: &Geometry| (sizes.slots(), sizes.fingerprint_bits()) == (slots, bits);
    (1..130).filter_map(of_rate).filter(of_shape).min_by_key(Geometry::buckets)
}

/// Of filters for so many items, those that refuse one.
fn refusals(geometry: Geometry, items: u64, seeds: core::ops::Range<u64>) -> usize {
    let builder = Filter::builder_with_hasher(Rapid::with_seed(0)).like(geometry);
    let mut filter = builder.capacity(items as usize).build().unwrap();
    let refuses = |&seed: &u64| {
        filter.clear();
        (0..items).any(|item| filter.insert_hash(hash(seed, item)).is_err())
    };
    seeds.filter(refuses).count()
}

/// Filters of each shape, from one item to some hundreds. POWER: if one in 14,000 of them refused an item, this would be
/// found with a chance of 0.999, in the long form one in 140,000.
#[test]
fn small_filters_take_their_capacity() {
    let spread = [45, 50, 60, 70, 80, 100, 120, 150, 200, 250, 300, 400, 500, 600, 800];
    for (slots, bits, _) in SHAPES {
        let sizes = (1..=40).chain(spread);
        let sizes = sizes.filter_map(|items| Some((items, for_items(items, (slots, bits))?)));
        let sizes: Vec<(u64, Geometry)> = sizes.collect();
        assert!(sizes.len() > 15, "{slots}x{bits} is given for {} sizes", sizes.len());
        let seeds = sample(100_000, 1_000_000).div_ceil(sizes.len() as u64);
        for (items, geometry) in sizes {
            let from = items * seeds;
            let refused = refusals(geometry, items, from..from + seeds);
            assert_eq!(refused, 0, "of {seeds} for {items} items: {geometry:?}");
        }
    }
}

/// What `with_capacity` gives is rarely as tight as can be: buckets come in pairs. Filters made from
/// buckets, filled to the capacity that they state, are.
#[test]
fn filters_made_from_buckets_take_the_capacity_that_they_state() {
    for (slots, bits, _) in SHAPES {
        for buckets in (1..=20).map(|size| 2 * size).chain([60, 100, 200, 400]) {
            let geometry = of_buckets(buckets, slots, bits).geometry();
            let refused = refusals(geometry, geometry.capacity() as u64, 0..1000);
            assert_eq!(refused, 0, "of 1000: {geometry:?}");
        }
    }
}

#[test]
fn larger_filters_take_their_capacity() {
    for (slots, bits, rate) in SHAPES {
        for (items, seeds) in
            [(1000, 2000), (3000, 600), (10_000, 200), (30_000, 60), (100_000, 20), (1_000_000, 2)]
        {
            let builder = CuckooFilter::<u64>::builder().capacity(items).false_positive_rate(rate);
            let geometry = builder.geometry().unwrap();
            assert_eq!((geometry.slots(), geometry.fingerprint_bits()), (slots, bits));
            let refused = refusals(geometry, items as u64, 0..seeds);
            assert_eq!(refused, 0, "of {seeds} for {items} items: {geometry:?}");
        }
    }
}

/// What the tests of the capacity would see if it were 3 % higher.
#[test]
fn filters_do_not_take_much_more_than_their_capacity() {
    for (slots, bits, rate) in SHAPES {
        let builder = CuckooFilter::<u64>::builder().capacity(30_000).false_positive_rate(rate);
        let refused = refusals(builder.geometry().unwrap(), 31_500, 0..20);
        assert!(refused > 10, "{slots}x{bits}: {refused} of 20");
    }
}

/// Twice as many copies of an item as a bucket has slots; the others move out of their way. (One with the same
/// two buckets could not: there are so many buckets that no other item has them.)
#[test]
fn as_many_copies_as_two_buckets_have_slots() {
    for (slots, bits, _) in SHAPES {
        for buckets in [4096, 10_000] {
            let filter = of_buckets(buckets, slots, bits);
            let others = buckets * u64::from(slots) / 3;
            (0..others).for_each(|item| filter.insert_hash(hash(1, item)).unwrap());
            // One that is not taken for another.
            let copied = (0..).map(|item| hash(2, item)).find(|&hash| !filter.contains_hash(hash));
            let (copied, copies) = (copied.unwrap(), 2 * slots);
            for copy in 0..copies {
                assert_eq!(filter.count_hash(copied), copy);
                assert_eq!(filter.insert_hash(copied), Ok(()), "{slots}x{bits}: copy {copy}");
            }
            assert_eq!(filter.insert_hash(copied), Err(InsertError::TooManyCopies));
            assert_eq!(filter.count_hash(copied), copies);
            // Other items are not concerned, and with one copy fewer the item is not either.
            (0..10).for_each(|item| filter.insert_hash(hash(3, item)).unwrap());
            assert!((0..others).all(|item| filter.contains_hash(hash(1, item))));
            assert!(filter.remove_hash(copied));
            assert_eq!(filter.insert_hash(copied), Ok(()));
            assert_eq!(filter.len(), (others + u64::from(copies) + 10) as usize);
        }
    }
}

/// Too many copies are told from a full filter, though both would be if a search were made: it is seen
/// in the two buckets.
#[test]
fn too_many_copies_are_seen_before_any_search() {
    for (slots, bits, _) in SHAPES {
        let filter = of_buckets(100, slots, bits);
        let copied = hash(2, 0);
        (0..2 * slots).for_each(|_| filter.insert_hash(copied).unwrap());
        let inserted: Vec<u64> = (0..3000)
            .map(|item| hash(1, item))
            .filter(|&other| filter.insert_hash(other).is_ok())
            .collect();
        let more = (3000..3100).map(|item| filter.insert_hash(hash(1, item)));
        assert!(more.filter(|&result| result == Err(InsertError::Full)).count() > 80);
        let before = (filter.len(), filter.false_positive_rate());
        for _ in 0..10 {
            assert_eq!(filter.insert_hash(copied), Err(InsertError::TooManyCopies));
        }
        assert_eq!((filter.len(), filter.false_positive_rate()), before);
        assert!(inserted.iter().all(|&other| filter.contains_hash(other)));
    }
}
