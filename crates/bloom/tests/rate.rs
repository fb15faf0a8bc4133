//! Compares the measured false-positive rate with the reported one, by exact binomial bounds at
//! alpha = 1e-6: for every layout, at 10, 16 and 20 bits per item, with random, sequential and URL
//! items.
//!
//! The null hypothesis is the rate that the filter reports, which follows from its contents: given
//! the bits, queries are independent. (The planted mutants that the test must reject are in
//! `src/probe/line.rs`, where patterns are exchangeable.)

use crate::common::sample;
use statrs::distribution::{Binomial, DiscreteCDF};
use tamis_bloom::{
    BlockedBloomFilter, BloomFilter, Buildable, Builder, CountingBloomFilter, Filter,
    OnceBloomFilter,
};
use tamis_hash::Rapid;

const ITEMS: u64 = 100_000;
const ALPHA: f64 = 1e-6;

/// Expected number of false positives, at least. POWER: an error of the rate by `8 /
/// sqrt(EXPECTED)` is found with a probability of 0.999 (4.9 standard deviations for alpha, 3.1 for
/// the power): 28 %, in the long form 5 %.
const EXPECTED: f64 = sample(800, 25_500) as f64;

/// Returns item number `i` of a family, as bytes; distinct for distinct numbers.
type Family = fn(u64, &mut Vec<u8>);

const FAMILIES: [(&str, Family); 3] = [
    ("random", |i, out| {
        // A bijection of 64 bits, so that items are distinct.
        let mut x = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ x >> 31).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        out.extend_from_slice(&(x ^ x >> 32).to_le_bytes());
    }),
    ("sequential", |i, out| out.extend_from_slice(&i.to_le_bytes())),
    ("url", |i, out| {
        use std::io::Write;
        write!(out, "https://www.example.org/{}/page-{i}.html?ref=rss&id={}", i % 97, i / 7)
            .unwrap();
    }),
];

#[test]
fn the_measured_rate_is_the_reported_one() {
    fn check<F>(builder: Builder<F>, what: &str, item: Family)
    where
        F: Buildable + Filter<Item = [u8], Hasher = Rapid>,
    {
        let expected = builder.geometry().unwrap().false_positive_rate_at(ITEMS as usize);
        let filter = builder.build().unwrap();
        measure(what, &filter, ITEMS, item);
        is_about(filter.false_positive_rate(), expected, what);
    }
    for (bits_per_item, probes) in [(10, 6), (16, 9), (20, 12)] {
        for (family, item) in FAMILIES {
            macro_rules! check {
                ($type:ident) => {
                    let hasher = Rapid::with_seed(bits_per_item);
                    let builder = $type::<[u8]>::builder().hasher(hasher);
                    let builder = builder.bits(bits_per_item * ITEMS).probes(probes);
                    let name = stringify!($type);
                    let what = format!("{name} {bits_per_item} bits per item, {family} items");
                    check(builder, &what, item);
                };
            }
            check!(BloomFilter);
            check!(BlockedBloomFilter);
            check!(OnceBloomFilter);
        }
    }
}

/// The published table of a classic filter with 20 bits per item, with 6, 14 and 10 probes,
/// measured.
#[test]
fn the_published_rates_are_measured() {
    for (items, probes, per_cent) in
        [(80_000, 6, 0.0303), (80_000, 14, 0.0067), (1_000_000, 10, 0.0089)]
    {
        let builder = BloomFilter::<[u8]>::builder().hasher(Rapid::with_seed(20));
        let filter = builder.bits(20 * items).probes(probes).build().unwrap();
        let what = format!("{items} items, {probes} probes");
        measure(&what, &filter, items, FAMILIES[0].1);
        // The rate of one filter lies within a few per cent of the mean over all filters.
        is_about(filter.false_positive_rate() * 100.0, per_cent, &what);
    }
}

/// A counting filter has the reported rate after removals: what was removed leaves nothing behind.
#[test]
fn the_rate_after_removals_is_the_reported_one() {
    for (bits_per_item, probes, (family, item)) in [(10, 6, FAMILIES[0]), (16, 9, FAMILIES[2])] {
        let builder =
            CountingBloomFilter::<[u8]>::builder().hasher(Rapid::with_seed(bits_per_item));
        let filter = builder.bits(bits_per_item * ITEMS).probes(probes).build().unwrap();
        // Fill it to twice its load with other items and remove these.
        let others = |with: &dyn Fn(&[u8]) -> bool| {
            (1 << 40..(1 << 40) + 2 * ITEMS).for_each(|i: u64| {
                with(&i.to_be_bytes());
            });
        };
        others(&|other| filter.insert(other));
        others(&|other| filter.remove(other));
        assert_eq!((filter.figures().fill.value, filter.saturated()), (0.0, 0), "{family}");
        let what = format!("counting, {bits_per_item} bits per item, {family} items");
        measure(&what, &filter, ITEMS, item);
        let expected = filter.geometry().false_positive_rate_at(ITEMS as usize);
        is_about(filter.false_positive_rate(), expected, &what);
    }
}

fn is_about(reported: f64, expected: f64, what: &str) {
    let ratio = reported / expected;
    assert!((0.95..1.05).contains(&ratio), "{what}: reported / expected = {ratio}");
}

/// Inserts the first items of a family, and compares the hits of others with the reported rate.
fn measure(
    what: &str,
    filter: &impl Filter<Item = [u8], Hasher = Rapid>,
    items: u64,
    item: Family,
) {
    let mut bytes = Vec::new();
    let mut at = |i| {
        bytes.clear();
        item(i, &mut bytes);
        bytes.clone()
    };
    for i in 0..items {
        assert!(filter.try_insert(&at(i)[..]).is_ok());
    }
    assert!((0..items).all(|i| filter.contains(&at(i)[..])), "{what}: a false negative");
    let rate = filter.false_positive_rate();
    let queries = (EXPECTED / rate) as u64;
    let absent = items..items + queries;
    let hits = absent.filter(|&i| filter.contains(&at(i)[..])).count() as u64;
    let binomial = Binomial::new(rate, queries).unwrap();
    let (low, high) = (binomial.inverse_cdf(ALPHA / 2.0), binomial.inverse_cdf(1.0 - ALPHA / 2.0));
    assert!(
        (low..=high).contains(&hits),
        "{what}: {hits} hits, {low}..={high} expected at {rate:e}"
    );
}
