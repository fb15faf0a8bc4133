//! Real threads insert the same items at once: who is told "new"?

mod common;

use std::sync::Barrier;
use std::thread;

use common::sample;
use statrs::distribution::{DiscreteCDF, Poisson};
use tamis_bloom::{BlockedBloomFilter, BloomFilter, OnceBloomFilter};
use tamis_hash::{HashItem, Rapid};

const THREADS: usize = 4;
/// POWER: of these, some 1500 have two winners in a blocked filter (of the long form's 20,000), so a window of a 200th of
/// its would be found with a chance of 0.999 (a 2900th).
const ITEMS: u64 = sample(2_000_000, 10_000_000);
/// Items between two meetings of all threads, so that they keep racing for the same ones.
const ROUND: u64 = 10_000;

/// How many items were new to nobody, to one, and to several of the threads.
#[derive(Debug, Default, PartialEq)]
struct Verdicts {
    none: u64,
    one: u64,
    several: u64,
}

/// All threads insert all items, in the same order, at the same time.
fn race(items: u64, insert: impl Fn(u64) -> bool + Sync) -> Verdicts {
    let barrier = Barrier::new(THREADS);
    let hasher = Rapid::with_seed(11);
    let won: Vec<Vec<u64>> = thread::scope(|scope| {
        let racer = || {
            let mut won = vec![0; items.div_ceil(64) as usize];
            for item in 0..items {
                if item % ROUND == 0 {
                    barrier.wait();
                }
                if insert(hasher.hash_item(&item)) {
                    won[item as usize / 64] |= 1_u64 << (item % 64);
                }
            }
            won
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(racer)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut verdicts = Verdicts::default();
    for item in 0..items as usize {
        let winners = won.iter().filter(|won| won[item / 64] >> (item % 64) & 1 == 1).count();
        match winners {
            0 => verdicts.none += 1,
            1 => verdicts.one += 1,
            _ => verdicts.several += 1,
        }
    }
    verdicts
}

/// The number of items that are false positives when they come, if the filter fills from empty.
fn expected_lost(rate_at: impl Fn(u64) -> f64) -> f64 {
    const STEPS: u64 = 1000;
    let middles = (0..STEPS).map(|step| (2 * step + 1) * ITEMS / (2 * STEPS));
    middles.map(rate_at).sum::<f64>() * (ITEMS / STEPS) as f64
}

fn assert_lost_by_chance(none: u64, expected: f64) {
    // Above: racers may complete each other's false positives a little early, by less than the
    // items in flight.
    let poisson = Poisson::new(expected).unwrap();
    let (low, high) = (poisson.inverse_cdf(1e-6), poisson.inverse_cdf(1.0 - 1e-6));
    assert!((low..=high).contains(&none), "{none} lost, {low}..={high} expected");
}

#[test]
fn the_once_filter_tells_exactly_one_by_one_word() {
    once_tells_exactly_one(1e-2, 1);
}

#[test]
fn the_once_filter_tells_exactly_one_under_locks() {
    once_tells_exactly_one(1e-3, 2);
}

fn once_tells_exactly_one(rate: f64, words: u32) {
    let filter = OnceBloomFilter::<u64, _>::builder_with_hasher(Rapid::with_seed(11))
        .capacity(ITEMS as usize)
        .false_positive_rate(rate)
        .build()
        .unwrap();
    assert_eq!(filter.geometry().words(), words);
    let verdicts = race(ITEMS, |hash| filter.insert_hash(hash));
    assert_eq!(verdicts.several, 0, "{verdicts:?}");
    assert_eq!(verdicts.one + verdicts.none, ITEMS);
    assert_lost_by_chance(
        verdicts.none,
        expected_lost(|items| filter.geometry().false_positive_rate_at(items as usize)),
    );
    let hasher = Rapid::with_seed(11);
    assert!(
        (0..ITEMS).all(|item| filter.contains_hash(hasher.hash_item(&item))),
        "a false negative"
    );
}

#[test]
fn the_lock_free_filters_tell_at_least_one() {
    macro_rules! check {
        ($type:ident) => {
            let filter = $type::<u64, _>::builder_with_hasher(Rapid::with_seed(11))
                .capacity(ITEMS as usize)
                .false_positive_rate(1e-3)
                .build()
                .unwrap();
            let verdicts = race(ITEMS, |hash| filter.insert_hash(hash));
            assert_eq!(verdicts.one + verdicts.several + verdicts.none, ITEMS);
            let expected =
                expected_lost(|items| filter.geometry().false_positive_rate_at(items as usize));
            assert_lost_by_chance(verdicts.none, expected);
            let hasher = Rapid::with_seed(11);
            assert!(
                (0..ITEMS).all(|item| filter.contains_hash(hasher.hash_item(&item))),
                "a false negative"
            );
            println!("{}: {verdicts:?}", stringify!($type));
        };
    }
    check!(BloomFilter);
    check!(BlockedBloomFilter);
}

/// The control: looking first and then believing what was seen. The count must see it.
#[test]
fn the_count_would_see_two_winners() {
    let filter = OnceBloomFilter::<u64, _>::builder_with_hasher(Rapid::with_seed(11))
        .capacity(ITEMS as usize)
        .build()
        .unwrap();
    let verdicts = race(ITEMS, |hash| {
        let new = !filter.contains_hash(hash);
        filter.insert_hash(hash);
        new
    });
    println!("{verdicts:?}");
    assert!(verdicts.several > 0, "{verdicts:?}");
}
