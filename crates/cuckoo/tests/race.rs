//! Real threads insert the same items concurrently: exactly one insert of each item returns `true`.

use std::sync::Barrier;
use std::thread;

use crate::common::{patiently, sample};
use statrs::distribution::{DiscreteCDF, Poisson};
use tamis_cuckoo::{CuckooFilter, Geometry, OnceCuckooFilter};
use tamis_hash::{HashItem, Rapid};
use tamis_sync::{Ordering, Word};

const THREADS: usize = 4;
/// POWER: on two cores, a query and an insert as two steps have two winners for about 23,000 of a
/// million items. A race window 6800 times smaller would be found here with probability 0.999; in
/// the long form, one 34,000 times smaller. Where the threads share one core, each runs its round
/// alone and a window is hardly found; the models do not depend on it.
const ITEMS: u64 = sample(2_000_000, 10_000_000);
/// The number of items between two barriers, which keep the threads at the same items.
const ROUND: u64 = 10_000;

/// The numbers of items that were new for no thread, for one, and for several.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    none: u64,
    one: u64,
    several: u64,
}

/// All threads insert all items, in the same order, at the same time.
fn race(threads: usize, items: u64, insert: impl Fn(u64) -> bool + Sync) -> Counts {
    let barrier = Barrier::new(threads);
    let hasher = Rapid::with_seed(11);
    let won: Vec<Vec<u64>> = thread::scope(|scope| {
        let race = || {
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
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(race)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut counts = Counts::default();
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

/// Returns the expected number of items that are false positives at their first insert, in a filter
/// that fills from empty.
fn expected_lost(items: u64, rate_at: impl Fn(u64) -> f64) -> f64 {
    const STEPS: u64 = 1000;
    let middles = (0..STEPS).map(|step| (2 * step + 1) * items / (2 * STEPS));
    middles.map(rate_at).sum::<f64>() * items as f64 / STEPS as f64
}

#[test]
fn exactly_one_insert_of_an_item_returns_true() {
    check_one_winner(1e-3, 16, 0.95);
}

/// At this rate a bucket has 128 bits, if the processor supports it.
#[test]
fn exactly_one_insert_of_an_item_returns_true_at_a_low_rate() {
    let pairs = Geometry::shapes().any(|shape| shape == (5, 25));
    let (bits, load) = if pairs { (25, 0.95) } else { (32, 0.85) };
    check_one_winner(1e-6, bits, load);
}

/// Fills a filter to its capacity, so that in the end the threads relocate each other's items.
fn check_one_winner(rate: f64, bits: u32, load: f64) {
    let filter = OnceCuckooFilter::<u64>::builder()
        .hasher(Rapid::with_seed(11))
        .capacity(ITEMS as usize)
        .false_positive_rate(rate)
        .build()
        .unwrap();
    assert_eq!(filter.geometry().fingerprint_bits(), bits);
    check_winners(&filter, THREADS, ITEMS);
    assert!(filter.load_factor() > load);
}

/// Threads race for items in an empty filter with room for them: each item has one winner, or none
/// if it was a false positive.
pub(crate) fn check_winners(filter: &OnceCuckooFilter<u64, Rapid>, threads: usize, items: u64) {
    // Count errors instead of unwrapping: a thread that ends early would leave the others waiting
    // at the barrier.
    let failed = Word::new(0);
    let counts = race(threads, items, |hash| {
        let result = patiently(|| filter.by_hash().insert(hash));
        // ORDERING: Relaxed: read after the threads are joined.
        result.is_err().then(|| failed.fetch_add(1, Ordering::Relaxed));
        result == Ok(true)
    });
    println!("{threads} threads: {counts:?}");
    // ORDERING: Relaxed: the threads are joined.
    assert_eq!(failed.load(Ordering::Relaxed), 0, "inserts failed below the capacity");
    assert_eq!(counts.several, 0, "{counts:?}");
    assert_eq!(counts.one + counts.none, items);
    assert_eq!(filter.len(), counts.one as usize);
    let poisson = Poisson::new(expected_lost(items, |items| {
        filter.geometry().false_positive_rate_at(items as usize)
    }));
    let poisson = poisson.unwrap();
    let bounds = poisson.inverse_cdf(1e-10)..=poisson.inverse_cdf(1.0 - 1e-10);
    assert!(bounds.contains(&counts.none), "{} lost, {bounds:?} expected", counts.none);
    let hasher = filter.hasher();
    assert!(
        (0..items).all(|item| filter.by_hash().contains(hasher.hash_item(&item))),
        "a false negative"
    );
}

/// The control: inserts that decide by an earlier query. All threads query before any inserts, so
/// that all of them win each item whatever cores they have, and the counts must reveal it.
#[test]
fn the_test_detects_two_winners() {
    const FEWER: u64 = 1000;
    let filter = CuckooFilter::<u64>::builder()
        .hasher(Rapid::with_seed(11))
        .capacity(ITEMS as usize)
        .build()
        .unwrap();
    let queried = Barrier::new(THREADS);
    let counts = race(THREADS, FEWER, |hash| {
        let new = !filter.by_hash().contains(hash);
        queried.wait();
        filter.by_hash().insert(hash).expect("room for a copy per thread");
        new
    });
    assert_eq!(counts, Counts { none: 0, one: 0, several: FEWER });
}
