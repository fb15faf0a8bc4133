//! Where the buckets of a fingerprint are, for one value of the split pointer. Pure arithmetic.

use core::hint::select_unpredictable;

use crate::growth::layout::{Layout, unfolded};
use crate::growth::pointer::Pointer;
use crate::place::Class;

/// Where a bucket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) place: u64,
    /// Whether the bucket is split at the level of the pointer.
    pub(crate) is_ahead: bool,
    /// The fingerprint as a slot of the bucket holds it.
    pub(crate) held: u64,
}

/// A class, and where its buckets are for one value of the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) class: Class,
    pub(crate) pointer: Pointer,
    pub(crate) locations: [Location; 2],
}

impl Location {
    /// Returns where the bucket of a fingerprint at a position is.
    #[inline(always)]
    pub(crate) fn new(pointer: Pointer, layout: Layout, whole: u64, position: u64) -> Self {
        let folded = layout.folded_at(whole, position);
        let number = layout.number(position, folded, pointer.level);
        let child = layout.number(position, folded, pointer.level + 1);
        // No branch: the processor cannot predict it.
        let is_ahead = pointer.is_split(number);
        let place = select_unpredictable(is_ahead, child, number);
        Self { place, is_ahead, held: folded >> (pointer.level + u32::from(is_ahead)) }
    }
}

impl Placed {
    /// For a class of this layout.
    #[inline(always)]
    pub(crate) fn new(class: Class, pointer: Pointer, layout: Layout) -> Self {
        let Class { fingerprint, buckets: [one, other] } = class;
        let one = Location::new(pointer, layout, fingerprint, one);
        let other = Location::new(pointer, layout, fingerprint, other);
        Self { class, pointer, locations: [one, other] }
    }

    /// For a slot of one of these two buckets, which was read at the level that the pointer says:
    /// its class begins with that bucket.
    #[inline(always)]
    pub(crate) fn of_slot(&self, which: usize, held: u64, layout: Layout) -> Self {
        let (at, position) = (self.locations[which], self.class.buckets[which]);
        let level = self.pointer.level + u32::from(at.is_ahead);
        let whole = unfolded(held << level | at.place >> layout.bits, layout.fold_at(position));
        let class = layout.class(whole, position);
        let other = Location::new(self.pointer, layout, whole, class.buckets[1]);
        Self { class, locations: [Location { held, ..at }, other], ..*self }
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use super::*;
    use crate::growth::plan::Plan;

    /// For every bucket of small tables, every value of the pointer, and fingerprints that share
    /// the bits that the bucket's level fixes.
    #[test]
    fn buckets_are_where_the_layout_says() {
        for buckets in [8, 24] {
            let plan = Plan { buckets, width: 15, doublings: 4, paired: false };
            let (layout, all) = (plan.layout(), plan.positions());
            for level in 0..4 {
                for next in 0..=all << level {
                    let pointer = Pointer { level, next };
                    for (whole, position) in (0..1 << 11).step_by(7).zip((0..all).cycle()) {
                        let class = layout.class(whole, position);
                        let placed = Placed::new(class, pointer, layout);
                        for which in 0..2 {
                            let (position, at) = (class.buckets[which], placed.locations[which]);
                            let folded = layout.folded_at(whole, position);
                            let number = layout.number(position, folded, level);
                            let level = pointer.level_of(number);
                            assert_eq!(at.is_ahead, level != pointer.level);
                            assert_eq!(at.place, layout.number(position, folded, level));
                            assert_eq!(at.held, folded >> level);
                            // What the slot has leads back to the class, with this bucket first.
                            let [one, other] = class.buckets;
                            let expected = [[one, other], [other, one]][which];
                            let found = placed.of_slot(which, at.held, layout);
                            let class = Class { buckets: expected, ..class };
                            assert_eq!(found, Placed::new(class, pointer, layout));
                        }
                    }
                }
            }
        }
    }
}
