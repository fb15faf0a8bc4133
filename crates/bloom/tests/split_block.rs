//! The split-block filter: rates within exact binomial bounds, before and after folding; folding by
//! every divisor; unions, views and shared filters against a filter of all hashes.

use std::sync::Barrier;
use std::thread;

use proptest::prelude::*;
use statrs::distribution::{Binomial, DiscreteCDF};
use tamis_bloom::split_block::{Error, SharedSplitBlockFilter, SplitBlockFilter, View};
use tamis_hash::Xxh64;

use crate::common::sample;

/// The probability that a correct filter is refused.
const ALPHA: f64 = 1e-9;

/// The hits that are expected. POWER: an error of the rate by `9.2 / sqrt(EXPECTED)` is found with
/// a probability of 0.999 (6.1 standard deviations for alpha, 3.1 for the power): 15 %, in the long
/// form 5 %.
const EXPECTED: f64 = sample(4000, 34_000) as f64;

fn hash(item: u64) -> u64 {
    Xxh64::with_seed(0).hash_bytes(&item.to_le_bytes())
}

/// Hashes of distinct items.
fn hashes(first: u64, count: u64) -> Vec<u64> {
    (first..first + count).map(hash).collect()
}

/// Compares the hits of absent hashes with the rate that the filter reports.
fn has_the_reported_rate(filter: &SplitBlockFilter, what: &str) {
    let rate = filter.false_positive_rate();
    let queries = (EXPECTED / rate) as u64;
    let mut hits = 0;
    // In parts, so that the memory is small. The items follow those that were inserted.
    for first in (0..queries).step_by(1 << 16) {
        let absent = hashes((1 << 40) + first, (queries - first).min(1 << 16));
        hits += filter.contains_hashes(&absent, &mut [0; 1 << 13]).unwrap();
    }
    let binomial = Binomial::new(rate, queries).unwrap();
    let bounds = binomial.inverse_cdf(ALPHA / 2.0)..=binomial.inverse_cdf(1.0 - ALPHA / 2.0);
    assert!(bounds.contains(&(hits as u64)), "{what}: {hits} hits of {queries} at {rate}");
}

#[test]
fn the_rate_is_the_requested_and_the_reported_one_before_and_after_folding() {
    for rate in [0.01, 1e-3, 1e-4] {
        let items = 100_000;
        let all = hashes(0, items);
        let mut exact = SplitBlockFilter::for_items(items, rate).unwrap();
        exact.insert_hashes(&all);
        let ratio = exact.false_positive_rate() / rate;
        assert!((0.97..1.03).contains(&ratio), "{rate}: {ratio}");
        has_the_reported_rate(&exact, "of this size");

        // A writer that expected a hundred times as many items.
        let mut large = SplitBlockFilter::for_items_foldable(100 * items, rate, 12).unwrap();
        large.insert_hashes(&all);
        let blocks = large.as_bytes().len() / 32;
        let factor = large.fold_to(rate);
        assert_eq!(large.as_bytes().len() / 32 * factor as usize, blocks);
        assert!(large.false_positive_rate() <= rate);
        assert!(all.iter().all(|&hash| large.contains_hash(hash)));
        has_the_reported_rate(&large, "folded");
        let count = large.len_estimate() / items as f64;
        assert!((0.98..1.02).contains(&count), "{rate}: {count}");
    }
}

/// Every divisor, not only powers of two: the bytes are those of a filter of the smaller size.
#[test]
fn a_folded_filter_is_the_filter_of_that_size() {
    let all = hashes(0, 3000);
    for blocks in [1, 2, 97, 360, 512, 1001] {
        let of_size = |blocks: u64| {
            let mut filter = SplitBlockFilter::with_bytes(32 * blocks).unwrap();
            filter.insert_hashes(&all);
            filter
        };
        let large = of_size(blocks);
        let divisors = (1..=blocks).filter(|&divisor| blocks.is_multiple_of(divisor));
        let divisors: Vec<u64> = divisors.collect();
        for &divisor in &divisors {
            let (mut folded, small) = (large.clone(), of_size(blocks / divisor));
            folded.fold(divisor).unwrap();
            assert!(folded.as_bytes() == small.as_bytes(), "{blocks} / {divisor}");
        }
        for factor in [0, blocks + 1, u64::MAX] {
            let mut folded = large.clone();
            assert_eq!(folded.fold(factor), Err(Error::Factor { factor, blocks }));
            assert!(folded.as_bytes() == large.as_bytes());
        }
        // The oracle: the rates of all sizes. Each is met, and the next lower number is not.
        let of_divisor = |&divisor: &u64| of_size(blocks / divisor).false_positive_rate();
        let rates: Vec<f64> = divisors.iter().map(of_divisor).collect();
        let borders = rates.iter().flat_map(|rate| [*rate, rate.next_down()]);
        let others = [0.0, 1e-6, 1e-3, 0.01, 0.2, 0.9, 1.0, f64::INFINITY, -1.0, f64::NAN];
        for rate in borders.chain(others) {
            let found = divisors.iter().zip(&rates).rev().find(|&(_, of)| *of <= rate);
            let expected = found.map_or(1, |(divisor, _)| *divisor);
            assert_eq!(large.clone().fold_to(rate), expected, "{blocks} {rate}");
        }
    }
}

#[test]
fn an_empty_filter_folds_to_one_block() {
    let mut filter = SplitBlockFilter::with_bytes(32 * 1000).unwrap();
    assert_eq!(filter.fold_to(1e-9), 1000);
    assert_eq!(filter.into_bytes(), [0; 32]);
}

/// The salts of `BloomFilter.md` of `apache/parquet-format`.
const SALTS: [u32; 8] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// Returns the numbers of the bits of a hash in a filter of this size, by the specification.
fn bits(hash: u64, blocks: u64) -> [usize; 8] {
    let block = (((hash >> 32) * blocks) >> 32) as usize;
    let bit = |salt: u32| ((hash as u32).wrapping_mul(salt) >> 27) as usize;
    std::array::from_fn(|lane| 256 * block + 32 * lane + bit(SALTS[lane]))
}

/// Two threads insert each hash. If it has a bit that no other hash sets, one of them sets this bit
/// and returns `true`.
#[test]
fn threads_insert_what_one_thread_inserts() {
    let all = hashes(0, 40_000);
    for (blocks, least_checked) in [(1, 0), (2, 0), (333, 2000), (5000, 19_000)] {
        let new = || SplitBlockFilter::with_bytes(32 * blocks).unwrap();
        let mut expected = new();
        expected.insert_hashes(&all);
        let mut setters = vec![0_u32; 256 * blocks as usize];
        all.iter().for_each(|&hash| bits(hash, blocks).iter().for_each(|&bit| setters[bit] += 1));
        let has_own_bit = |hash| bits(hash, blocks).iter().any(|&bit| setters[bit] == 1);

        let shared = SharedSplitBlockFilter::from(new());
        let parts: Vec<&[u64]> = all.chunks(10_000).collect();
        let start = Barrier::new(2 * parts.len());
        let insert = |part: &[u64]| {
            start.wait();
            part.iter().map(|&hash| shared.insert_hash(hash)).collect::<Vec<bool>>()
        };
        let insert_in_batches = |part: &[u64]| {
            start.wait();
            shared.insert_hashes(part);
        };
        let mut checked = 0;
        thread::scope(|scope| {
            // The hashes of the last parts are inserted by one thread, and by one in batches, which
            // keeps no verdicts.
            let (single, batches) = parts.split_at(2);
            for part in batches {
                scope.spawn(|| insert_in_batches(part));
                scope.spawn(|| insert(part));
            }
            let pairs = single.iter().map(|part| [(); 2].map(|()| scope.spawn(|| insert(part))));
            let pairs: Vec<_> = pairs.collect();
            for (part, pair) in single.iter().zip(pairs) {
                let [one, other] = pair.map(|thread| thread.join().unwrap());
                for (number, &hash) in part.iter().enumerate() {
                    if has_own_bit(hash) {
                        assert!(one[number] || other[number], "{blocks}: no insert of {hash:#x}");
                        checked += 1;
                    }
                }
            }
        });
        assert!(checked >= least_checked, "{blocks}: only {checked} hashes have their own bit");
        assert!(all.iter().all(|&hash| shared.contains_hash(hash) && !shared.insert_hash(hash)));
        assert!(shared.into_filter().as_bytes() == expected.as_bytes(), "{blocks}");
    }
}

#[test]
fn a_union_is_the_filter_of_all_hashes() {
    let all = hashes(0, 1000);
    let new = |hashes: &[u64]| {
        let mut filter = SplitBlockFilter::with_bytes(32 * 77).unwrap();
        filter.insert_hashes(hashes);
        filter
    };
    let mut union = new(&all[..600]);
    union.union_with(&new(&all[300..])).unwrap();
    assert!(union.as_bytes() == new(&all).as_bytes());
}

#[test]
fn sizes_that_are_no_blocks_are_refused() {
    for bytes in [0, 1, 31, 33, (1 << 37) + 32, u64::MAX, u64::MAX - 31] {
        assert_eq!(SplitBlockFilter::with_bytes(bytes).unwrap_err(), Error::Bytes { bytes });
    }
    for length in [0, 1, 31, 33, 95] {
        let bytes = vec![0; length];
        let expected = Error::Bytes { bytes: length as u64 };
        assert_eq!(SplitBlockFilter::from_bytes(&bytes).unwrap_err(), expected);
        assert_eq!(View::new(&bytes).unwrap_err(), expected);
    }
}

proptest! {
    /// Any hashes, any bytes, at any address: a view is the filter of its bytes.
    #[test]
    fn views_answer_as_filters(
        bytes in prop::collection::vec(any::<u8>(), 32..2000),
        all in prop::collection::vec(any::<u64>(), 0..600),
        shift in 0_usize..64,
    ) {
        let length = bytes.len() / 32 * 32;
        let mut filter = SplitBlockFilter::from_bytes(&bytes[..length]).unwrap();
        let moved = [&vec![0; shift][..], &bytes[..length]].concat();
        let view = View::new(&moved[shift..]).unwrap();
        prop_assert_eq!(view.false_positive_rate(), filter.false_positive_rate());
        prop_assert_eq!(view.len_estimate(), filter.len_estimate());
        let (mut bitmap, mut hits) = (vec![0; all.len().div_ceil(8)], vec![]);
        let count = view.contains_hashes(&all, &mut bitmap).unwrap();
        view.contains_hashes_with(&all, |number, hit| {
            assert_eq!(number, hits.len());
            hits.push(hit);
        });
        prop_assert_eq!((hits.len(), hits.iter().filter(|&&hit| hit).count()), (all.len(), count));
        for (number, (&hash, hit)) in all.iter().zip(hits).enumerate() {
            prop_assert_eq!(view.contains_hash(hash), hit);
            prop_assert_eq!(filter.contains_hash(hash), hit);
            prop_assert_eq!(bitmap[number / 8] >> (number % 8) & 1 == 1, hit);
        }
        for &hash in &all {
            let hit = filter.contains_hash(hash);
            prop_assert_eq!(filter.insert_hash(hash), !hit);
            prop_assert!(filter.contains_hash(hash));
        }
    }
}
