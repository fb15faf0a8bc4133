//! Where the buckets of a fingerprint are, for one value of the split pointer. Pure arithmetic.
//!
//! [`layout::place`](crate::growth::layout::place) has the rule. Here it is computed for both
//! buckets of a class, with what they share computed once.

use core::hint::select_unpredictable;

use crate::growth::layout::low;
use crate::growth::pointer::Pointer;
use crate::place::Class;

/// Where the buckets of one fingerprint are: what does not depend on the position.
#[derive(Clone, Copy)]
pub(crate) struct Locator {
    pointer: Pointer,
    /// The bits of the fingerprint that select a bucket at the level of the pointer.
    low: u64,
    /// The bucket of a position that is not split, and its lower child, are at this place plus the
    /// position times two to the power of `doublings`.
    first: u64,
    doublings: u32,
    /// The upper child of the bucket with number 0 would be at this place.
    upper: u64,
    /// The buckets with numbers below this are split, and the fingerprint is in the upper child.
    below: u64,
}

/// Where a bucket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) place: u64,
    /// Whether the bucket is split at the level of the pointer.
    pub(crate) is_ahead: bool,
}

/// A class, and where its buckets are for one value of the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) class: Class,
    pub(crate) pointer: Pointer,
    pub(crate) locations: [Location; 2],
}

impl Placed {
    /// For a class in a table with this first number of buckets.
    #[inline(always)]
    pub(crate) fn new(class: Class, pointer: Pointer, buckets: u64) -> Self {
        let locator = Locator::new(pointer, class.fingerprint, buckets);
        let [one, other] = class.buckets;
        Self { class, pointer, locations: [locator.at(one), locator.at(other)] }
    }

    /// For a fingerprint in a slot of one of these two buckets, read at the level that the pointer
    /// says: its class begins with that bucket.
    ///
    /// The bits below that level are those of this class. The number of the bucket, and its place,
    /// depend on no others.
    #[inline(always)]
    pub(crate) fn of_slot(&self, which: usize, whole: u64, buckets: u64) -> Self {
        let class = Class::of(whole, self.class.buckets[which], buckets);
        let other = Locator::new(self.pointer, whole, buckets).at(class.buckets[1]);
        Self { class, locations: [self.locations[which], other], ..*self }
    }
}

impl Locator {
    /// For a fingerprint in a table with this first number of buckets.
    #[inline(always)]
    pub(crate) fn new(pointer: Pointer, whole: u64, buckets: u64) -> Self {
        // The next bit decides between the children.
        let is_upper = whole >> pointer.level & 1 != 0;
        Self::with(pointer, whole, buckets, select_unpredictable(is_upper, pointer.next, 0))
    }

    /// As [`new`](Self::new), for a loop of vectors. There, the compiler would turn a condition
    /// on a bit into two copies of all that follows.
    #[inline(always)]
    pub(crate) fn in_vector(pointer: Pointer, whole: u64, buckets: u64) -> Self {
        // All numbers are below the highest bit.
        let below = pointer.next.min(whole >> pointer.level << 63);
        Self::with(pointer, whole, buckets, below)
    }

    #[inline(always)]
    fn with(pointer: Pointer, whole: u64, buckets: u64, below: u64) -> Self {
        let level = pointer.level;
        let low = low(whole, level);
        // As `place`. No branch: the processor cannot predict it.
        let doublings = (low | 1).ilog2();
        let first = (select_unpredictable(low == 0, 0, buckets - 1) << doublings) + low;
        Self { pointer, low, first, doublings, upper: buckets << level, below }
    }

    /// Returns where the bucket of a position is.
    #[inline(always)]
    pub(crate) fn at(&self, position: u64) -> Location {
        let number = position << self.pointer.level | self.low;
        // The upper children of a level follow each other in the order of their parents.
        let upper = self.upper + number;
        let other = (position << self.doublings) + self.first;
        // No branch, likewise.
        let place = select_unpredictable(number < self.below, upper, other);
        Location { place, is_ahead: self.pointer.is_split(number) }
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use super::*;
    use crate::growth::layout::place;

    /// For every bucket, and every value of the pointer, in small tables.
    #[test]
    fn buckets_are_where_the_layout_says() {
        for buckets in [8, 24] {
            for level in 0..4 {
                for next in 0..=buckets << level {
                    let pointer = Pointer { level, next };
                    for whole in 0..1 << (level + 2) {
                        let locators = [Locator::new, Locator::in_vector]
                            .map(|locator| locator(pointer, whole, buckets));
                        for position in 0..buckets {
                            let number = position << level | low(whole, level);
                            let at = place(position, low(whole, pointer.level_of(number)), buckets);
                            for locator in locators {
                                let Location { place, is_ahead } = locator.at(position);
                                assert_eq!((place, is_ahead), (at, number < next), "{pointer:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    /// For every bucket of small tables, every value of the pointer, and fingerprints that share
    /// the bits that the bucket's level fixes.
    #[test]
    fn a_class_of_a_slot_is_placed_as_any_class() {
        let buckets = 8;
        for level in 0..3 {
            for next in 0..=buckets << level {
                let pointer = Pointer { level, next };
                for whole in 0..1 << (level + 2) {
                    for position in 0..buckets {
                        let placed =
                            Placed::new(Class::of(whole, position, buckets), pointer, buckets);
                        for (which, position) in placed.class.buckets.into_iter().enumerate() {
                            let fixed = pointer.level_of(position << level | low(whole, level));
                            for rest in 0..8 {
                                let other = rest << fixed | low(whole, fixed);
                                let expected = Class::of(other, position, buckets);
                                let expected = Placed::new(expected, pointer, buckets);
                                assert_eq!(placed.of_slot(which, other, buckets), expected);
                            }
                        }
                    }
                }
            }
        }
    }
}
