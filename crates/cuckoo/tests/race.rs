//! Real threads insert the same items at once: who is told that it was first?

mod common;

use std::sync::Barrier;
use std::thread;

use common::sample;
use statrs::distribution::{DiscreteCDF, Poisson};
use tamis_cuckoo::{CuckooFilter, OnceCuckooFilter};
use tamis_hash::{HashItem, Rapid};
use tamis_sync::{Ordering, Word};

const THREADS: usize = 4;
/// POWER: of a million, the control below sees some 23,000 with two winners; a window of a 6800th of its would be found
/// here with a chance of 0.999, in the long form one of a 34,000th.
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

/// Up to the capacity, so that towards the end the racers move each other's items.
#[test]
fn the_once_filter_tells_exactly_one() {
    let filter = OnceCuckooFilter::<u64, _>::builder_with_hasher(Rapid::with_seed(11))
        .capacity(ITEMS as usize)
        .false_positive_rate(1e-3)
        .build()
        .unwrap();
    assert!(filter.geometry().fingerprint_bits() == 16);
    // Counted, not unwrapped: a racer that ends early would leave the others waiting.
    let refused = Word::new(0);
    let verdicts = race(ITEMS, |hash| {
        let verdict = filter.insert_hash(hash);
        // ORDERING: Relaxed: read after the threads are joined.
        verdict.is_err().then(|| refused.fetch_add(1, Ordering::Relaxed));
        verdict == Ok(true)
    });
    // ORDERING: Relaxed: the threads are joined.
    assert_eq!(refused.load(Ordering::Relaxed), 0, "refused below the capacity");
    assert_eq!(verdicts.several, 0, "{verdicts:?}");
    assert_eq!(verdicts.one + verdicts.none, ITEMS);
    assert_eq!(filter.len(), verdicts.one as usize);
    assert!(filter.load_factor() > 0.95);
    let poisson = Poisson::new(expected_lost(|items| {
        filter.geometry().false_positive_rate_at(items as usize)
    }));
    let poisson = poisson.unwrap();
    let bounds = poisson.inverse_cdf(1e-6)..=poisson.inverse_cdf(1.0 - 1e-6);
    assert!(bounds.contains(&verdicts.none), "{} lost, {bounds:?} expected", verdicts.none);
    let hasher = Rapid::with_seed(11);
    assert!(
        (0..ITEMS).all(|item| filter.contains_hash(hasher.hash_item(&item))),
        "a false negative"
    );
}

/// The control: looking first and then inserting. The count must see it.
#[test]
fn the_count_would_see_two_winners() {
    const FEWER: u64 = 1_000_000;
    let filter = CuckooFilter::<u64, _>::builder_with_hasher(Rapid::with_seed(11))
        .capacity((4 * FEWER) as usize)
        .build()
        .unwrap();
    let verdicts = race(FEWER, |hash| {
        let new = !filter.contains_hash(hash);
        if new {
            // Refusals do not matter here, and there should be none.
            let _ = filter.insert_hash(hash);
        }
        new
    });
    println!("{verdicts:?}");
    assert!(verdicts.several > 0, "{verdicts:?}");
}
