//! The counting filter against exact multisets: counts, removals, saturation, unions, batches, and
//! threads that remove.

use std::collections::HashMap;
use std::thread;

use proptest::prelude::*;
use tamis_bloom::raw;
use tamis_bloom::{BlockedBloomFilter, Buildable, CountingBloomFilter, Filter, UnionError};
use tamis_hash::Rapid;

type Counting = CountingBloomFilter<u64, Rapid>;

/// A small filter, so that items share counters.
fn filter(bits: u64, probes: u32) -> Counting {
    let builder = CountingBloomFilter::builder().hasher(Rapid::with_seed(1));
    builder.bits(bits).probes(probes).build().unwrap()
}

/// All words of a filter.
fn words<F: Buildable>(filter: &F, lines: u64) -> Vec<[u64; raw::LINE_WORDS]> {
    (0..lines).map(|line| raw::read_line(filter, line)).collect()
}

fn counters(filter: &Counting) -> Vec<[u64; raw::LINE_WORDS]> {
    words(filter, raw::lines(filter.geometry()))
}

#[derive(Clone, Debug)]
enum Op {
    Insert(u64),
    InsertExclusive(u64),
    /// Inserts 17 copies, which saturates all counters of the item.
    Saturate(u64),
    /// Removes a copy of one of the items that are present.
    Remove(prop::sample::Index),
    /// Removes an item only if the filter does not contain it: nothing changes.
    RemoveAbsent(u64),
    Union(Vec<u64>),
    Snapshot,
    Clear,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let item = || 0..300_u64;
    let op = prop_oneof![
        12 => item().prop_map(Op::Insert),
        4 => item().prop_map(Op::InsertExclusive),
        1 => item().prop_map(Op::Saturate),
        12 => any::<prop::sample::Index>().prop_map(Op::Remove),
        2 => item().prop_map(Op::RemoveAbsent),
        1 => prop::collection::vec(item(), 0..20).prop_map(Op::Union),
        1 => Just(Op::Snapshot),
        1 => Just(Op::Clear),
    ];
    prop::collection::vec(op, 0..200)
}

/// A filter and the exact number of copies of each item.
struct Checked {
    filter: Counting,
    copies: HashMap<u64, u64>,
    /// Whether a counter may be saturated.
    saturated: bool,
}

impl Checked {
    fn apply(&mut self, op: Op) {
        let Self { filter, copies, .. } = self;
        match op {
            Op::Insert(item) | Op::InsertExclusive(item) => {
                let known = filter.contains(&item);
                let new = match op {
                    Op::Insert(_) => filter.insert(&item),
                    _ => filter.get_mut().insert(&item),
                };
                // Without races, an insert returns `true` exactly if a query returned `false`.
                assert_eq!(new, !known);
                *copies.entry(item).or_default() += 1;
            }
            Op::Saturate(item) => {
                (0..17).for_each(|_| {
                    filter.insert(&item);
                });
                *copies.entry(item).or_default() += 17;
                assert_eq!(filter.count(&item), 15);
            }
            Op::Remove(which) => {
                let mut present: Vec<u64> = copies.keys().copied().collect();
                present.sort_unstable();
                if !present.is_empty() {
                    let item = *which.get(&present);
                    assert!(filter.remove(&item), "a legal removal returned false");
                    let left = copies.get_mut(&item).unwrap();
                    *left -= 1;
                    if *left == 0 {
                        copies.remove(&item);
                    }
                }
            }
            Op::RemoveAbsent(item) => {
                if !filter.contains(&item) {
                    let before = counters(filter);
                    assert!(!filter.remove(&item));
                    assert_eq!(
                        counters(filter),
                        before,
                        "the removal of an absent item changed a counter"
                    );
                }
            }
            Op::Union(items) => {
                let other: Counting = {
                    let builder = CountingBloomFilter::builder().hasher(Rapid::with_seed(1));
                    builder.like(filter.geometry()).build().unwrap()
                };
                for item in items {
                    other.insert(&item);
                    *copies.entry(item).or_default() += 1;
                }
                filter.union_with(&other).unwrap();
            }
            Op::Snapshot => *filter = filter.clone(),
            Op::Clear => {
                filter.clear();
                copies.clear();
                self.saturated = false;
            }
        }
        self.saturated |= self.filter.saturated() > 0;
    }

    fn check(&self) {
        let Self { filter, copies, saturated } = self;
        for (item, &number) in copies {
            assert!(filter.contains(item), "false negative: {item}");
            let count = filter.count(item);
            assert!(u64::from(count) >= number.min(15), "{item}: {count} instead of {number}");
            assert!(count <= 15);
        }
        if !saturated {
            // Exact: the counters are those of a filter into which only the remaining copies were
            // inserted.
            let builder = CountingBloomFilter::builder().hasher(Rapid::with_seed(1));
            let mut again: Counting = builder.like(filter.geometry()).build().unwrap();
            for (&item, &number) in copies {
                again.extend((0..number).map(|_| item));
            }
            assert_eq!(counters(&again), counters(filter));
        }
    }
}

proptest! {
    /// Never a false negative and never a count below the truth; without saturation the counters
    /// are exact.
    #[test]
    fn a_multiset_is_counted(ops in ops(), bits in 1..5000_u64, probes in 1..=32_u32) {
        let mut checked =
            Checked { filter: filter(bits, probes), copies: HashMap::new(), saturated: false };
        for op in ops {
            checked.apply(op);
        }
        checked.check();
    }

    /// Batches have the results of single operations and the same counters, removals included.
    #[test]
    fn batches_equal_single_operations(
        items in prop::collection::vec(0..400_u64, 0..300),
        removed in prop::collection::vec(0..400_u64, 0..300),
        bits in 64..20_000_u64,
        probes in 1..=16_u32,
        part in 1..140_usize,
    ) {
        let (one, many, each) = (filter(bits, probes), filter(bits, probes), filter(bits, probes));
        let mut exclusive = filter(bits, probes);
        for items in items.chunks(part) {
            let expected: Vec<bool> = items.iter().map(|item| one.insert(item)).collect();
            let mut results = vec![];
            many.insert_many_with(items, |number, new| {
                assert_eq!(number, results.len());
                results.push(new);
            });
            prop_assert_eq!(&results, &expected);
            prop_assert_eq!(&each.insert_many(items), &expected);
            prop_assert_eq!(&exclusive.get_mut().insert_many(items), &expected);
        }
        prop_assert_eq!(counters(&exclusive), counters(&one));
        // Illegal removals, too: without races all filters do the same.
        for removed in removed.chunks(part) {
            let expected: Vec<bool> = removed.iter().map(|item| one.remove(item)).collect();
            let mut results = vec![];
            many.remove_many_with(removed, |number, gone| {
                assert_eq!(number, results.len());
                results.push(gone);
            });
            prop_assert_eq!(&results, &expected);
            prop_assert_eq!(&each.remove_many(removed), &expected);
        }
        prop_assert_eq!(counters(&many), counters(&one));
        prop_assert_eq!(counters(&each), counters(&one));
        let queried: Vec<u64> = (0..1000).collect();
        let expected: Vec<bool> = queried.iter().map(|item| one.contains(item)).collect();
        prop_assert_eq!(many.contains_many(&queried), expected);
    }

    /// A union has the counters of a filter with the items of both; a blocked filter from it has
    /// the bits of a blocked filter.
    #[test]
    fn unions_add_and_copies_are_blocked_filters(
        items in prop::collection::vec(0..200_u64, 0..200),
        others in prop::collection::vec(0..200_u64, 0..200),
        bits in 1..5000_u64,
        probes in 1..=32_u32,
    ) {
        let (a, b, both) = (filter(bits, probes), filter(bits, probes), filter(bits, probes));
        let blocked = BlockedBloomFilter::<u64>::builder().hasher(Rapid::with_seed(1));
        let blocked = blocked.bits(bits).probes(probes).build().unwrap();
        for (filter, items) in [(&a, &items), (&b, &others)] {
            for item in items {
                filter.insert(item);
                both.insert(item);
                blocked.insert(item);
            }
        }
        a.union_with(&b).unwrap();
        prop_assert_eq!(counters(&a), counters(&both));
        let copy = BlockedBloomFilter::from(&a);
        prop_assert_eq!(copy.geometry(), blocked.geometry());
        let lines = raw::lines(blocked.geometry());
        prop_assert_eq!(words(&copy, lines), words(&blocked, lines));
        prop_assert_eq!(copy.figures().fill.value, a.figures().fill.value);
        prop_assert_eq!(copy.false_positive_rate(), a.false_positive_rate());
        copy.union_with(&blocked).unwrap();
        // All of `b` can be removed from the union, unless a counter is saturated.
        if a.saturated() == 0 {
            prop_assert!(others.iter().all(|item| a.remove(item)));
            prop_assert!(items.iter().all(|item| a.contains(item)));
        }
    }
}

/// In filters larger than the caches, where batches request memory ahead; with patterns of one and
/// of several words.
#[test]
fn batches_in_memory_equal_single_operations() {
    for rate in [0.01, 1e-6] {
        let new = || -> Counting {
            let builder = CountingBloomFilter::builder().hasher(Rapid::with_seed(7));
            builder.capacity(1_000_000).false_positive_rate(rate).build().unwrap()
        };
        let (one, many) = (new(), new());
        // Every third item repeats another, at once or some batches later.
        let items: Vec<u64> = (0..60_000).map(|n| if n % 3 == 0 { n / 2 } else { n }).collect();
        let expected: Vec<bool> = items.iter().map(|item| one.insert(item)).collect();
        assert!(many.insert_many(&items) == expected, "inserts at {rate}");
        let removed: Vec<u64> = (20_000..80_000).collect();
        let expected: Vec<bool> = removed.iter().map(|item| one.remove(item)).collect();
        assert!(many.remove_many(&removed) == expected, "removals at {rate}");
        let queried: Vec<u64> = (0..100_000).collect();
        let expected: Vec<bool> = queried.iter().map(|item| one.contains(item)).collect();
        assert!(many.contains_many(&queried) == expected, "queries at {rate}");
        assert!(counters(&one) == counters(&many), "counters at {rate}");
    }
}

/// An item inserted 40 times saturates its counters. All other items come and go, and it is never
/// missed, however often it is removed.
#[test]
fn a_saturated_item_stays() {
    let filter = filter(2000, 6);
    for _ in 0..40 {
        filter.insert(&0);
    }
    assert_eq!((filter.saturated(), filter.count(&0)), (6, 15));
    for item in 1..200 {
        filter.insert(&item);
        filter.insert(&item);
    }
    for _ in 0..40 {
        assert!(filter.remove(&0));
    }
    for item in 1..200 {
        assert!(filter.remove(&item));
        assert!(filter.contains(&item) && filter.contains(&0), "a false negative");
        assert!(filter.remove(&item));
    }
    // Only the counters of the saturated item are left, and a few that saturated through shared
    // items.
    assert!(filter.contains(&0));
    assert!((6..12).contains(&filter.saturated()), "{}", filter.saturated());
    assert!((filter.figures().fill.value * 2048.0 - filter.saturated() as f64).abs() < 1e-6);
    // A union keeps them saturated, and a clear does not.
    let other = self::filter(2000, 6);
    other.union_with(&filter).unwrap();
    assert_eq!(other.saturated(), filter.saturated());
    let mut cleared = filter;
    cleared.clear();
    assert_eq!((cleared.saturated(), cleared.figures().fill.value), (0, 0.0));
}

/// What an illegal removal does: it changes at most the counters of its item, each by 1.
#[test]
fn an_illegal_removal_changes_its_own_counters_only() {
    let filter = filter(512, 4);
    for item in 0..100 {
        filter.insert(&item);
    }
    let false_positive = (1000..).find(|item| filter.contains(item)).unwrap();
    let before = counters(&filter);
    assert!(filter.remove(&false_positive));
    let nibbles = |words: Vec<[u64; 8]>| -> Vec<u64> {
        let words = words.into_iter().flatten();
        words.flat_map(|word| (0..16).map(move |number| word >> (4 * number) & 15)).collect()
    };
    let pairs = nibbles(before).into_iter().zip(nibbles(counters(&filter)));
    let changes: Vec<u64> =
        pairs.map(|(before, after)| before - after).filter(|&d| d != 0).collect();
    assert_eq!(changes, [1, 1, 1, 1]);
}

/// Threads insert and remove their own items in a filter so small that they share words and
/// counters all the time. No item of theirs is missed between its insert and its removal, no other
/// item is missed at all, and in the end the counters are exactly those of the items that stayed:
/// no change was lost, and none reached a neighbour.
#[test]
fn threads_that_remove_lose_nothing() {
    // POWER: of the order of a million compare-exchanges per thread on 64 cache lines.
    const THREADS: u64 = 4;
    const ROUNDS: u64 = 100_000;
    /// Items of a thread that are present at one time.
    const HELD: u64 = 8;
    for probes in [5, 10] {
        let filter = filter(8192, probes);
        let stable = 0..300_u64;
        for item in stable.clone() {
            filter.insert(&item);
        }
        let alone = counters(&filter);
        thread::scope(|scope| {
            for number in 1..=THREADS {
                let (filter, stable) = (&filter, stable.clone());
                scope.spawn(move || {
                    // Some items are the same in all threads: copies of one item come and go
                    // concurrently.
                    let own = |round: u64| {
                        if round.is_multiple_of(8) {
                            1 << 40
                        } else {
                            (number << 32) | (round % 1000)
                        }
                    };
                    for round in 0..ROUNDS + HELD {
                        if round < ROUNDS {
                            filter.insert(&own(round));
                            assert!(filter.contains(&own(round)), "a false negative");
                            assert!(filter.count(&own(round)) >= 1);
                        }
                        if round >= HELD {
                            let old = own(round - HELD);
                            assert!(filter.contains(&old), "a false negative");
                            assert!(filter.remove(&old), "a legal removal returned false");
                        }
                        let item = round % stable.end;
                        assert!(filter.contains(&item), "a false negative");
                    }
                });
            }
        });
        assert!(stable.clone().all(|item| filter.contains(&item)));
        assert_eq!(filter.saturated(), 0, "the test needs exact counters");
        assert!(counters(&filter) == alone, "counters differ from those of the items that stayed");
    }
}

#[test]
fn unions_need_the_same_geometry_and_hash() {
    let new = |seed: u64, bits| -> Counting {
        let builder = CountingBloomFilter::builder().hasher(Rapid::with_seed(seed));
        builder.bits(bits).probes(4).build().unwrap()
    };
    let a = new(1, 1000);
    assert_eq!(a.union_with(&new(1, 2000)), Err(UnionError::Geometry));
    assert_eq!(a.union_with(&new(2, 1000)), Err(UnionError::Hash));
    a.insert(&1);
    a.union_with(&a).unwrap();
    assert_eq!(a.count(&1), 2, "a union with itself adds every copy once more");
}

/// The sizes are those of a blocked filter, with four bits for each of its bits.
#[test]
fn sizes_are_four_times_those_of_a_blocked_filter() {
    for rate in [0.01, 1e-3, 1e-6] {
        let counting =
            CountingBloomFilter::<u64>::builder().capacity(10_000).false_positive_rate(rate);
        let blocked =
            BlockedBloomFilter::<u64>::builder().capacity(10_000).false_positive_rate(rate);
        let (counting, blocked) = (counting.build().unwrap(), blocked.build().unwrap());
        assert_eq!(counting.size_in_bytes(), 4 * blocked.size_in_bytes());
        assert_eq!(Filter::size_in_bytes(&counting), counting.size_in_bytes());
        let (ours, theirs) = (counting.geometry(), blocked.geometry());
        assert_ne!(ours, theirs, "a counting filter cannot be united with a blocked one");
        assert_eq!((ours.bits(), ours.probes()), (theirs.bits(), theirs.probes()));
        assert_eq!(ours.words(), theirs.words());
        assert_eq!(ours.false_positive_rate_at(10_000), theirs.false_positive_rate_at(10_000));
        assert_eq!(ours.fill_at(10_000), theirs.fill_at(10_000));
        assert_eq!(BlockedBloomFilter::from(&counting).geometry(), theirs);
    }
}
