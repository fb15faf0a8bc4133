//! The sizes of the slices of a growing filter: pure arithmetic.
//!
//! Each slice holds three times the items of the one before, at a quarter of the rate that the slices before it have
//! left of the request (Almeida, Baquero, Preguiça and Hutchison, "Scalable Bloom Filters", 2007). An absent item is a
//! false positive of the chain if it is one of a slice, so the rate of the chain is at most the sum over its slices. That
//! is below the request for any number of them, since each leaves three quarters of what was left: slice `i` has
//! `rate · 0.25 · 0.75^i`. Each slice is sized for the actual layout, and is full when it holds the items it is sized
//! for. To wait until half of its bits are set would give a blocked layout several times its rate.
//!
//! Only the first slice follows from the request alone. A later one follows from the slices that the filter has, which
//! in a loaded filter may be of any sizes.
//!
//! Of two slices the newer is three times as large: see [`GROWTH`]. A ratio of 0.75 between the rates costs 0.38 bits per
//! item for each doubling, after 2.9 bits at the start.
//!
//! # Which items count
//!
//! An insert of a new item counts it, so that the slice knows when it is full. In a large slice only 1 item in `2^j`
//! counts, selected by its hash, so that threads seldom write the shared count. The number of items at
//! which the count reaches its limit is then random. Its standard deviation is below `2^-8` of the capacity, since at
//! least `2^16` items count, and the limit lies 4 standard deviations lower. A slice therefore takes between 97 % and
//! 100 % of its capacity, except with a probability of 3 in 100,000.

use libm::{floor, pow, sqrt};
use tamis_core::BuildError;
use tamis_hash::split::{next_pattern, pattern};
use tamis_sync::LINE_BYTES;

use crate::geometry::{Geometry, Kind};

/// The capacity of a slice divided by that of the slice before. With a larger factor fewer slices have to be asked, but
/// one that is just begun is a larger part of the memory.
///
/// MEASURED (ns per hit and per miss in batches, 100,000 items grown to 1, 3, 10 and 30 million at 1 %): with a factor of
/// 3 8.2 and 10.7, 9.3 and 12.7, 12.9 and 17.1, 17.2 and 23.3, at 20 to 22 bits per item; with 4 8.3 and 10.4, 10.3 and
/// 13.2, 14.8 and 19.6 (not measured at 30 million), at 32, 46 and 60 bits per item; with 2 10.5 and 12.6, 11.4 and 15.1,
/// 19.7 and 24.4, 30.7 and 41.9, at 24, 18, 23 and 34 bits per item; with 4 up to 1 MiB and then 2 8.4 and 10.3, 10.0 and
/// 12.7, 14.3 and 18.0, 24.7 and 30.5, at 33, 29, 20 and 31 bits per item (Zen 5, the machine shared; before the queries
/// had their present form).
const GROWTH: u64 = 3;

/// A slice leaves this part of the rate that the slices before it have left.
const LEFT: f64 = 0.75;

/// The least capacity of a first slice: a few kilobytes.
pub(crate) const LEAST_CAPACITY: usize = 1024;

/// The least number of items that count in a slice where not all do.
const LEAST_COUNTED: u64 = 1 << 16;

/// The items that are left in a slice when the next is reserved: at least this number, if that is not more than half of
/// the slice. Eight threads fill an eighth of a slice of 1024 items in 3 µs, and the first allocation of a thread takes
/// longer: with a lead of an eighth, one of 400 filters that eight threads filled on two busy cores had 0.996 % instead
/// of 0.7 to 0.8 %.
const LEAST_LEAD: u64 = 4096;

/// The lines of a portion, the part of a new slice that one insert makes present: 16 KiB.
///
/// MEASURED: while two writers insert 100 million items one by one, p99.99 of an insert is 5.9 µs; with portions of 64 KiB
/// it is 11.0 µs (Zen 5, pages of 4 KiB).
pub(crate) const PORTION_LINES: u64 = (16 << 10) / LINE_BYTES as u64;

/// The lines of a slice that one insert visits when the next slice is there: see `claim.rs`.
pub(crate) const VISIT_LINES: u64 = if cfg!(tamis_loom) { 1 } else { 32 };

/// How a filter grows: what its slices follow from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    /// The kind of the slices: arrays of lines. If it is a once kind, every slice has locks.
    pub(crate) kind: Kind,
    /// The capacity of the first slice.
    pub(crate) first: u64,
    /// The rate that the chain stays below.
    pub(crate) rate: f64,
    /// The most bytes that all slices take together.
    pub(crate) max_bytes: u64,
    /// Slices of this number of lines with one bit per item, each as large as the one before: for models.
    #[cfg(test)]
    pub(crate) tiny: Option<u64>,
}

impl Plan {
    pub(crate) const fn new(kind: Kind, first: u64, rate: f64, max_bytes: u64) -> Self {
        Self {
            kind,
            first,
            rate,
            max_bytes,
            #[cfg(test)]
            tiny: None,
        }
    }

    /// Returns the sizes of the first slice.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the rate or the capacity is out of range, or the slice exceeds the memory.
    pub(crate) fn first(&self) -> Result<(Geometry, u64), BuildError> {
        // Written so that NaN is an error, too, and that the error names the rate that was given.
        if !(self.rate > 0.0 && self.rate < 1.0) {
            return Err(BuildError::Rate { rate: self.rate });
        }
        self.sized(self.first, (1.0 - LEFT) * self.rate, None, 0)
    }

    /// Returns the sizes of the slice after the newest, which has a capacity of `newest`, if all slices have rates that
    /// add up to `used`, and take `taken` bytes.
    ///
    /// If the slice does not fit into the memory that is left, it becomes smaller, but at least half as large as the
    /// slice before it: a smaller one would cost every query more than it adds.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the rate or the capacity is out of range, or the memory that is left does not suffice.
    pub(crate) fn next(
        &self,
        newest: u64,
        used: f64,
        taken: u64,
    ) -> Result<(Geometry, u64), BuildError> {
        // A loaded slice may have any capacity.
        let capacity = newest.max(self.first).checked_mul(GROWTH).ok_or(BuildError::TooLarge)?;
        self.sized(capacity, (1.0 - LEFT) * (self.rate - used), Some(newest / 2), taken)
    }

    /// Returns the sizes of a slice, which has at least a capacity of `least` if it may be smaller than asked for.
    fn sized(
        &self,
        capacity: u64,
        rate: f64,
        least: Option<u64>,
        taken: u64,
    ) -> Result<(Geometry, u64), BuildError> {
        #[cfg(test)]
        if let Some(lines) = self.tiny {
            let bits = lines * tamis_sync::LINE_BITS;
            let words = if self.has_locks() { 2 } else { 1 };
            let geometry = Geometry::for_bits(self.kind, bits, words, Some(words))?;
            return Ok((geometry, self.first));
        }
        let geometry = self.geometry(capacity, rate)?;
        let left = self.max_bytes.saturating_sub(taken);
        let bytes = geometry.size_in_bytes();
        if bytes <= left {
            return Ok((geometry, capacity));
        }
        // The memory per item hardly depends on the number of items; 1 % less makes up for the difference.
        let share = 0.99 * left as f64 / bytes as f64;
        let capacity = (capacity as f64 * share) as u64;
        if least.is_some_and(|least| capacity >= least.max(1)) {
            let geometry = self.geometry(capacity, rate)?;
            if geometry.size_in_bytes() <= left {
                return Ok((geometry, capacity));
            }
        }
        Err(BuildError::Alloc { bytes })
    }

    fn geometry(&self, items: u64, rate: f64) -> Result<Geometry, BuildError> {
        let geometry = Geometry::for_items(self.kind, items, rate, None)?;
        if self.has_locks() && !geometry.locked() {
            // Where items have one word, lines have no locks.
            return Geometry::for_items(self.kind, items, rate, Some(2));
        }
        Ok(geometry)
    }

    fn has_locks(&self) -> bool {
        self.kind == Kind::Line { once: true }
    }
}

/// The counts at which a slice does something, and which items count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steps {
    /// An item counts if its [`sample`] is at most this.
    counted_to: u64,
    /// The insert of an item helps to prepare the next slice if the item's [`sample`] is at most this. All items that
    /// count are among these.
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
        // The last eighth of the items, or more, prepares the next slice: at least twice as many inserts help as there are
        // portions, if its lines are at most five times as many.
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

/// Returns a value that selects which items count: the next pattern after those that choose bits in a line, and
/// independent of the line. The hash's own low bits would not do: all items of a filter may have the same ones, if a
/// program has a filter for each of them.
#[inline]
pub(crate) const fn sample(hash: u64) -> u64 {
    pattern(hash).wrapping_mul(SKIP)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use tamis_hash::Rapid;

    use super::*;

    const KIND: Kind = Kind::Line { once: false };

    /// Returns what [`Plan::next`] takes of a slice: its capacity, its rate, and its bytes.
    fn next(plan: Plan, slices: &[(Geometry, u64)]) -> Result<(Geometry, u64), BuildError> {
        let Some(&(_, newest)) = slices.last() else { return plan.first() };
        let rate_of = |&(geometry, capacity): &(Geometry, u64)| {
            geometry.false_positive_rate_at(usize::try_from(capacity).unwrap())
        };
        let used = slices.iter().map(rate_of).sum();
        plan.next(newest, used, slices.iter().map(|(geometry, _)| geometry.size_in_bytes()).sum())
    }

    /// For any number of slices the sum of their rates is below the request.
    #[test]
    fn the_rates_of_all_slices_add_up_to_less_than_the_request() {
        for rate in [0.1, 0.01, 0.0005, 1e-6, 1e-9] {
            let plan = Plan::new(KIND, 10_000, rate, u64::MAX);
            let mut slices = Vec::new();
            let mut sum = 0.0;
            for index in 0..15 {
                let slice = next(plan, &slices);
                if matches!(slice, Err(BuildError::RateTooLow { .. })) && index > 8 && rate < 1e-5 {
                    // Where 64 bits of hash do not suffice, growth ends.
                    break;
                }
                let (geometry, capacity) = slice.unwrap();
                assert_eq!(capacity, 10_000 * 3_u64.pow(index));
                sum += geometry.false_positive_rate_at(capacity as usize);
                assert!(sum < rate, "{rate} {index}: {sum}");
                // The search is for a whole number of lines, and a small slice has few.
                let expected = rate * (1.0 - pow(0.75, f64::from(index) + 1.0));
                assert!(sum > 0.95 * expected, "{rate} {index}: {sum} of {expected}");
                slices.push((geometry, capacity));
            }
        }
    }

    /// The lines of a filter with one winner have locks at all rates, also where one word per item would do.
    #[test]
    fn slices_of_a_filter_with_one_winner_have_locks() {
        for rate in [0.5, 0.1, 0.01, 1e-6] {
            for kind in [KIND, Kind::Line { once: true }] {
                let (geometry, _) = Plan::new(kind, 10_000, rate, u64::MAX).first().unwrap();
                assert_eq!((geometry.kind(), geometry.locked()), (kind, kind != KIND), "{rate}");
                assert!(geometry.false_positive_rate_at(10_000) <= 0.25 * rate);
            }
        }
    }

    /// Slices of any sizes, as a loaded filter may have them, are followed by slices that keep the request, or by none.
    #[test]
    fn slices_of_other_sizes_are_followed_within_the_rate() {
        let plan = Plan::new(KIND, 10_000, 0.01, u64::MAX);
        for (capacity, rate) in [(5, 0.001), (10_000, 0.005), (40_000, 0.0099), (1 << 40, 0.009)] {
            let first = (Geometry::for_items(KIND, capacity, rate, None).unwrap(), capacity);
            let mut slices = [first].to_vec();
            for _ in 0..4 {
                slices.push(next(plan, &slices).unwrap());
            }
            let rate_of = |(geometry, capacity): &(Geometry, u64)| {
                geometry.false_positive_rate_at(*capacity as usize)
            };
            assert!(slices.iter().map(rate_of).sum::<f64>() < 0.01, "{capacity} {rate}");
            assert_eq!(slices[1].1, capacity.max(10_000) * 3);
        }
        // Nothing of the rate is left.
        assert!(matches!(plan.next(10_000, 0.01, 0), Err(BuildError::Rate { .. })));
        assert!(matches!(plan.next(10_000, 1.0, 0), Err(BuildError::Rate { .. })));
    }

    /// A plan ends with an error where a slice would have too many items, too low a rate, or too much memory.
    #[test]
    fn a_plan_ends_with_an_error() {
        for rate in [f64::NAN, 0.0, 1.0, -0.1] {
            let error = Plan::new(KIND, 1, rate, u64::MAX).first().unwrap_err();
            assert!(matches!(error, BuildError::Rate { .. }), "{rate} {error:?}");
        }
        let plan = Plan::new(KIND, 1024, 1e-9, u64::MAX);
        let mut slices = Vec::new();
        assert!((0..64).any(|_| next(plan, &slices).map(|slice| slices.push(slice)).is_err()));
        assert_eq!(plan.next(u64::MAX / 2, 0.0, 0), Err(BuildError::TooLarge));
        assert!(matches!(
            Plan::new(KIND, 1024, 0.01, 1000).first(),
            Err(BuildError::Alloc { bytes: 1001.. })
        ));
    }

    /// The last slice takes what is left of the memory.
    #[test]
    fn the_last_slice_fits_into_the_memory() {
        let free = Plan::new(KIND, 100_000, 0.01, u64::MAX);
        let first = free.first().unwrap();
        let taken = first.0.size_in_bytes();
        let (second, capacity) = next(free, &[first]).unwrap();
        for per_cent in [100, 80, 50, 20, 18, 15, 5, 0] {
            let left = second.size_in_bytes() * per_cent / 100;
            let plan = Plan { max_bytes: taken + left, ..free };
            match next(plan, &[first]) {
                Ok((geometry, items)) => {
                    assert!(geometry.size_in_bytes() <= left);
                    assert!(items >= capacity * (per_cent - 2) / 100, "{per_cent}: {items}");
                    let rate = geometry.false_positive_rate_at(items as usize);
                    assert!(rate <= 0.01 * 0.25 * 0.76);
                }
                // Half of the slice before is a sixth of this one.
                Err(_) => assert!(per_cent < 18, "{per_cent}"),
            }
        }
    }

    /// The steps are in order, the limit is never above the capacity, and there are enough inserts to prepare the next
    /// slice in time.
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
