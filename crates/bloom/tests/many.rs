//! Many items at a time do what one after the other does: the same answers, and the same bits.

use proptest::prelude::*;
use tamis_bloom::{BlockedBloomFilter, BloomFilter, OnceBloomFilter};
use tamis_hash::Rapid;

macro_rules! same {
    ($($test:ident $filter:ident;)*) => {$(
        proptest! {
            /// In small filters, so that items meet, also within a batch; in parts of every length.
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
                let (one, many, mut alone) = (new(), new(), new());
                for items in items.chunks(part) {
                    let expected: Vec<_> = items.iter().map(|item| one.insert(item)).collect();
                    let (mut told, mut told_alone) = (vec![], vec![]);
                    many.insert_many(items, |number, new| told.push((number, new)));
                    alone.get_mut().insert_many(items, |number, new| {
                        told_alone.push((number, new));
                    });
                    let expected: Vec<_> = expected.into_iter().enumerate().collect();
                    prop_assert_eq!(&told, &expected);
                    prop_assert_eq!(&told_alone, &expected);
                }
                let asked: Vec<u16> = (0..1000).collect();
                let expected: Vec<_> = asked.iter().map(|item| one.contains(item)).collect();
                for filter in [&many, &alone] {
                    let mut told = vec![];
                    filter.contains_many(&asked, |number, hit| {
                        assert_eq!(number, told.len());
                        told.push(hit);
                    });
                    prop_assert_eq!(&told, &expected);
                    prop_assert_eq!(filter.fill(), one.fill());
                }
            }
        }
    )*};
}

same! {
    classic BloomFilter;
    blocked BlockedBloomFilter;
    once OnceBloomFilter;
}

macro_rules! same_in_memory {
    ($($test:ident $filter:ident;)*) => {$(
        /// So large that batches go another way than in a cache; where one word is enough and where it is not.
        #[test]
        fn $test() {
            for rate in [0.01, 1e-6] {
                let new = || {
                    let builder = $filter::<u64>::builder().capacity(10_000_000);
                    let builder = builder.false_positive_rate(rate).hasher(Rapid::with_seed(7));
                    builder.build().unwrap()
                };
                let (one, many) = (new(), new());
                // Every third comes again, at once or after some batches.
                let items: Vec<u64> = (0..100_000).map(|n| if n % 3 == 0 { n / 2 } else { n }).collect();
                let expected: Vec<_> = items.iter().map(|item| one.insert(item)).collect();
                let mut told = vec![];
                many.insert_many(&items, |_, new| told.push(new));
                assert!(told == expected, "inserts at {rate}");
                let asked: Vec<u64> = (50_000..1_000_000).collect();
                let expected: Vec<_> = asked.iter().map(|item| one.contains(item)).collect();
                let mut told = vec![];
                many.contains_many(&asked, |_, hit| told.push(hit));
                assert!(told == expected, "queries at {rate}");
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

/// Threads that insert the same items in batches: each item is told to exactly one, but for false
/// positives, which are told to none.
#[test]
fn racing_batches_have_one_winner() {
    const ITEMS: u64 = 200_000;
    let filter = OnceBloomFilter::<u64>::builder()
        .capacity(ITEMS as usize)
        .false_positive_rate(1e-9)
        .build()
        .unwrap();
    let items: Vec<u64> = (0..ITEMS).collect();
    let told: Vec<Vec<bool>> = std::thread::scope(|scope| {
        let race = || {
            let mut told = Vec::new();
            filter.insert_many(&items, |_, new| told.push(new));
            told
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(race)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for item in 0..ITEMS as usize {
        assert_eq!(told.iter().filter(|told| told[item]).count(), 1, "{item}");
    }
}
