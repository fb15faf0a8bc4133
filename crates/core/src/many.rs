//! Batches of hashes whose results are collected into a vector, for the filter types.

use alloc::vec::Vec;

use arrayvec::ArrayVec;

use crate::hashed::{Hashed, HashedCopies};

/// The largest number of items that are handled one by one. The pipeline of a batch takes longer to
/// start.
///
/// MEASURED: per item in L2, with the vector, a query takes 22, 5.3 and 3.6 ns with 1, 8 and 32
/// items, 18, 4.6 and 3.5 in a loop of single queries, and 44, 9.4 and 5.5 in a pipeline. An insert
/// takes 22, 6.5 and 5.1 ns, and 18, 6.0 and 4.9 in a loop (blocked, 100,000 items, the fastest of
/// 60 runs on a busy Zen 4). Out of the caches, 16 and 32 queries take 37 and 34 ns here, as in a
/// loop, and 19 in a pipeline.
const FEW: usize = 32;

/// The largest number of items for which memory is reserved because an iterator reports them. Its
/// report may be wrong.
const MOST_RESERVED: usize = 1 << 20;

/// Inserts many items and collects the results. Pulls all hashes before the first insert, so a
/// panic of the iterator changes nothing.
#[inline]
pub fn insert<F: Hashed + ?Sized>(
    filter: &F,
    hashes: impl IntoIterator<Item = u64>,
) -> Vec<F::Inserted> {
    change(
        filter,
        hashes,
        |filter, hash| filter.insert_hash(hash),
        |filter, all, results| {
            filter.insert_hashes(all, |_, result| results.push(result));
        },
    )
}

/// Removes a copy of each of many items and collects the results, as [`insert`] does.
#[inline]
pub fn remove<F: HashedCopies + ?Sized>(
    filter: &F,
    hashes: impl IntoIterator<Item = u64>,
) -> Vec<bool> {
    change(
        filter,
        hashes,
        |filter, hash| filter.remove_hash(hash),
        |filter, all, results| {
            filter.remove_hashes(all, |_, result| results.push(result));
        },
    )
}

/// Queries many items and collects the results.
#[inline]
pub fn contains<F: Hashed + ?Sized>(
    filter: &F,
    hashes: impl IntoIterator<Item = u64>,
) -> Vec<bool> {
    let hashes = hashes.into_iter();
    let (lower, upper) = hashes.size_hint();
    if upper.is_some_and(|upper| lower.max(upper) <= FEW) {
        return hashes.map(|hash| filter.contains_hash(hash)).collect();
    }
    let mut results = Vec::with_capacity(lower.min(MOST_RESERVED));
    filter.contains_hashes(hashes, |_, hit| results.push(hit));
    results
}

/// Pulls all hashes, then changes the filter: one by one if they are few, otherwise as a batch. The
/// filter is a shared or an exclusive reference.
#[inline]
pub fn change<F, R>(
    mut filter: F,
    hashes: impl IntoIterator<Item = u64>,
    one: impl Fn(&mut F, u64) -> R,
    many: impl FnOnce(&mut F, Vec<u64>, &mut Vec<R>),
) -> Vec<R> {
    let mut hashes = hashes.into_iter();
    // A few hashes need no memory of their own.
    let mut few = ArrayVec::<u64, FEW>::new();
    few.extend(hashes.by_ref().take(FEW));
    let Some(next) = (if few.is_full() { hashes.next() } else { None }) else {
        return few.iter().map(|&hash| one(&mut filter, hash)).collect();
    };
    let mut all = few.to_vec();
    all.push(next);
    // `take` limits what `extend` reserves.
    let mut end = all.len();
    while all.len() == end {
        all.extend(hashes.by_ref().take(MOST_RESERVED));
        end += MOST_RESERVED;
    }
    let mut results = Vec::with_capacity(all.len());
    many(&mut filter, all, &mut results);
    results
}
