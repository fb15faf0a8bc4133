//! Many items at a time do what one after the other does: the same answers, refusals among them, and the
//! same copies.

use proptest::prelude::*;
use tamis_cuckoo::{CuckooFilter, OnceCuckooFilter};
use tamis_hash::Rapid;

const SHAPES: [(u32, u32); 6] = [(4, 8), (8, 8), (5, 12), (4, 16), (3, 20), (2, 32)];

fn items() -> impl Strategy<Value = Vec<u16>> {
    // More than there is room for, and few enough that they come again.
    prop::collection::vec(0..300_u16, 0..500)
}

proptest! {
    #[test]
    fn a_multiset(shape in 0..SHAPES.len(), items in items(), part in 1..100_usize) {
        let (slots, bits) = SHAPES[shape];
        let new = || {
            let builder = CuckooFilter::<u16>::builder().buckets(20).slots(slots);
            builder.fingerprint_bits(bits).hasher(Rapid::with_seed(3)).build().unwrap()
        };
        let (one, many) = (new(), new());
        for items in items.chunks(part) {
            let expected: Vec<_> = items.iter().map(|item| one.insert(item)).collect();
            let mut told = vec![];
            many.insert_many(items, |number, result| {
                assert_eq!(number, told.len());
                told.push(result);
            });
            prop_assert_eq!(told, expected);
            prop_assert_eq!(many.len(), one.len());
        }
        let asked: Vec<u16> = (0..1000).collect();
        let mut told = vec![];
        many.contains_many(&asked, |_, hit| told.push(hit));
        prop_assert_eq!(told, asked.iter().map(|item| one.contains(item)).collect::<Vec<_>>());
        // Each once, whether it is in or not: which is not to be done, but what then happens is the same.
        for items in items.chunks(part) {
            let expected: Vec<_> = items.iter().map(|item| one.remove(item)).collect();
            let mut told = vec![];
            many.remove_many(items, |_, removed| told.push(removed));
            prop_assert_eq!(told, expected);
        }
        prop_assert_eq!(many.len(), one.len());
        for item in &asked {
            prop_assert_eq!(many.count(item), one.count(item));
        }
    }

    #[test]
    fn once(shape in 0..SHAPES.len(), items in items(), part in 1..100_usize) {
        let (slots, bits) = SHAPES[shape];
        let new = || {
            let builder = OnceCuckooFilter::<u16>::builder().buckets(20).slots(slots);
            builder.fingerprint_bits(bits).hasher(Rapid::with_seed(3)).build().unwrap()
        };
        let (one, many) = (new(), new());
        for items in items.chunks(part) {
            let expected: Vec<_> = items.iter().map(|item| one.insert(item)).collect();
            let mut told = vec![];
            many.insert_many(items, |_, result| told.push(result));
            prop_assert_eq!(told, expected);
            prop_assert_eq!(many.len(), one.len());
        }
        let asked: Vec<u16> = (0..1000).collect();
        let mut told = vec![];
        many.contains_many(&asked, |_, hit| told.push(hit));
        prop_assert_eq!(told, asked.iter().map(|item| one.contains(item)).collect::<Vec<_>>());
    }
}

/// The property above is about something: items are refused for both reasons, moved, and found again.
#[test]
fn refusals_are_told_where_they_happen() {
    let builder = CuckooFilter::<u64>::builder().buckets(20).slots(4).fingerprint_bits(16);
    let filter = builder.hasher(Rapid::with_seed(3)).build().unwrap();
    let mut told = vec![];
    filter.insert_many([&7; 12], |_, result| told.push(result.is_ok()));
    assert_eq!(told, [[true; 8].as_slice(), &[false; 4]].concat());
    let items: Vec<u64> = (100..300).collect();
    let mut refused = 0;
    filter.insert_many(&items, |_, result| refused += u64::from(result.is_err()));
    assert!(refused > 100, "{refused}");
    assert_eq!(filter.len(), (208 - refused) as usize);
}

/// Threads that insert the same items in batches: each is new to exactly one.
#[test]
fn racing_batches_have_one_winner() {
    const ITEMS: u64 = 100_000;
    let builder =
        OnceCuckooFilter::<u64>::builder().capacity(ITEMS as usize).false_positive_rate(1e-9);
    let filter = builder.hasher(Rapid::with_seed(4)).build().unwrap();
    let items: Vec<u64> = (0..ITEMS).collect();
    let told: Vec<Vec<bool>> = std::thread::scope(|scope| {
        let race = || {
            let mut told = Vec::new();
            filter.insert_many(&items, |_, result| told.push(result.unwrap()));
            told
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(race)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for item in 0..ITEMS as usize {
        assert_eq!(told.iter().filter(|told| told[item]).count(), 1, "{item}");
    }
    assert_eq!(filter.len(), ITEMS as usize);
}
