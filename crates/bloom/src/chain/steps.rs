//! The counts at which a slice of a growing filter does something, and which items count.
//!
//! An insert of a new item counts it, so that the slice knows when it is full. In a large slice
//! only 1 item in `2^j` counts, selected by its hash, so that threads seldom write the shared
//! count. The number of items at which the count reaches its limit is then random. Its standard
//! deviation is below `2^-8` of the capacity, since at least `2^16` items count, and the limit lies
//! 4 standard deviations lower. A slice therefore takes between 31/32 and all of its capacity,
//! except with a probability of 6 in 100,000.

use libm::{floor, pow, sqrt};
use tamis_hash::split::{next_pattern, pattern};

use super::plan::PORTION_LINES;
use crate::geometry::Geometry;

/// The least number of items that count in a slice where not all do.
const LEAST_COUNTED: u64 = 1 << 16;

/// The items that are left in a slice when the next is reserved: at least this number, if that is
/// not more than half of the slice. Eight threads fill an eighth of a slice of 1024 items in 3 µs,
/// and the first allocation of a thread takes longer: with a lead of an eighth, one of 400 filters
/// that eight threads filled on two busy cores had 0.996 % instead of 0.7 to 0.8 %.
const LEAST_LEAD: u64 = 4096;

/// The counts at which a slice does something, and which items count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steps {
    /// An item counts if its [`sample`] is at most this.
    counted_to: u64,
    /// The insert of an item helps to prepare the next slice if the item's [`sample`] is at most
    /// this. All items that count are among these.
    helps_to: u64,
    /// The items that stand for one that counts, as a power of two.
    log_counted: u32,
    /// The slice is full when this number of items has counted.
    pub(crate) full: u64,
    /// The next slice is reserved when this number of items has counted.
    pub(crate) reserve: u64,
    /// The items that count between two attempts to reserve it.
    pub(crate) again: u64,
}

impl Steps {
    /// Returns the steps of a slice of this geometry for `capacity` items.
    pub(crate) fn new(geometry: Geometry, capacity: u64) -> Self {
        let capacity = capacity.max(1);
        let log_counted = (capacity / LEAST_COUNTED).checked_ilog2().unwrap_or(0);
        let counted = capacity >> log_counted;
        let full = if log_counted == 0 {
            counted
        } else {
            // Four standard deviations of a binomial count, rounded up.
            let mean = capacity as f64 * pow(0.5, f64::from(log_counted));
            floor(mean - 4.0 * sqrt(mean)) as u64
        };
        // The last eighth of the items, or more, prepares the next slice: at least twice as many
        // inserts help as there are portions, if its lines are at most five times as many.
        let portions = (5 * geometry.lines().min(u64::MAX / 5)).div_ceil(PORTION_LINES);
        let log_helps = (capacity / 16 / portions).checked_ilog2().unwrap_or(0);
        Self {
            counted_to: u64::MAX >> log_counted,
            helps_to: u64::MAX >> log_helps.min(log_counted),
            log_counted,
            full,
            reserve: full - (full / 8).max(LEAST_LEAD.min(full / 2)),
            again: (full / 64).max(1),
        }
    }

    /// Returns whether the insert of an item with this sample helps to prepare the next slice.
    #[inline]
    pub(crate) const fn helps(&self, sample: u64) -> bool {
        sample <= self.helps_to
    }

    /// Returns whether an item with this sample counts.
    #[inline]
    pub(crate) const fn counts(&self, sample: u64) -> bool {
        sample <= self.counted_to
    }

    /// Returns the number of items for which this number has counted.
    pub(crate) const fn items(&self, counted: u64) -> u64 {
        counted << self.log_counted
    }

    /// Returns the number of items that have counted if there are `items`.
    pub(crate) const fn counted(&self, items: u64) -> u64 {
        items >> self.log_counted
    }
}

/// The third power of the multiplier of [`next_pattern`].
const SKIP: u64 = next_pattern(next_pattern(next_pattern(1)));

/// Returns a value that selects which items count: the next pattern after those that choose bits in
/// a line, and independent of the line. The hash's own low bits would not do: all items of a filter
/// may have the same ones, if a program has a filter for each of them.
#[inline]
pub(crate) const fn sample(hash: u64) -> u64 {
    pattern(hash).wrapping_mul(SKIP)
}

#[cfg(test)]
mod tests {
    use tamis_hash::Rapid;

    use super::*;
    use crate::geometry::Kind;

    const KIND: Kind = Kind::Line { once: false };

    /// The steps are in order, the limit is never above the capacity, and there are enough inserts
    /// to prepare the next slice in time.
    #[test]
    fn steps_are_in_order() {
        for rate in [0.1, 0.01, 1e-6] {
            for log in 0..36 {
                let capacity = 3_u64 << log;
                let geometry = Geometry::for_items(KIND, capacity, rate, None).unwrap();
                let steps = Steps::new(geometry, capacity);
                assert!(0 < steps.reserve && steps.reserve <= steps.full);
                assert!(steps.items(steps.full) <= capacity);
                assert!(steps.items(steps.full) as f64 > 0.98 * capacity as f64);
                assert_eq!(steps.counted(steps.items(steps.full)), steps.full);
                assert!(steps.counted_to <= steps.helps_to);
                let helpers = (capacity / 8) as f64 * (steps.helps_to as f64 / u64::MAX as f64);
                let portions = (5 * geometry.lines()).div_ceil(PORTION_LINES) as f64;
                assert!(helpers >= portions || capacity < 1000, "{capacity} at {rate}");
            }
        }
    }

    /// Whether an item counts does not depend on the low or the high bits of its hash.
    #[test]
    fn the_sample_is_independent_of_other_bits() {
        let geometry = Geometry::for_items(KIND, 1 << 20, 0.01, None).unwrap();
        let steps = Steps::new(geometry, 1 << 20);
        let hashes: [fn(u64) -> u64; 3] = [|hash| hash, |hash| hash << 10 | 5, |hash| hash >> 10];
        for (number, of_hash) in hashes.into_iter().enumerate() {
            let hashes =
                (0..1_600_000_u64).map(|item| Rapid::with_seed(1).hash_bytes(&item.to_le_bytes()));
            let counted = hashes.filter(|&hash| steps.counts(sample(of_hash(hash)))).count();
            // Five standard deviations.
            assert!(counted.abs_diff(100_000) < 1550, "{number}: {counted}");
        }
    }
}
