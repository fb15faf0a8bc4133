//! Batches agree with single operations: the same results, errors included, and the same copies.

use proptest::prelude::*;
use tamis_cuckoo::InsertError::Stalled;
use tamis_cuckoo::{CuckooFilter, Geometry, OnceCuckooFilter};
use tamis_hash::Rapid;

use crate::common::patiently;

fn shapes() -> impl Strategy<Value = (u32, u32)> {
    prop::sample::select(Geometry::shapes().collect::<Vec<_>>())
}

fn items() -> impl Strategy<Value = Vec<u16>> {
    // More items than fit, from a range small enough that they repeat.
    prop::collection::vec(0..300_u16, 0..500)
}

proptest! {
    #[test]
    fn multiset_batches_agree_with_single_operations((slots, bits) in shapes(), items in items(), part in 1..100_usize) {
        let new = || {
            let builder = CuckooFilter::<u16>::builder().buckets(20).slots(slots);
            builder.fingerprint_bits(bits).hasher(Rapid::with_seed(3)).build().unwrap()
        };
        let (one, many) = (new(), new());
        for items in items.chunks(part) {
            let expected: Vec<_> = items.iter().map(|item| one.insert(item)).collect();
            let mut results = vec![];
            many.insert_many_with(items, |number, result| {
                assert_eq!(number, results.len());
                results.push(result);
            });
            prop_assert_eq!(results, expected);
            prop_assert_eq!(many.len(), one.len());
        }
        let queried: Vec<u16> = (0..1000).collect();
        let mut results = vec![];
        many.contains_many_with(&queried, |_, hit| results.push(hit));
        prop_assert_eq!(results, queried.iter().map(|item| one.contains(item)).collect::<Vec<_>>());
        // Remove each item once, whether or not it is present. That breaks the contract of
        // `remove`, but the results agree.
        for items in items.chunks(part) {
            let expected: Vec<_> = items.iter().map(|item| one.remove(item)).collect();
            let mut results = vec![];
            many.remove_many_with(items, |_, removed| results.push(removed));
            prop_assert_eq!(results, expected);
        }
        prop_assert_eq!(many.len(), one.len());
        for item in &queried {
            prop_assert_eq!(many.count(item), one.count(item));
        }
    }

    #[test]
    fn once_batches_agree_with_single_operations((slots, bits) in shapes(), items in items(), part in 1..100_usize) {
        let new = || {
            let builder = OnceCuckooFilter::<u16>::builder().buckets(20).slots(slots);
            builder.fingerprint_bits(bits).hasher(Rapid::with_seed(3)).build().unwrap()
        };
        let (one, many) = (new(), new());
        for items in items.chunks(part) {
            let expected: Vec<_> = items.iter().map(|item| one.insert(item)).collect();
            let mut results = vec![];
            many.insert_many_with(items, |_, result| results.push(result));
            prop_assert_eq!(results, expected);
            prop_assert_eq!(many.len(), one.len());
        }
        let queried: Vec<u16> = (0..1000).collect();
        let mut results = vec![];
        many.contains_many_with(&queried, |_, hit| results.push(hit));
        prop_assert_eq!(results, queried.iter().map(|item| one.contains(item)).collect::<Vec<_>>());
    }
}

/// The properties above are not vacuous: inserts fail for both reasons.
#[test]
fn errors_are_reported_for_the_items_that_fail() {
    let builder = CuckooFilter::<u64>::builder().buckets(20).slots(4).fingerprint_bits(16);
    let filter = builder.hasher(Rapid::with_seed(3)).build().unwrap();
    let mut results = vec![];
    filter.insert_many_with([&7; 12], |_, result| results.push(result.is_ok()));
    assert_eq!(results, [[true; 8].as_slice(), &[false; 4]].concat());
    let items: Vec<u64> = (100..300).collect();
    let mut failed = 0;
    filter.insert_many_with(&items, |_, result| failed += u64::from(result.is_err()));
    assert!(failed > 100, "{failed}");
    assert_eq!(filter.len(), (208 - failed) as usize);
}

proptest! {
    /// While the filters grow, and at a rate at which some items are taken for others.
    #[test]
    fn growing_batches_agree_with_single_operations(
        items in prop::collection::vec(0..4000_u16, 0..3000),
        part in 1..300_usize,
    ) {
        let new = || {
            let builder = OnceCuckooFilter::<u16>::builder().capacity(50).max_capacity(4000);
            builder.false_positive_rate(0.01).hasher(Rapid::with_seed(3)).build().unwrap()
        };
        let multiset = || {
            let builder = CuckooFilter::<u16>::builder().capacity(50).max_capacity(4000);
            builder.false_positive_rate(0.01).hasher(Rapid::with_seed(3)).build().unwrap()
        };
        let (one, many, copies) = (new(), new(), multiset());
        for items in items.chunks(part) {
            let expected: Vec<_> = items.iter().map(|item| one.insert(item)).collect();
            let mut results = vec![];
            many.insert_many_with(items, |number, result| {
                assert_eq!(number, results.len());
                results.push(result);
            });
            prop_assert_eq!(results, expected);
            prop_assert_eq!(many.len(), one.len());
            // Known items only, so that one batch has no new one.
            many.insert_many_with(items, |_, result| assert_eq!(result, Ok(false)));
            copies.insert_many_with(items, |_, result| assert_eq!(result, Ok(())));
        }
        let queried: Vec<u16> = (0..5000).collect();
        let mut results = vec![];
        many.contains_many_with(&queried, |_, hit| results.push(hit));
        prop_assert_eq!(results, queried.iter().map(|item| one.contains(item)).collect::<Vec<_>>());
        prop_assert_eq!(copies.len(), items.len());
        for items in items.chunks(part) {
            copies.remove_many_with(items, |_, removed| assert!(removed));
        }
        prop_assert_eq!(copies.len(), 0);
    }
}

/// Threads insert the same items in batches: each item is new for exactly one thread.
#[test]
fn concurrent_batches_have_one_winner() {
    const ITEMS: u64 = 100_000;
    let build = |first: u64, rate| {
        let builder = OnceCuckooFilter::<u64>::builder().capacity(first as usize);
        let builder = builder.hasher(Rapid::with_seed(4)).false_positive_rate(rate);
        let builder = if first < ITEMS { builder.max_capacity(ITEMS as usize) } else { builder };
        builder.build().unwrap()
    };
    for (first, rate) in [(ITEMS, 1e-9), (3000, 1e-6)] {
        let (filter, alone) = (build(first, rate), build(first, rate));
        let items: Vec<u64> = (0..ITEMS).collect();
        let results: Vec<Vec<bool>> = std::thread::scope(|scope| {
            let race = || {
                let mut results = Vec::new();
                filter.insert_many_with(&items, |number, result| {
                    let again = || filter.insert(&items[number]);
                    let result = if result == Err(Stalled) { patiently(again) } else { result };
                    results.push(result.unwrap());
                });
                results
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(race)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut new = 0;
        for item in items {
            let winners = results.iter().filter(|results| results[item as usize]).count();
            assert!(winners <= 1 && filter.contains(&item), "{item}");
            new += winners;
            alone.insert(&item).unwrap();
        }
        // An item that is taken for another is new for no thread. The number of these items does
        // not depend on the order.
        assert_eq!((new, filter.len()), (alone.len(), alone.len()));
    }
}
