//! Batch methods have the results of single calls, and set the same bits.

use proptest::prelude::*;
use tamis_bloom::{BlockedBloomFilter, BloomFilter, CountingBloomFilter, OnceBloomFilter};
use tamis_hash::Rapid;

macro_rules! same {
    ($($test:ident $filter:ident;)*) => {$(
        proptest! {
            /// In small filters, so that items repeat, also within a batch; in parts of every
            /// length.
            #[test]
            fn $test(
                probes in 1..=16_u32,
                bits in 64..20_000_u64,
                items in prop::collection::vec(0..400_u16, 0..300),
                part in 1..140_usize,
            ) {
                let new = || {
                    let builder = $filter::<u16>::builder().bits(bits).probes(probes);
                    builder.hasher(Rapid::with_seed(7)).build().unwrap()
                };
                let (one, many) = (new(), new());
                let (mut exclusive, mut collected) = (new(), new());
                for items in items.chunks(part) {
                    let expected: Vec<_> = items.iter().map(|item| one.insert(item)).collect();
                    let (mut results, mut exclusive_results) = (vec![], vec![]);
                    many.insert_many_with(items, |number, new| results.push((number, new)));
                    exclusive.get_mut().insert_many_with(items, |number, new| {
                        exclusive_results.push((number, new));
                    });
                    prop_assert_eq!(&collected.get_mut().insert_many(items), &expected);
                    let expected: Vec<_> = expected.into_iter().enumerate().collect();
                    prop_assert_eq!(&results, &expected);
                    prop_assert_eq!(&exclusive_results, &expected);
                }
                let queried: Vec<u16> = (0..1000).collect();
                let expected: Vec<_> = queried.iter().map(|item| one.contains(item)).collect();
                for filter in [&many, &exclusive, &collected] {
                    let mut results = vec![];
                    filter.contains_many_with(&queried, |number, hit| {
                        assert_eq!(number, results.len());
                        results.push(hit);
                    });
                    prop_assert_eq!(&results, &expected);
                    prop_assert_eq!(filter.figures().fill.value, one.figures().fill.value);
                }
            }
        }
    )*};
}

same! {
    classic BloomFilter;
    blocked BlockedBloomFilter;
    once OnceBloomFilter;
    counting CountingBloomFilter;
}

macro_rules! same_in_memory {
    ($($test:ident $filter:ident;)*) => {$(
        /// Filters larger than the caches, where batches take another path; with patterns of one
        /// and of several words.
        #[test]
        fn $test() {
            for rate in [0.01, 1e-6] {
                let new = || {
                    let builder = $filter::<u64>::builder().capacity(10_000_000);
                    let builder = builder.false_positive_rate(rate).hasher(Rapid::with_seed(7));
                    builder.build().unwrap()
                };
                let (one, many) = (new(), new());
                // Every third item repeats another, at once or some batches later.
                let items: Vec<u64> = (0..100_000).map(|n| if n % 3 == 0 { n / 2 } else { n }).collect();
                let expected: Vec<_> = items.iter().map(|item| one.insert(item)).collect();
                let mut results = vec![];
                many.insert_many_with(&items, |_, new| results.push(new));
                assert!(results == expected, "inserts at {rate}");
                let queried: Vec<u64> = (50_000..1_000_000).collect();
                let expected: Vec<_> = queried.iter().map(|item| one.contains(item)).collect();
                let mut results = vec![];
                many.contains_many_with(&queried, |_, hit| results.push(hit));
                assert!(results == expected, "queries at {rate}");
                assert!(items.iter().all(|item| one.contains(item)), "a false negative at {rate}");
            }
        }
    )*};
}

same_in_memory! {
    classic_in_memory BloomFilter;
    blocked_in_memory BlockedBloomFilter;
    once_in_memory OnceBloomFilter;
}

/// Threads insert the same items in batches: for each item exactly one insert returns `true`.
#[test]
fn racing_batches_have_one_winner() {
    const ITEMS: u64 = 200_000;
    // Fixed keys: with random ones, an item is lost in one of 10^5 runs.
    let filter = OnceBloomFilter::<u64>::builder()
        .hasher(Rapid::with_seed(4))
        .capacity(ITEMS as usize)
        .false_positive_rate(1e-9)
        .build()
        .unwrap();
    let items: Vec<u64> = (0..ITEMS).collect();
    let results: Vec<Vec<bool>> = std::thread::scope(|scope| {
        let race = || {
            let mut results = Vec::new();
            filter.insert_many_with(&items, |_, new| results.push(new));
            results
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(race)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for item in 0..ITEMS as usize {
        assert_eq!(results.iter().filter(|new| new[item]).count(), 1, "{item}");
    }
}
