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

/// A filter so large that the classic one, too, asks for memory ahead.
#[test]
fn large_filters() {
    let filter = BloomFilter::<u64>::builder().capacity(5_000_000).build().unwrap();
    let items: Vec<u64> = (0..100_000).collect();
    let mut new = 0;
    filter.insert_many(&items, |_, is_new| new += u32::from(is_new));
    assert_eq!(new, 100_000);
    filter.contains_many(&items, |number, hit| assert!(hit, "{number} is missed"));
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
