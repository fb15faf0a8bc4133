//! The sizes of all slices of a filter that grows, computed before the first. Pure arithmetic.

use libm::{ceil, expm1, log1p, sqrt};
use tamis_core::BuildError;
use tamis_hash::{fastrange, split};

use crate::bucket::{Shape, shapes};
use crate::geometry::{Geometry, MAX_BUCKETS};
use crate::place::Class;
use crate::sizing;

/// The fewest buckets of slice 0. The low bits of `F` divide slice `j` into `2^j` parts
/// of `N` buckets, which no item leaves: in smaller parts the number of items would vary more, and
/// the fullest would be full sooner.
const MIN_BUCKETS: u64 = 1 << 10;

/// The fewest bits of a slot that are used in the last slice. With fewer, too few paths lead
/// away from a bucket.
const MIN_WIDTH: u32 = 8;

/// The highest number of slices.
pub(crate) const MAX_SLICES: u32 = 40;

/// The part of its capacity to which each part of a slice is filled, in standard deviations of
/// its number of items.
const SPARE: f64 = 6.0;

/// The sizes of all slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Plan {
    /// The buckets of slice 0: an even number.
    pub(crate) buckets: u64,
    /// The bits of a whole fingerprint.
    pub(crate) width: u32,
    /// The number of slices, at least 1.
    pub(crate) slices: u32,
}

impl Plan {
    /// Returns the plan whose first slice holds `first` items, and which keeps `rate` with up
    /// to `most` items.
    pub(crate) fn new(first: u64, most: u64, rate: f64) -> Result<Self, BuildError> {
        // In this form the condition rejects NaN too.
        if !(rate > 0.0 && rate < 1.0) {
            return Err(BuildError::Rate { rate });
        }
        let (first, most) = (first.max(1), most.max(first).max(1));
        let widest = shapes().map(Shape::width).max().unwrap_or(MIN_WIDTH);
        // The narrowest fingerprints that keep the rate. Wider ones leave more slots to a bucket
        // unused.
        let plans = (MIN_WIDTH..=widest).filter_map(|width| Self::of_width(width, first, most));
        let mut lowest = 1.0_f64;
        for plan in plans {
            let reached = plan.rate_at(most);
            if reached <= rate {
                return Ok(plan);
            }
            lowest = lowest.min(reached);
        }
        Err(BuildError::RateTooLow { rate, lowest })
    }

    /// Returns the plan with this width of whole fingerprints, if there is one: the last slice
    /// must leave [`MIN_WIDTH`] bits to a slot.
    fn of_width(width: u32, first: u64, most: u64) -> Option<Self> {
        let shape = shape_for(width)?;
        // Buckets for the first slice, with room for the variation within a part.
        let slots = first as f64 * 1.03 / f64::from(shape.slots());
        if slots > MAX_BUCKETS as f64 / 2.0 {
            return None;
        }
        let mut plan = Self { buckets: MIN_BUCKETS.max(even(slots)), width, slices: 1 };
        while plan.items_of(0) < first {
            plan.buckets = even(plan.buckets as f64 * 1.01 + 2.0);
        }
        // As many slices as `most` items need.
        let mut items = plan.items_of(0);
        while items < most {
            plan.slices += 1;
            if plan.slices > MAX_SLICES || width + 1 - plan.slices < MIN_WIDTH {
                return None;
            }
            items = items.saturating_add(plan.items_of(plan.slices - 1));
        }
        Some(plan)
    }

    /// Returns the sizes of a slice.
    pub(crate) fn geometry(&self, slice: u32) -> Result<Geometry, BuildError> {
        let shape = shape_for(self.width - slice).ok_or(BuildError::TooLarge)?;
        let buckets = self.buckets.checked_mul(1 << slice).ok_or(BuildError::TooLarge)?;
        Geometry::doubled(buckets, shape, slice)
    }

    /// Returns the number of items that a slice takes with high probability.
    pub(crate) fn items_of(&self, slice: u32) -> u64 {
        let Some(shape) = shape_for(self.width - slice) else { return 0 };
        // The items divide randomly among the parts: leave room for the fullest.
        let part = sizing::capacity(self.buckets, shape) as f64;
        ((part - SPARE * sqrt(part)).max(0.0) as u64).saturating_mul(1 << slice)
    }

    /// Returns the number of items that all slices take with high probability, for tests.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> u64 {
        (0..self.slices).fold(0, |sum, at| sum.saturating_add(self.items_of(at)))
    }

    /// Returns the number of whole fingerprints: those that leave a number above 0 in the last
    /// slice's slots.
    const fn fingerprints(&self) -> u64 {
        (1 << self.width) - (1 << (self.slices - 1))
    }

    /// Returns the number of classes.
    pub(crate) fn classes(&self) -> f64 {
        self.buckets as f64 * self.fingerprints() as f64 / 2.0
    }

    /// Returns the expected false-positive rate with this number of distinct items.
    pub(crate) fn rate_at(&self, items: u64) -> f64 {
        let items = items as f64;
        sizing::with_equal_hashes(-expm1(items * log1p(-1.0 / self.classes())), items)
    }

    /// Returns the class of a hash: the whole fingerprint, and the buckets of slice 0.
    #[inline]
    pub(crate) const fn class(&self, hash: u64) -> Class {
        let low = 1 << (self.slices - 1);
        let fingerprint = low + fastrange(split::pattern(hash), self.fingerprints());
        Class::of(fingerprint, split::place(hash, self.buckets), self.buckets)
    }
}

/// Returns the supported shape that has the fewest bits per item with slots of at least this width.
fn shape_for(width: u32) -> Option<Shape> {
    shapes().filter(|shape| shape.width() >= width).min_by_key(|shape| {
        u64::from(shape.bits()) * 100_000_000 / sizing::capacity(100_000, *shape).max(1)
    })
}

/// Rounds up to an even number.
fn even(number: f64) -> u64 {
    2 * ceil(number / 2.0) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tamis_hash::{HashItem, Rapid};

    use super::*;
    use crate::nesting::{alternate, nested};

    proptest! {
        /// A slot and its bucket give the same alternate bucket as the class of the whole filter,
        /// in all slices.
        #[test]
        fn classes_are_the_same_in_all_slices(
            hash in any::<u64>(),
            half in 1_u64..1 << 40,
            slices in 1..12_u32,
            width in 20..42_u32,
        ) {
            let plan = Plan { buckets: 2 * half, width, slices };
            let class = plan.class(hash);
            prop_assert!(class.fingerprint < 1 << width);
            for slice in 0..slices {
                let Class { fingerprint, buckets: [one, other] } = nested(class, slice);
                let count = plan.buckets << slice;
                prop_assert!(fingerprint != 0 && one < count && other < count && one != other);
                prop_assert_eq!(alternate(fingerprint, one, count, slice), other);
                prop_assert_eq!(alternate(fingerprint, other, count, slice), one);
                // The number of the bucket and the slot give back the class.
                let low = one & ((1 << slice) - 1);
                prop_assert_eq!(fingerprint << slice | low, class.fingerprint);
                prop_assert_eq!([one >> slice, other >> slice], class.buckets);
            }
        }

        /// A plan holds what it is for, at the rate, and no narrower fingerprint would do.
        #[test]
        fn plans_keep_the_rate(
            first in 1_u64..1 << 24,
            growth in 0..11_u32,
            magnitude in 0.5_f64..6.0,
        ) {
            let (most, rate) = (first << growth, libm::pow(10.0, -magnitude));
            let plan = Plan::new(first, most, rate).unwrap();
            prop_assert!(plan.items_of(0) >= first && plan.capacity() >= most);
            prop_assert!(plan.rate_at(most) <= rate);
            for slice in 0..plan.slices {
                let geometry = plan.geometry(slice).unwrap();
                prop_assert!(geometry.fingerprint_bits() >= plan.width - slice);
            }
            if plan.width > MIN_WIDTH && let Some(narrower) = Plan::of_width(plan.width - 1, first, most) {
                prop_assert!(narrower.rate_at(most) > rate, "{plan:?} {narrower:?}");
            }
        }
    }

    /// The first buckets and the low bits of fingerprints are independent: all parts of a
    /// slice get their share.
    #[test]
    fn parts_get_equal_shares() {
        const ITEMS: u64 = 1 << 16;
        let plan = Plan { buckets: 1 << 10, width: 20, slices: 5 };
        let hasher = Rapid::with_seed(2);
        let mut counts = [0_u64; 16];
        for item in 0..ITEMS {
            let class = nested(plan.class(hasher.hash_item(&item)), 4);
            counts[(class.buckets[0] & 15) as usize] += 1;
        }
        // Each count is binomial with a standard deviation of 62.
        assert!(counts.iter().all(|&count| count.abs_diff(ITEMS / 16) < 6 * 62), "{counts:?}");
    }

    #[test]
    fn a_rate_that_is_too_low_is_refused() {
        let error = Plan::new(1 << 20, 1 << 36, 1e-9).unwrap_err();
        assert!(matches!(error, BuildError::RateTooLow { rate: 1e-9, lowest } if lowest > 1e-9));
        assert!(matches!(Plan::new(1, 1, f64::NAN), Err(BuildError::Rate { .. })));
    }
}
