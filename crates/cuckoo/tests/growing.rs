//! Filters that grow: against an exact multiset, while items come and go, at their rate and their
//! size.

use std::collections::HashMap;
use std::hash::{BuildHasher, DefaultHasher};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use statrs::distribution::{Binomial, DiscreteCDF};
use tamis_cuckoo::{
    BuildError, Builder, CuckooFilter, Filter as _, Geometry, InsertError, OnceCuckooFilter,
};
use tamis_hash::Rapid;

type Filter = CuckooFilter<u64, Rapid>;
type Once = OnceCuckooFilter<u64, Rapid>;

fn filter(first: usize, most: usize, rate: f64) -> Filter {
    Builder::new(Rapid::with_seed(3))
        .capacity(first)
        .max_capacity(most)
        .false_positive_rate(rate)
        .build()
        .unwrap()
}

fn once(first: usize, most: usize, rate: f64) -> Once {
    Builder::new(Rapid::with_seed(3))
        .capacity(first)
        .max_capacity(most)
        .false_positive_rate(rate)
        .build()
        .unwrap()
}

/// Items come and go at a steady number, for a hundred times the capacity: the filter does not
/// grow.
#[test]
fn a_filter_of_steady_size_does_not_grow() {
    const ITEMS: u64 = 10_000;
    let filter = filter(ITEMS as usize + 500, 1 << 20, 1e-3);
    let size = filter.size_in_bytes();
    for item in 0..100 * ITEMS {
        filter.insert(&item).unwrap();
        if let Some(old) = item.checked_sub(ITEMS) {
            assert!(filter.remove(&old));
        }
    }
    assert_eq!((filter.len() as u64, filter.size_in_bytes()), (ITEMS, size));
    assert!((99 * ITEMS..100 * ITEMS).all(|item| filter.contains(&item)));
}

/// Copies of a few items share buckets at every size. The filter doubles at most three times for
/// them, instead of growing to its bound, and takes new items all the same. If the copies of each
/// item come together, these new items make it grow further.
#[test]
fn copies_of_a_few_items_do_not_fill_the_memory() {
    const ITEMS: u64 = 1000;
    for (copies, rate) in [(6, 1e-6), (8, 1e-6), (20, 1e-2)] {
        let together = filter(6000, 1_000_000_000, rate);
        for item in 0..ITEMS {
            assert_eq!(together.insert(&item), Ok(()));
            (1..copies).for_each(|_| _ = together.insert(&item));
        }
        assert!(together.load_factor() > 0.8 / 64.0, "{together:?}");
        let filter = filter(6000, 1_000_000_000, rate);
        let mut refused = 0;
        for item in (0..copies).flat_map(|_| 0..ITEMS) {
            match filter.insert(&item) {
                Ok(()) => {}
                Err(InsertError::TooManyCopies) => refused += 1,
                Err(error) => panic!("{error}"),
            }
        }
        // A table for all of them is filled to 80 % at least, just before it splits.
        assert!(refused > 0 && filter.load_factor() > 0.8 / 8.0 / 1.1, "{filter:?}");
        assert_eq!(filter.len() as u64 + refused, copies * ITEMS);
        assert!((0..ITEMS).all(|item| filter.contains(&item)));
        filter.try_extend(ITEMS..20_000).unwrap();
    }
}

/// The same after growth and the removal of most items.
#[test]
fn room_is_used_again() {
    let filter = filter(4000, 1 << 20, 1e-3);
    filter.try_extend(0..100_000).unwrap();
    let size = filter.size_in_bytes();
    for round in 0..20 {
        let items = 100_000 * round..100_000 * (round + 1);
        assert!(items.clone().all(|item| filter.remove(&item)));
        assert!(filter.is_empty());
        filter.try_extend(items.map(|item| item + 100_000)).unwrap();
    }
    // One insert in 16 looks at the size, so it may lag by some portions.
    assert!(filter.size_in_bytes() <= size + 4096);
}

/// The smallest filter, with all that it allocates.
#[test]
fn a_filter_for_ten_items_takes_16_kib() {
    let small = filter(10, 1_000_000, 1e-2);
    assert!(small.size_in_bytes() <= 16 << 10, "{}", small.size_in_bytes());
    let inserted = (0..).take_while(|item| small.insert(item).is_ok()).count();
    assert!(inserted >= 1_000_000, "the first refusal came at {inserted}");
    assert_eq!(small.insert(&(inserted as u64)), Err(InsertError::Full));
}

/// The rate decides the load at which buckets split. With each, inserts go on for a twentieth more
/// items than the capacity at least.
#[test]
fn the_first_refusal_comes_well_after_the_capacity() {
    for rate in [1e-2, 1e-3, 1e-4, 1e-5] {
        let filter = filter(1000, 50_000, rate);
        let capacity = filter.geometry().capacity();
        let inserted = (0..).take_while(|item| filter.insert(item).is_ok()).count();
        assert!(capacity >= 50_000 && inserted >= capacity + capacity / 20, "{rate}: {inserted}");
        assert_eq!(filter.insert(&(inserted as u64)), Err(InsertError::Full));
    }
}

/// Queries find every item, and no absent item more often, at every size of the table: after each
/// portion that is split.
#[test]
fn no_split_changes_an_answer() {
    for rate in [0.05, 1e-4, 1e-7] {
        let filter = filter(1000, 60_000, rate);
        let (mut size, mut sizes) = (0, 0);
        let queries = || (0..200_000_u64).step_by(7);
        let mut answers: Vec<bool> = queries().map(|item| filter.contains(&item)).collect();
        for item in 0..30_000 {
            filter.insert(&item).unwrap();
            if filter.size_in_bytes() == size {
                continue;
            }
            (size, sizes) = (filter.size_in_bytes(), sizes + 1);
            if sizes % 16 == 0 {
                // A hit stays one, and each inserted item is one.
                let now: Vec<bool> = queries().map(|item| filter.contains(&item)).collect();
                assert!(now.iter().zip(&answers).all(|(&now, &before)| now || !before));
                assert!(now.iter().zip(queries()).all(|(&hit, query)| hit || query > item));
                answers = now;
            }
        }
        assert!(sizes > 500, "{sizes} sizes");
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
        let expected = filter.geometry().false_positive_rate_at(stage as usize);
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
fn copies_of_an_item_are_counted_and_limited() {
    let filter = filter(3000, 1 << 20, 1e-3);
    let mut copies = 0;
    for round in 0..5 {
        while filter.insert(&7).is_ok() {
            copies += 1;
        }
        assert_eq!(filter.insert(&7), Err(InsertError::TooManyCopies));
        assert!(filter.count(&7) >= copies);
        let start = 100 + 20_000 * round;
        filter.try_extend(start..start + 20_000).unwrap();
    }
    assert!(copies >= 2 * filter.geometry().slots());
    (0..copies).for_each(|_| assert!(filter.remove(&7)));
    // The seed is fixed: no other item is taken for this one.
    assert!(!filter.remove(&7));
    assert_eq!(filter.len(), 100_000);
}

#[test]
fn merged_filters_have_the_items_of_both() {
    let [a, b] = [filter(1000, 100_000, 1e-4), filter(1000, 100_000, 1e-4)];
    a.try_extend(0..3000).unwrap();
    b.try_extend(2000..40_000).unwrap();
    for (a, b) in [(&a, &b), (&b, &a)] {
        let merged = Filter::merge(a, b).unwrap();
        assert_eq!(merged.len(), 41_000);
        assert!((0..40_000).all(|item| merged.contains(&item)));
        assert!((2000..3000).all(|item| merged.count(&item) >= 2));
        assert!((0..40_000).chain(2000..3000).all(|item| merged.remove(&item)));
        assert!(merged.is_empty());
    }
    let [a, b] = [once(1000, 100_000, 1e-4), once(1000, 100_000, 1e-4)];
    a.try_extend(0..3000).unwrap();
    b.try_extend(2000..40_000).unwrap();
    let merged = Once::merge(&a, &b).unwrap();
    assert!((0..40_000).all(|item| merged.contains(&item)) && merged.len() <= 40_000);
}

/// A merge fills all buckets alike, so the filter grows as with inserts. A merge in the order of
/// the buckets searches for room in full ones, and ends with a smaller table.
#[test]
fn a_merged_filter_has_the_size_that_inserts_give() {
    let [a, b, all] = [(); 3].map(|()| filter(1000, 1 << 20, 0.01));
    a.try_extend(0..60_000).unwrap();
    b.try_extend(60_000..120_000).unwrap();
    all.try_extend(0..120_000).unwrap();
    let size = |filter: &Filter| filter.size_in_bytes() as f64;
    let ratio = size(&Filter::merge(&a, &b).unwrap()) / size(&all);
    assert!((0.98..1.02).contains(&ratio), "{ratio}");
}

/// A filter that has grown may hold more copies of an item than one that has not: its buckets have
/// more slots. They fit into the merged filter, whichever comes first.
#[test]
fn a_filter_that_has_grown_merges_into_a_smaller_one() {
    let [small, large] = [filter(1000, 1 << 20, 0.01), filter(1000, 1 << 20, 0.01)];
    large.try_extend(0..200_000).unwrap();
    (0..200_000).for_each(|item| assert!(large.remove(&item)));
    let copies = (0..).take_while(|_| large.insert(&7).is_ok()).count();
    assert!(copies > 2 * large.geometry().slots() as usize);
    small.insert(&8).unwrap();
    for merged in [Filter::merge(&small, &large), Filter::merge(&large, &small)] {
        let merged = merged.unwrap();
        assert_eq!((merged.count(&7) as usize, merged.count(&8)), (copies, 1));
    }
}

/// The largest number of items is never dropped in silence: it belongs to a capacity.
#[test]
fn growth_goes_with_a_capacity_only() {
    let builder = || Builder::<Filter>::new(Rapid::with_seed(3)).max_capacity(1 << 20);
    assert_eq!(builder().geometry().unwrap_err(), BuildError::Unsized);
    let sizes = builder().buckets(1000).slots(4).fingerprint_bits(16);
    assert_eq!(sizes.geometry().unwrap_err(), BuildError::Conflict);
    for other in [filter(1000, 0, 0.01), filter(1000, 1 << 20, 0.01)] {
        let like = builder().like(other.geometry());
        assert_eq!(like.geometry().unwrap_err(), BuildError::Conflict);
        let like: Filter = Builder::from(&other).build().unwrap();
        assert_eq!((like.geometry(), like.capacity()), (other.geometry(), other.capacity()));
    }
    // A capacity of 0 counts as 1.
    assert_eq!(filter(0, 1, 0.01).geometry().doublings(), 0);
    assert!(filter(0, 2, 0.01).geometry().doublings() > 0);
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

fn builder_of(capacity: usize, most: usize) -> Builder<Filter> {
    Builder::new(Rapid::with_seed(3)).capacity(capacity).max_capacity(most)
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
            let built = builder_of(capacity, most).false_positive_rate(rate).build();
            match built {
                Ok(filter) => {
                    assert!(capacity < 2 && rate > 0.0 && rate < 1.0, "{capacity} {most} {rate}");
                    filter.insert(&1).unwrap();
                    assert!(filter.contains(&1));
                }
                Err(BuildError::Rate { .. }) => assert!(!(rate > 0.0 && rate < 1.0)),
                Err(error @ BuildError::RateTooLow { lowest, .. }) => {
                    assert!(lowest > rate);
                    // Where no rate helps, the capacity is to blame.
                    let text = error.to_string();
                    let at_any = text.starts_with("the capacity is too high");
                    let builder = builder_of(capacity, most).false_positive_rate(1.0 - 1e-9);
                    assert_eq!(at_any, builder.geometry().is_err(), "{capacity} {most}: {text}");
                }
                // No machine has the memory.
                Err(_) => assert!(capacity.max(most) >= 1 << 40, "{capacity} {most} {rate}"),
            }
        }
    }
}

/// The number of bits per item at many counts, against a fixed filter for the same count at the
/// rate that the filter has there.
#[test]
fn the_size_follows_the_number_of_items() {
    for rate in [1e-2, 1e-4] {
        let most = 10_000_000_u64;
        let filter = filter(100_000, most as usize, rate);
        let (mut worst, mut sum, mut counts) = (0.0_f64, 0.0, 0);
        let mut count = 100_000.0_f64;
        while count < 2_000_000.0 {
            filter.try_extend(filter.len() as u64..count as u64).unwrap();
            let there = filter.geometry().false_positive_rate_at(count as usize);
            let fixed = Builder::<Filter>::new(Rapid::with_seed(1));
            let fixed: Geometry =
                fixed.capacity(count as usize).false_positive_rate(there).geometry().unwrap();
            let ratio = filter.size_in_bytes() as f64 / fixed.size_in_bytes() as f64;
            (worst, sum, counts) = (worst.max(ratio), sum + ratio, counts + 1);
            count *= 1.07;
        }
        assert!(
            worst < 1.45 && sum / f64::from(counts) < 1.3,
            "{worst} {}",
            sum / f64::from(counts)
        );
    }
}

/// Runs a step of the test when it is cloned.
struct Meddler(Hook);

type Hook = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

impl Clone for Meddler {
    fn clone(&self) -> Self {
        if let Some(step) = self.0.lock().unwrap().take() {
            step();
        }
        Self(Hook::default())
    }
}

impl BuildHasher for Meddler {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher::new()
    }
}

/// A merge begins with the larger of the two copies, also if the other filter was the larger one
/// before they were made.
#[test]
fn a_filter_that_grows_beside_a_merge_is_merged() {
    type Meddled = CuckooFilter<u64, Meddler>;
    let build = |hook: &Hook| -> Meddled {
        let builder = Builder::new(Meddler(Arc::clone(hook))).capacity(1000);
        builder.max_capacity(1_000_000).false_positive_rate(1e-2).build().unwrap()
    };
    let hook = Hook::default();
    let (a, b) = (build(&hook), Arc::new(build(&Hook::default())));
    (0..4000).for_each(|item| a.insert(&item).unwrap());
    // While `a` is copied, `b` grows, and gets more copies of an item than `a` can have.
    let grown = Arc::clone(&b);
    *hook.lock().unwrap() = Some(Box::new(move || {
        (1 << 30..(1 << 30) + 100_000).for_each(|item| grown.insert(&item).unwrap());
        while grown.insert(&u64::MAX).is_ok() {}
    }));
    let merged = Meddled::merge(&a, &b).unwrap();
    assert!(hook.lock().unwrap().is_none());
    assert_eq!(merged.len(), a.len() + b.len());
    assert_eq!(merged.count(&u64::MAX), b.count(&u64::MAX));
    assert!((0..4000).all(|item| merged.contains(&item)));
}
