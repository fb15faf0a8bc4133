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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    pub(crate) place: u64,
    /// Whether the bucket is split at the level of the pointer.
    pub(crate) is_ahead: bool,
}

/// A class, and where its buckets are for one value of the pointer.
#[derive(Clone, Copy, Debug)]
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
}
