//! The false-positive rate of the contents of a table.

use tamis_core::{Mean, Sampled};

use crate::sizing;

/// Returns the number of pairs of a first bucket and a fingerprint that this bucket accounts for. A
/// class with copies has two such pairs. If all its copies are in one bucket, that bucket counts
/// both; otherwise each counts one. `is_in_other` returns whether the other bucket of a
/// fingerprint holds it too.
pub(crate) fn pairs<F: Iterator<Item = u64>>(
    fingerprints: impl Fn() -> F,
    is_in_other: impl Fn(u64) -> bool,
) -> u32 {
    // Count each fingerprint of the bucket once, however many copies there are.
    let firsts = fingerprints().enumerate().filter(|&(before, fingerprint)| {
        fingerprints().take(before).all(|other| other != fingerprint)
    });
    firsts.map(|(_, fingerprint)| if is_in_other(fingerprint) { 1 } else { 2 }).sum()
}

/// Returns the probability that a random hash has the class of some copy. `pairs` are those of some
/// of `all` buckets, and `classes` is the number of classes of the table.
pub(crate) fn rate(pairs: impl Iterator<Item = u32>, all: u64, classes: f64) -> Sampled {
    let mut mean = Mean::default();
    pairs.for_each(|pairs| mean.add(pairs.into()));
    mean.of(all).map(|pairs| {
        // A class accounts for two pairs.
        let present = pairs * all as f64 / 2.0;
        sizing::with_equal_hashes(present / classes, present)
    })
}
