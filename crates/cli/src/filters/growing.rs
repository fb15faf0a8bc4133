//! Cuckoo filters that grow: how far, and inserts that wait for a thread that has stopped.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::thread::sleep;
use std::time::Duration;

use tamis::cuckoo::Geometry;
use tamis::hash::AnyStable;
use tamis::{BuildError, CuckooFilter, Filter, InsertError, Verdict as _};

use crate::error::Error;
use crate::memory;

/// The most doublings of the capacity.
const DOUBLINGS: u32 = 10;

/// How often an insert is repeated that a stopped thread holds up, and how long it waits each time:
/// ten seconds in all. The system may let a thread wait for a processor for a part of a second.
const ATTEMPTS: u32 = 1000;
const PAUSE: Duration = Duration::from_millis(10);

/// Builds a filter that begins with `capacity` items and grows as far as the rate and the address
/// space allow.
pub(super) fn build(
    capacity: usize,
    rate: f64,
    hasher: AnyStable,
    refused: impl Fn(BuildError) -> Error,
) -> Result<CuckooFilter<[u8], AnyStable>, Error> {
    let builder = CuckooFilter::<[u8]>::builder().capacity(capacity).false_positive_rate(rate);
    let builder = builder.hasher(hasher);
    let least = capacity.saturating_mul(2);
    let mut most = most_items(capacity, rate);
    loop {
        let builder = builder.clone().max_capacity(most);
        let sizes = builder.geometry().map_err(&refused)?;
        let is_least = most / 2 < least;
        // What it has at first: the more it is to grow, the more that is. The rest takes no memory
        // yet.
        let first = memory::check(sizes.size_in_bytes());
        // The run takes address space too, and so do the copies of a save. Without a limit of
        // address space the system says itself what it refuses.
        let has_space = memory::left().is_none_or(|left| last_bytes(sizes) <= left / 4);
        if is_least || first.is_ok() && has_space {
            first?;
            match builder.build() {
                Err(BuildError::Alloc { .. }) if !is_least => {}
                built => return built.map_err(refused),
            }
        }
        most /= 2;
    }
}

/// Returns the bytes of all buckets of a filter after all growth.
fn last_bytes(sizes: Geometry) -> u64 {
    (sizes.bits() / 8).saturating_mul(1 << sizes.doublings())
}

/// Returns the number of items with which a filter may begin at least, to grow up to `most`.
pub(super) fn first_items(most: u64, rate: f64) -> u64 {
    let first = |doublings: u32| most.div_ceil(1 << doublings).max(1);
    let suffices = |&first: &u64| {
        usize::try_from(first).is_ok_and(|first| most_items(first, rate) as u64 >= most)
    };
    (1..=DOUBLINGS).rev().map(first).find(suffices).unwrap_or_else(|| first(1))
}

/// Returns the number of items up to which a filter grows that begins with `capacity`: the widest
/// fingerprints may not suffice to keep a very low rate for all doublings.
fn most_items(capacity: usize, rate: f64) -> usize {
    let builder = CuckooFilter::<[u8]>::builder().capacity(capacity).false_positive_rate(rate);
    let keeps_rate = |most: &usize| {
        let sizes = builder.clone().max_capacity(*most).geometry();
        !matches!(sizes, Err(BuildError::RateTooLow { .. }))
    };
    let doubled = |doublings: u32| capacity.max(1).saturating_mul(1 << doublings);
    let mut all = (1..=DOUBLINGS).rev().map(doubled);
    // Without any, the builder says which rate is possible.
    all.find(keeps_rate).unwrap_or_else(|| doubled(1))
}

/// Inserts all items, in order, and reports of each whether it was new.
pub(super) fn insert<F>(
    filter: &F,
    hashes: impl Iterator<Item = u64>,
    mut report: impl FnMut(usize, Result<bool, InsertError>),
) where
    F: Filter<InsertError = InsertError>,
{
    // The hashes whose results are not known.
    let pending = RefCell::new(VecDeque::new());
    let hashes = hashes.inspect(|&hash| pending.borrow_mut().push_back(hash));
    filter.insert_hashes(hashes, |item, result| {
        let hash = pending.borrow_mut().pop_front();
        report(
            item,
            match (result.verdict(), hash) {
                (Err(InsertError::Stalled), Some(hash)) => {
                    patiently(|| filter.insert_hash(hash).verdict())
                }
                (result, _) => result,
            },
        );
    });
}

/// Repeats an insert as long as a stopped thread keeps the filter from growing.
pub(super) fn patiently<N>(
    mut insert: impl FnMut() -> Result<N, InsertError>,
) -> Result<N, InsertError> {
    for _ in 0..ATTEMPTS {
        match insert() {
            Err(InsertError::Stalled) => sleep(PAUSE),
            result => return result,
        }
    }
    insert()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_insert_waits_for_a_stopped_thread() {
        let mut stalls = 3;
        let insert = || {
            stalls -= 1;
            if stalls < 0 { Ok(true) } else { Err(InsertError::Stalled) }
        };
        assert_eq!(patiently(insert), Ok(true));
        assert_eq!(stalls, -1);
        assert_eq!(patiently(|| Err::<bool, _>(InsertError::Full)), Err(InsertError::Full));
    }

    /// A filter grows 1024-fold at common rates, and at least to twice its capacity at the lowest.
    #[test]
    fn the_rate_limits_the_growth() {
        assert_eq!(most_items(1 << 16, 1e-3), 1 << 26);
        assert_eq!(most_items(0, 1e-3), 1 << 10);
        for rate in [1e-6, 1e-9, 1e-12, 1e-15] {
            let most = most_items(1 << 16, rate);
            assert!((1 << 17..=1 << 26).contains(&most), "{rate}: {most}");
            let builder = CuckooFilter::<[u8]>::builder().capacity(1 << 16).max_capacity(most);
            let sizes = builder.false_positive_rate(rate).geometry();
            assert!(sizes.is_ok() || most == 1 << 17, "{rate}: {sizes:?}");
        }
    }

    /// The number with which a filter may begin is the least one that grows so far.
    #[test]
    fn the_first_number_grows_to_the_last() {
        for rate in [0.5, 1e-3, 1e-6, 1e-9] {
            for most in [1, 2, 3, 1000, 204_800, 68_209_868, 1 << 32] {
                let first = first_items(most, rate);
                assert!(most_items(first as usize, rate) as u64 >= most, "{rate} {most}: {first}");
                assert!(first <= most.div_ceil(2) && (rate < 1e-3 || first == most.div_ceil(1024)));
            }
        }
    }
}
