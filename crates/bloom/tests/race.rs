//! Threads insert the same items concurrently: which inserts return `true`?

mod common;

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use common::sample;
use statrs::distribution::{DiscreteCDF, Poisson};
use tamis_bloom::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, OnceBloomFilter, RotatingBloomFilter,
};
use tamis_hash::{HashItem, Rapid};

const THREADS: usize = 4;
/// POWER: on two cores about 1500 of these items have two winners in a blocked filter (20,000 in
/// the long form). A window 200 times smaller (2900 times in the long form) would be found with a
/// probability of 0.999. Where the threads share one core, each runs its round alone and a window
/// is hardly found; the models do not depend on it.
const ITEMS: u64 = sample(2_000_000, 10_000_000);
/// Items between two barriers of all threads, so that they keep racing for the same items.
const ROUND: u64 = 10_000;

/// The numbers of items for which no thread, one thread, and several threads got `true`.
#[derive(Debug, Default, PartialEq)]
struct Winners {
    none: u64,
    one: u64,
    several: u64,
}

/// All threads insert all items concurrently, in the same order.
fn race(items: u64, insert: impl Fn(u64) -> bool + Sync) -> Winners {
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
    let mut counts = Winners::default();
    for item in 0..items as usize {
        let winners = won.iter().filter(|won| won[item / 64] >> (item % 64) & 1 == 1).count();
        match winners {
            0 => counts.none += 1,
            1 => counts.one += 1,
            _ => counts.several += 1,
        }
    }
    counts
}

/// Returns the expected number of items that are false positives when they are inserted, in a
/// filter that starts empty.
fn expected_lost(rate_at: impl Fn(u64) -> f64) -> f64 {
    const STEPS: u64 = 1000;
    let middles = (0..STEPS).map(|step| (2 * step + 1) * ITEMS / (2 * STEPS));
    middles.map(rate_at).sum::<f64>() * (ITEMS / STEPS) as f64
}

fn assert_lost_by_chance(none: u64, expected: f64) {
    // The upper bound holds, too: concurrent inserts may make an item a false positive a little
    // early, by fewer items than are in flight.
    let poisson = Poisson::new(expected).unwrap();
    let (low, high) = (poisson.inverse_cdf(1e-6), poisson.inverse_cdf(1.0 - 1e-6));
    assert!((low..=high).contains(&none), "{none} lost, {low}..={high} expected");
}

#[test]
fn the_once_filter_has_exactly_one_winner_by_one_word() {
    once_has_exactly_one_winner(1e-2, 1);
}

#[test]
fn the_once_filter_has_exactly_one_winner_under_locks() {
    once_has_exactly_one_winner(1e-3, 2);
}

fn once_has_exactly_one_winner(rate: f64, words: u32) {
    let filter = OnceBloomFilter::<u64>::builder()
        .hasher(Rapid::with_seed(11))
        .capacity(ITEMS as usize)
        .false_positive_rate(rate)
        .build()
        .unwrap();
    assert_eq!(filter.geometry().words(), words);
    let counts = race(ITEMS, |hash| filter.by_hash().insert(hash));
    assert_eq!(counts.several, 0, "{counts:?}");
    assert_eq!(counts.one + counts.none, ITEMS);
    assert_lost_by_chance(
        counts.none,
        expected_lost(|items| filter.geometry().false_positive_rate_at(items as usize)),
    );
    let hasher = Rapid::with_seed(11);
    assert!(
        (0..ITEMS).all(|item| filter.by_hash().contains(hasher.hash_item(&item))),
        "a false negative"
    );
}

#[test]
fn the_lock_free_filters_have_at_least_one_winner() {
    macro_rules! check {
        ($type:ident) => {
            let filter = $type::<u64>::builder()
                .hasher(Rapid::with_seed(11))
                .capacity(ITEMS as usize)
                .false_positive_rate(1e-3)
                .build()
                .unwrap();
            let counts = race(ITEMS, |hash| filter.by_hash().insert(hash));
            assert_eq!(counts.one + counts.several + counts.none, ITEMS);
            let expected =
                expected_lost(|items| filter.geometry().false_positive_rate_at(items as usize));
            assert_lost_by_chance(counts.none, expected);
            let hasher = Rapid::with_seed(11);
            assert!(
                (0..ITEMS).all(|item| filter.by_hash().contains(hasher.hash_item(&item))),
                "a false negative"
            );
            println!("{}: {counts:?}", stringify!($type));
        };
    }
    check!(BloomFilter);
    check!(BlockedBloomFilter);
    check!(CountingBloomFilter);
}

/// The control: inserts that decide by an earlier query. All threads query before any inserts, so
/// that all of them win each item whatever cores they have, and the count must find them.
#[test]
fn the_count_finds_two_winners() {
    const FEWER: u64 = 1000;
    let filter = OnceBloomFilter::<u64>::builder()
        .hasher(Rapid::with_seed(11))
        .capacity(ITEMS as usize)
        .build()
        .unwrap();
    let queried = Barrier::new(THREADS);
    let counts = race(FEWER, |hash| {
        let new = !filter.by_hash().contains(hash);
        queried.wait();
        filter.by_hash().insert(hash);
        new
    });
    assert_eq!(counts, Winners { none: 0, one: 0, several: FEWER });
}

/// While one thread makes all rotations that are due after a jump of the time, another copies the
/// filter. The copy does not make these rotations once more: what is in the window stays.
#[test]
fn a_copy_during_rotations_keeps_the_window() {
    const GENERATIONS: u64 = 16;
    const SPAN: u64 = (GENERATIONS - 1) * 1000;
    let seen = RotatingBloomFilter::<u64>::builder()
        .hasher(Rapid::with_seed(11))
        .capacity(200_000)
        .generations(GENERATIONS as u32)
        .span(Duration::from_nanos(SPAN))
        .build()
        .unwrap();
    let mut now = 0;
    for item in 0..30 {
        seen.advance(Duration::from_nanos(now));
        assert!(seen.insert(&item));
        let end = Duration::from_nanos(now + SPAN);
        thread::scope(|scope| {
            let rotating = scope.spawn(|| seen.advance(end));
            while !rotating.is_finished() {
                let copy = seen.clone();
                copy.advance(end);
                assert!(copy.contains(&item), "a copy missed an item in the window");
            }
        });
        assert!(seen.contains(&item), "an item in the window was missed");
        now += SPAN;
    }
}
