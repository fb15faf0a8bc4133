//! Growing filters: the rate at every stage of growth, and which inserts return `true` while many
//! threads grow one.
//!
//! POWER of the rate test: the queries expect `EXPECTED` hits at the requested rate. A rate above
//! the request by `8 / sqrt(EXPECTED)` is found with a probability of 0.999 (4.9 standard
//! deviations for alpha, 3.1 for the power).

use std::thread;

use crate::common::{Winners, race, sample};
use statrs::distribution::{Binomial, DiscreteCDF};
use tamis_bloom::{BlockedBloomFilter, Filter, OnceScalableBloomFilter, ScalableBloomFilter, raw};
use tamis_hash::Rapid;

const ALPHA: f64 = 1e-6;

/// The published start: 10,000 items at a rate of 0.0005.
const FIRST: usize = 10_000;
const RATE: f64 = 0.0005;
const STAGES: [u64; 3] = [10_000, 30_000, sample(1_000_000, 10_000_000)];
const EXPECTED: f64 = sample(500, 10_000) as f64;

/// Returns how many of the absent items are found, of how many.
fn false_positives(contains: impl Fn(u64) -> bool) -> (u64, u64) {
    let queries = (EXPECTED / RATE) as u64;
    let absent = (1 << 40)..(1 << 40) + queries;
    (absent.filter(|&item| contains(item)).count() as u64, queries)
}

/// A filter that grows keeps its rate at every stage, and misses nothing. A filter of fixed size
/// returns `true` for most absent items in the end.
#[test]
fn the_rate_stays_below_the_request_at_every_stage() {
    let fixed = BlockedBloomFilter::<u64>::builder()
        .hasher(Rapid::with_seed(5))
        .capacity(FIRST)
        .false_positive_rate(RATE)
        .build()
        .unwrap();
    macro_rules! check {
        ($type:ident) => {{
            let filter = $type::<u64>::builder().hasher(Rapid::with_seed(5))
                .capacity(FIRST)
                .false_positive_rate(RATE)
                .build()
                .unwrap();
            let mut inserted = 0;
            for stage in STAGES {
                // Half of the items one by one, half in batches.
                let middle = inserted + (stage - inserted) / 2;
                for item in inserted..middle {
                    filter.insert(&item);
                }
                filter.insert_many_with(middle..stage, |_, _| ());
                inserted = stage;
                assert!((0..stage).all(|item| filter.contains(&item)), "an item was missed");
                filter.contains_many_with(0..stage, |item, hit| assert!(hit, "{item} was missed"));
                let (hits, queries) = false_positives(|item| filter.contains(&item));
                // The rate is below the request, and as reported.
                let most = Binomial::new(RATE, queries).unwrap().inverse_cdf(1.0 - ALPHA);
                assert!(hits <= most, "{stage} items: {hits} of {queries}, at most {most}");
                let reported = filter.false_positive_rate();
                assert!(reported < RATE, "{stage} items: {reported}");
                let binomial = Binomial::new(reported, queries).unwrap();
                let bounds =
                    binomial.inverse_cdf(ALPHA / 2.0)..=binomial.inverse_cdf(1.0 - ALPHA / 2.0);
                assert!(bounds.contains(&hits), "{stage} items: {hits}, {bounds:?} reported");
                // What is lost by growing.
                let bits = 8.0 * filter.size_in_bytes() as f64 / stage as f64;
                let sized = BlockedBloomFilter::<u64>::builder().capacity(stage as usize);
                let sized = sized.false_positive_rate(RATE).geometry().unwrap();
                println!(
                    "{stage} items: {} slices, rate {:.2e}, {bits:.1} bits per item, {:.1} if sized right",
                    raw::slices(&filter).len(),
                    hits as f64 / queries as f64,
                    sized.bits() as f64 / stage as f64,
                );
                assert!(filter.saturation() <= 1.02, "{}", filter.saturation());
            }
        }};
    }
    check!(ScalableBloomFilter);
    check!(OnceScalableBloomFilter);
    fixed.insert_many_with(0..STAGES[2], |_, _| ());
    let (hits, queries) = false_positives(|item| fixed.contains(&item));
    println!("a filter of fixed size: {:.2}", hits as f64 / queries as f64);
    assert!(hits > queries / 2);
}

/// Threads, and items that all of them insert.
const THREADS: usize = 8;
const ITEMS: u64 = sample(300_000, 10_000_000);
/// Items between two barriers of all threads, so that they keep racing for the same items.
const ROUND: u64 = 2000;

/// Eight threads insert the same items into a filter of one tiny slice, which grows. Each thread
/// finds what it has inserted.
fn winners(filter: &(impl Filter<Item = u64, Hasher = Rapid> + Sync)) -> Winners {
    let winners = race(THREADS, ITEMS, ROUND, |item| {
        let new = matches!(filter.try_insert(&item), Ok(true));
        // An item of long ago, which lies in any slice.
        let old = item / 2 + item % 1000 / 3;
        assert!(old > item || filter.contains(&old), "{old} was missed");
        new
    });
    assert!((0..ITEMS).all(|item| filter.contains(&item)), "an item was missed");
    winners
}

/// The most items of which no insert returns `true`: each was a false positive when it was first
/// inserted, at a rate below the request.
fn most_without_winner(rate: f64) -> u64 {
    Binomial::new(rate, ITEMS).unwrap().inverse_cdf(1.0 - ALPHA)
}

#[test]
fn exactly_one_insert_wins_while_eight_threads_grow_a_filter() {
    for rate in [0.01, 1e-6] {
        let builder = OnceScalableBloomFilter::<u64>::builder().hasher(Rapid::with_seed(7));
        let filter = builder.capacity(1024).false_positive_rate(rate).build().unwrap();
        let Winners { none, one, several } = winners(&filter);
        assert_eq!(several, 0, "{one} items had one winner");
        assert!(none <= most_without_winner(rate), "{none} items had no winner");
        assert!(raw::slices(&filter).len() >= 5 && filter.saturation() < 1.02);
    }
}

#[test]
fn at_least_one_insert_wins_while_eight_threads_grow_a_filter() {
    for rate in [0.01, 1e-6] {
        let builder = ScalableBloomFilter::<u64>::builder().hasher(Rapid::with_seed(7));
        let filter = builder.capacity(1024).false_positive_rate(rate).build().unwrap();
        let none = winners(&filter).none;
        assert!(none <= most_without_winner(rate), "{none} items had no winner");
        assert!(raw::slices(&filter).len() >= 5 && filter.saturation() < 1.02);
        assert!(filter.false_positive_rate() < rate);
    }
}

/// Threads that insert different items lose none, and the filter grows no further than it must.
#[test]
fn eight_threads_grow_a_filter_with_different_items() {
    let filter = ScalableBloomFilter::<u64>::builder().capacity(1024).build().unwrap();
    let share = ITEMS / THREADS as u64;
    thread::scope(|scope| {
        for thread in 0..THREADS as u64 {
            let filter = &filter;
            scope.spawn(move || {
                filter.insert_many_with(thread * share..(thread + 1) * share, |_, _| ());
            });
        }
    });
    assert!((0..share * THREADS as u64).all(|item| filter.contains(&item)));
    // Four slices are full and a fifth is in use, with 0.83 of the rate at most. How the items fall
    // into the lines of the first slice can add a seventh of that, so that 1 % means that slices
    // held more than they should.
    println!("saturation {}, rate {}", filter.saturation(), filter.false_positive_rate());
    assert!(filter.saturation() < 1.02 && filter.false_positive_rate() < 0.01);
    assert!(filter.capacity() as u64 <= 5 * ITEMS);
}

/// A filter with a limit stops growing within it, keeps all items, and reports that it is
/// overfilled.
#[test]
fn a_limit_of_the_memory_holds() {
    for bytes in [3_000, 20_000, 100_000, 250_000] {
        let builder = ScalableBloomFilter::<u64>::builder().capacity(1024);
        let filter = builder.max_size_in_bytes(bytes).build().unwrap();
        let items = 8 * bytes / 4;
        filter.insert_many_with(0..items, |_, _| ());
        assert!(filter.size_in_bytes() <= bytes);
        assert!((0..items).all(|item| filter.contains(&item)));
        assert!(filter.saturation() > 1.2, "{bytes}: {}", filter.saturation());
        assert!(filter.false_positive_rate() > 0.01);
    }
}
