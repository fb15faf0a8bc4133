//! Cuckoo filters that grow: how far, and inserts that wait for a thread that has stopped.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::thread::sleep;
use std::time::Duration;

use tamis::{BuildError, CuckooFilter, Filter, InsertError};

/// The most doublings of the capacity.
const DOUBLINGS: u32 = 10;

/// How often an insert is repeated that a stopped thread holds up, and how long it waits each time:
/// ten seconds in all. The system may let a thread wait for a processor for a part of a second.
const ATTEMPTS: u32 = 1000;
const PAUSE: Duration = Duration::from_millis(10);

/// Returns the number of items up to which a filter grows that begins with `capacity`: the widest
/// fingerprints may not suffice to keep a very low rate for all doublings.
pub(super) fn most_items(capacity: usize, rate: f64) -> usize {
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
    filter.try_insert_hashes(hashes, |item, result| {
        let hash = pending.borrow_mut().pop_front();
        report(
            item,
            match (result, hash) {
                (Err(InsertError::Stalled), Some(hash)) => {
                    patiently(|| filter.try_insert_hash(hash))
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
}
