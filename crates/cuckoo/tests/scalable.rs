//! The filter that grows: against an exact multiset, across slices, while items come and go,
//! and under threads.

use std::collections::HashMap;
use std::thread;

use proptest::prelude::*;
use statrs::distribution::{Binomial, DiscreteCDF};
use tamis_cuckoo::{BuildError, Filter as _, InsertError, ScalableBuilder, ScalableCuckooFilter};
use tamis_hash::{HashItem, Rapid};

type Filter = ScalableCuckooFilter<u64, Rapid>;

fn filter(first: usize, most: usize, rate: f64) -> Filter {
    ScalableBuilder::new(Rapid::with_seed(3))
        .capacity(first)
        .max_capacity(most)
        .false_positive_rate(rate)
        .build()
        .unwrap()
}

/// Returns two items that the filter cannot distinguish, by asking a filter that contains only one
/// of them.
fn indistinguishable(first: usize, most: usize, rate: f64) -> (u64, u64) {
    let one = filter(first, most, rate);
    one.insert(&0).unwrap();
    (0, (1..).find(|item| one.contains(item)).unwrap())
}

/// The trap of slices of unlike geometry: x is in the first slice, y of the same class in
/// the second. A removal of x takes the copy in the second, which was y's. The one in the first
/// stands for y.
#[test]
fn a_removal_may_take_a_match_from_another_slice() {
    const SIZES: (usize, usize, f64) = (3000, 20_000, 0.05);
    let (x, y) = indistinguishable(SIZES.0, SIZES.1, SIZES.2);
    let filter = filter(SIZES.0, SIZES.1, SIZES.2);
    filter.insert(&x).unwrap();
    let only_x = filter.clone();
    // Items of other classes fill the first slice.
    let mut others = (1_000_000..).filter(|item| !only_x.contains(item));
    while filter.slices() == 1 {
        filter.insert(&others.next().unwrap()).unwrap();
    }
    filter.insert(&y).unwrap();
    assert_eq!(filter.count(&x), 2, "one copy in each slice");
    assert!(filter.remove(&x));
    assert!(filter.contains(&y), "the removal of x has lost y");
    assert!(filter.remove(&y));
    assert_eq!(filter.count(&y), 0);
}

/// Items come and go at a steady number, for a hundred times the capacity: the filter does not
/// grow. (It has room for 5 % more.)
#[test]
fn a_filter_of_steady_size_does_not_grow() {
    const ITEMS: u64 = 10_000;
    let filter = filter(ITEMS as usize + 500, 1 << 20, 1e-3);
    for item in 0..100 * ITEMS {
        filter.insert(&item).unwrap();
        if let Some(old) = item.checked_sub(ITEMS) {
            assert!(filter.remove(&old));
        }
    }
    assert_eq!((filter.len() as u64, filter.slices()), (ITEMS, 1));
    assert!((99 * ITEMS..100 * ITEMS).all(|item| filter.contains(&item)));
}

/// The same after growth and the removal of most items: the room in the slices that are there
/// is used.
#[test]
fn room_in_any_slice_is_used_again() {
    let filter = filter(4000, 1 << 20, 1e-3);
    filter.try_extend(0..100_000).unwrap();
    let slices = filter.slices();
    for round in 0..20 {
        let items = 100_000 * round..100_000 * (round + 1);
        assert!(items.clone().all(|item| filter.remove(&item)));
        filter.try_extend(items.map(|item| item + 100_000)).unwrap();
    }
    assert_eq!(filter.slices(), slices);
}

/// A large empty slice gives its memory back, and takes items again. Small ones keep theirs.
#[test]
fn empty_slices_give_their_memory_back() {
    const FIRST: u64 = 4_500_000;
    let large = filter(FIRST as usize, 4 * FIRST as usize, 1e-3);
    large.try_extend(0..FIRST + FIRST / 2).unwrap();
    let small = filter(4000, 1 << 20, 1e-3);
    small.try_extend(0..100_000).unwrap();
    let items = large.len() as u64;
    assert!(large.slices() == 2 && small.slices() > 3, "{large:?} {small:?}");
    for (filter, items) in [(&large, items), (&small, 100_000)] {
        let full = filter.size_in_bytes();
        (0..items).for_each(|item| assert!(filter.remove(&item)));
        filter.release_empty();
        let is_large = items > FIRST;
        let less = filter.size_in_bytes() < full;
        assert_eq!(less, is_large && cfg!(target_os = "linux"), "{filter:?}");
        filter.try_extend(0..items / 4).unwrap();
        assert!((0..items / 4).all(|item| filter.contains(&item)));
        assert_eq!(filter.len() as u64, items / 4);
    }
}

/// The maximum is held, at the rate, and beyond it inserts fail and change nothing.
#[test]
fn it_holds_its_maximum_at_its_rate() {
    const MOST: u64 = 200_000;
    const RATE: f64 = 1e-2;
    let filter = filter(3000, MOST as usize, RATE);
    for stage in [1000, 10_000, MOST] {
        let start = filter.len() as u64;
        filter.try_extend(start..stage).unwrap();
        assert!((0..stage).all(|item| filter.contains(&item)));
        let expected = filter.false_positive_rate_at(stage as usize);
        let reported = filter.false_positive_rate();
        assert!(
            expected <= RATE && (reported / expected - 1.0).abs() < 0.05,
            "{reported} {expected}"
        );
        // The measured rate is that of the contents.
        let queries = crate::common::sample(1_000_000, 20_000_000);
        let hits = (1 << 40..(1 << 40) + queries).filter(|item| filter.contains(item)).count();
        let binomial = Binomial::new(reported, queries).unwrap();
        let (low, high) = (binomial.inverse_cdf(0.5e-6), binomial.inverse_cdf(1.0 - 0.5e-6));
        assert!((low..=high).contains(&(hits as u64)), "{hits} of {queries}, {reported}");
    }
    let more = (MOST..).take_while(|item| filter.insert(item).is_ok()).count() as u64;
    assert_eq!(filter.insert(&(MOST + more)), Err(InsertError::Full));
    assert_eq!(filter.len() as u64, MOST + more);
    assert!((0..MOST + more).all(|item| filter.contains(&item)));
    assert!(filter.saturation() > 1.0);
}

#[test]
fn copies_are_counted_over_all_slices() {
    let filter = filter(3000, 1 << 20, 1e-3);
    let mut copies = 0;
    for round in 0..5 {
        while filter.insert(&7).is_ok() {
            copies += 1;
        }
        assert_eq!(filter.insert(&7), Err(InsertError::TooManyCopies));
        assert_eq!(filter.count(&7), copies);
        // Other items make the filter grow, and then there is room for more copies.
        let start = 100 + 20_000 * round;
        filter.try_extend(start..start + 20_000).unwrap();
    }
    assert!(filter.slices() > 3 && copies > 20);
    (0..copies).for_each(|_| assert!(filter.remove(&7)));
    assert!(!filter.remove(&7) || filter.false_positive_rate() > 0.0);
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u64, u32),
    Remove(usize),
    Snapshot,
    Clear,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        20 => (0..2000_u64, 1..400_u32).prop_map(|(item, count)| Step::Insert(item, count)),
        20 => (0..100_000_usize).prop_map(Step::Remove),
        1 => Just(Step::Snapshot),
        1 => Just(Step::Clear),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::common::sample(24, 1000) as u32))]

    /// Runs of inserts and removals of what is present, against an exact multiset: no item is ever
    /// missed, and counts are never too low.
    #[test]
    fn it_agrees_with_a_multiset(steps in steps()) {
        let mut filter = filter(500, 100_000, 0.01);
        let mut exact: HashMap<u64, u32> = HashMap::new();
        let mut order: Vec<u64> = Vec::new();
        for step in steps {
            match step {
                Step::Insert(start, count) => {
                    for item in start..start + u64::from(count) {
                        if filter.insert(&item).is_ok() {
                            *exact.entry(item).or_default() += 1;
                            order.push(item);
                        }
                    }
                }
                Step::Remove(count) => {
                    for _ in 0..count.min(order.len()) / 2 {
                        let at = count % order.len();
                        let item = order.swap_remove(at);
                        prop_assert!(filter.remove(&item));
                        *exact.get_mut(&item).unwrap() -= 1;
                    }
                }
                Step::Snapshot => filter = filter.clone(),
                Step::Clear => {
                    filter.clear();
                    exact.clear();
                    order.clear();
                }
            }
            prop_assert_eq!(filter.len(), order.len());
        }
        for (item, &count) in &exact {
            prop_assert!(filter.count(item) >= count);
            prop_assert!(count == 0 || filter.contains(item));
        }
        let answers = filter.contains_many(0..2500_u64);
        prop_assert!(answers.iter().zip(0..).all(|(&hit, item)| hit == filter.contains(&item)));
    }
}

/// Four threads insert and remove their own items while the filter grows from one small slice;
/// each finds its items all the time. A fifth gives back the pages of empty slices, and takes
/// snapshots.
#[test]
fn threads_find_their_items_while_the_filter_grows_and_shrinks() {
    const THREADS: u64 = 4;
    let items = crate::common::sample(60_000, 2_000_000);
    let filter = filter(1000, (THREADS * items) as usize, 1e-3);
    let hasher = Rapid::with_seed(3);
    let done = tamis_sync::Counter::zeroed(8).unwrap();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (filter, hasher, done) = (&filter, &hasher, &done);
            scope.spawn(move || {
                let own = |number: u64| number * THREADS + thread;
                for number in 0..items {
                    filter.insert(&own(number)).unwrap();
                    // A random earlier item that is still there: two in three are.
                    let earlier = hasher.hash_item(&number) % (number + 1);
                    assert!(
                        earlier.is_multiple_of(3) && earlier + 1000 <= number
                            || filter.contains(&own(earlier)),
                        "missed"
                    );
                    // Remove every third one, a thousand items later.
                    if number >= 1000 && (number - 1000).is_multiple_of(3) {
                        assert!(filter.remove(&own(number - 1000)));
                    }
                }
                done.add(1);
            });
        }
        scope.spawn(|| {
            while done.get() < THREADS {
                filter.release_empty();
                let copy = filter.clone();
                assert_eq!(copy.len() as f64, copy.figures().items.value);
                thread::yield_now();
            }
        });
    });
    let removed = |number: u64| number + 1000 < items && number.is_multiple_of(3);
    for item in (0..THREADS * items).filter(|item| !removed(item / THREADS)) {
        assert!(filter.contains(&item), "{item}");
    }
    let left = (0..items).filter(|&number| !removed(number)).count() as u64;
    assert_eq!(filter.len() as u64, THREADS * left);
    assert!(filter.slices() > 4);
}

/// Numbers at the ends of their ranges give a filter or a typed error, never a panic, and in no
/// time.
#[test]
fn extreme_sizes_are_typed_errors() {
    let rates = [1e-300, 1e-18, 1e-9, 0.5, 1.0 - f64::EPSILON, f64::NAN, 0.0, 1.0, -1.0];
    let sizes = [0, 1, 1 << 40, usize::MAX / 1024, usize::MAX - 1, usize::MAX];
    for rate in rates {
        for (capacity, most) in sizes.into_iter().flat_map(|first| sizes.map(|most| (first, most)))
        {
            let builder = ScalableCuckooFilter::<u64>::builder()
                .hasher(Rapid::with_seed(3))
                .capacity(capacity);
            let built = builder.max_capacity(most).false_positive_rate(rate).build();
            match built {
                Ok(filter) => {
                    assert!(capacity < 2 && rate > 0.0 && rate < 1.0, "{capacity} {most} {rate}");
                    filter.insert(&1).unwrap();
                    assert!(filter.contains(&1));
                }
                Err(BuildError::Rate { .. }) => assert!(!(rate > 0.0 && rate < 1.0)),
                Err(BuildError::RateTooLow { lowest, .. }) => assert!(lowest > rate),
                Err(_) => assert!(capacity >= 2, "{capacity} {most} {rate}"),
            }
        }
    }
}

/// A filter may have only items whose hashes have the same low bits, if a program has a filter for
/// each of them. Removals give pages back nevertheless.
#[test]
fn removals_give_back_pages_whatever_the_low_bits_of_the_hashes() {
    let hasher = Rapid::with_seed(3);
    // The first slice is large enough to have memory of the system.
    let hashes = || (0..6_750_000_u64).map(|item| hasher.hash_item(&item) << 8 | 1);
    let filter = filter(4_500_000, 18_000_000, 1e-3);
    hashes().for_each(|hash| filter.by_hash().insert(hash).unwrap());
    let full = filter.size_in_bytes();
    assert_eq!(filter.slices(), 2);
    hashes().for_each(|hash| assert!(filter.by_hash().remove(hash)));
    let is_less = filter.size_in_bytes() < full;
    assert_eq!(is_less, cfg!(target_os = "linux"), "nothing was given back");
}
