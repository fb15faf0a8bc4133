//! Where the buckets of a table that grows are, and what is in them. Pure arithmetic on numbers
//! and on loaded values.
//!
//! A bucket of level `l` is a pair of one of `N` *positions* and the low `l` bits of the
//! fingerprints in it. Its *number*, which is its place in memory too, is the position plus `N`
//! times these bits. It splits into two buckets of level `l + 1`: the *lower* child, in whose
//! fingerprints the next bit is 0, which takes the place of its parent, and the *upper* child.
//!
//! There are `N = 2^bits` positions, and each class has an even one and an odd one. Buckets of even
//! positions hold the fingerprint itself, buckets of odd positions the *folded* one: XORed with
//! itself, shifted. So the two buckets of a class split independently.
//!
//! The two highest bits of a bucket are its **tag**: how its slots are to be read.

use core::hint::select_unpredictable;

use crate::bucket::Shape;
use crate::place::{Class, GOLDEN};

/// The tag of a bucket that is not yet part of the table. Memory is zero at first.
pub(crate) const UNBORN: u32 = 0;

/// The tag of a bucket that is being split. Its slots are those of its level, and do not change.
pub(crate) const FROZEN: u32 = 3;

/// Returns the tag of a bucket at rest, at this level: 1 or 2.
#[inline(always)]
pub(crate) const fn tag_of_level(level: u32) -> u32 {
    1 + level % 2
}

/// Returns the tag of a bucket of this shape.
#[inline(always)]
pub(crate) const fn tag(bucket: u128, shape: Shape) -> u32 {
    // In 64 bits if the bucket has no more: the compiler does not omit the upper half everywhere.
    if shape.is_pair() { (bucket >> 126) as u32 } else { (bucket as u64 >> 62) as u32 }
}

/// Returns a tag in its place.
#[inline(always)]
pub(crate) const fn in_place(tag: u32, shape: Shape) -> u128 {
    (tag as u128) << (shape.bits - 2)
}

/// Returns the bucket with another tag.
pub(crate) const fn with_tag(bucket: u128, tag: u32, shape: Shape) -> u128 {
    bucket & !in_place(3, shape) | in_place(tag, shape)
}

/// What determines the class of a fingerprint, and where its buckets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The number of bits of a position.
    pub(crate) bits: u32,
    /// The number of bits by which a folded fingerprint is shifted.
    pub(crate) fold: u32,
}

/// Returns this number of the lowest bits of a number, at most 63.
#[inline(always)]
const fn lowest(number: u64, bits: u32) -> u64 {
    number & !(u64::MAX << bits)
}

impl Layout {
    /// Returns the other position of a fingerprint.
    #[inline(always)]
    pub(crate) const fn alternate(self, whole: u64, position: u64) -> u64 {
        position ^ (whole.wrapping_mul(GOLDEN) >> (64 - self.bits) | 1)
    }

    /// Returns the class of a fingerprint in a bucket of this position.
    #[inline(always)]
    pub(crate) const fn class(self, whole: u64, position: u64) -> Class {
        Class { fingerprint: whole, buckets: [position, self.alternate(whole, position)] }
    }

    /// Returns the shift of fingerprints in buckets of this position.
    #[inline(always)]
    pub(crate) fn fold_at(self, position: u64) -> u32 {
        select_unpredictable(position & 1 == 0, UNFOLDED, self.fold)
    }

    /// Returns the fingerprint as a bucket of this position holds it.
    #[inline(always)]
    pub(crate) fn folded_at(self, whole: u64, position: u64) -> u64 {
        // Select the result, not the shift. Where the compiler sees that the position is even, it
        // omits the selection and the shift.
        select_unpredictable(position & 1 == 0, whole, folded(whole, self.fold))
    }

    /// Returns the number, at this level, of the bucket that holds a fingerprint in this form: its
    /// place.
    #[inline(always)]
    pub(crate) const fn number(self, position: u64, folded: u64, level: u32) -> u64 {
        lowest(folded << self.bits | position, self.bits + level)
    }

    /// Returns the position of the bucket at a place.
    #[inline(always)]
    pub(crate) const fn position(self, place: u64) -> u64 {
        lowest(place, self.bits)
    }
}

/// Returns a number that selects the stripe of a class, whatever the order of its positions.
#[inline(always)]
pub(crate) fn key(class: Class) -> u64 {
    let [one, other] = class.buckets;
    select_unpredictable(one & 1 == 0, one, other) >> 1
}

/// The shift that leaves a fingerprint as it is.
pub(crate) const UNFOLDED: u32 = 63;

/// Returns a fingerprint XORed with itself, shifted.
#[inline(always)]
pub(crate) const fn folded(whole: u64, fold: u32) -> u64 {
    whole ^ whole >> fold
}

/// Returns the fingerprint that was [`folded`]. It has at most 63 bits, and the shift is 8 or more.
#[inline(always)]
pub(crate) const fn unfolded(folded: u64, fold: u32) -> u64 {
    // Folded once more with the same shift, a fingerprint is as if folded with two times that. From
    // 64 bits on nothing is left to undo.
    const fn undo(folded: u64, fold: u32) -> u64 {
        folded ^ folded >> if fold < UNFOLDED { fold } else { UNFOLDED }
    }
    undo(undo(undo(folded, fold), 2 * fold), 4 * fold)
}

/// Splits a bucket of this level: returns its lower and its upper child.
pub(crate) fn halves(bucket: u128, level: u32, from: Shape, to: Shape) -> [u128; 2] {
    let mut children = [0_u128; 2];
    // From the highest slot, so that the children have their fingerprints in the same order.
    for slot in (0..from.slots).rev() {
        let fingerprint = (bucket >> (slot * from.width)) as u64 & from.mask();
        for (bit, child) in (0..).zip(&mut children) {
            // The lowest bit decides. No branch: the processor cannot predict it. A child has at
            // least as many slots as its parent.
            let with = *child << to.width | u128::from(fingerprint >> 1);
            let is_here = fingerprint & 1 == bit && fingerprint != 0;
            *child = if is_here { with } else { *child };
        }
    }
    children.map(|child| child | in_place(tag_of_level(level + 1), to))
}

/// Returns the bucket of this level whose children these are, or `None` if their copies do not fit
/// into it.
pub(crate) fn joined(children: [u128; 2], level: u32, from: Shape, to: Shape) -> Option<u128> {
    let (mut bucket, mut filled) = (in_place(tag_of_level(level), from), 0);
    for (bit, child) in (0..).zip(children) {
        for fingerprint in to.fingerprints_of(child) {
            if filled == from.slots {
                return None;
            }
            bucket |= u128::from(fingerprint << 1 | bit) << (filled * from.width);
            filled += 1;
        }
    }
    Some(bucket)
}

/// What a resolved bucket holds: its value, and how its slots are to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contents<'s> {
    pub(crate) value: u128,
    pub(crate) shape: &'s Shape,
    pub(crate) level: u32,
    /// The low bits of all fingerprints in the bucket.
    pub(crate) low: u64,
    /// How the bucket holds fingerprints.
    pub(crate) fold: u32,
}

impl<'s> Contents<'s> {
    /// Returns the bit offset of the first empty slot.
    #[inline(always)]
    pub(crate) const fn first_empty(&self) -> Option<u32> {
        self.shape.first_empty(self.value)
    }

    /// Returns whether a slot holds the class. The bucket must be one of its two.
    #[inline(always)]
    pub(crate) const fn contains(&self, class: Class) -> bool {
        self.shape.contains(self.value, folded(class.fingerprint, self.fold) >> self.level)
    }

    /// Returns the whole fingerprints in the bucket.
    pub(crate) fn fingerprints(self) -> impl Iterator<Item = u64> + use<'s> {
        let Self { value, shape, level, low, fold } = self;
        shape.fingerprints_of(value).map(move |held| unfolded(held << level | low, fold))
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// A split leaves a fingerprint at its place, or puts it behind all buckets of the level in the
    /// order of the splits, as the next bit says.
    #[test]
    fn upper_children_follow_each_other_in_the_order_of_the_splits() {
        for (bits, level) in (1..6).flat_map(|bits| (0..6).map(move |level| (bits, level))) {
            let (layout, all) = (Layout { bits, fold: 8 }, 1 << bits << level);
            let mut numbers = HashSet::new();
            for (position, low) in
                (0..1 << bits).flat_map(|position| (0..1 << level).map(move |low| (position, low)))
            {
                let number = layout.number(position, low, level);
                assert!(numbers.insert(number) && number < all);
                assert_eq!((layout.position(number), number >> bits), (position, low));
                assert_eq!(layout.number(position, low, level + 1), number);
                assert_eq!(layout.number(position, low | 1 << level, level + 1), all + number);
            }
        }
    }

    proptest! {
        /// Both buckets of a class lead to it, and one of the two positions is even.
        #[test]
        fn the_alternate_of_the_alternate_is_the_position(
            bits in 1..40_u32,
            fold in 8..40_u32,
            whole in 1_u64..1 << 42,
            at in any::<u64>(),
        ) {
            let layout = Layout { bits, fold };
            let class = layout.class(whole, at >> (64 - bits));
            let [one, other] = class.buckets;
            prop_assert_eq!(layout.alternate(whole, other), one);
            prop_assert!(other >> bits == 0 && (one ^ other) & 1 == 1);
            prop_assert_eq!(key(class), key(layout.class(whole, other)));
            for position in [one, other] {
                let folded = layout.folded_at(whole, position);
                prop_assert_eq!(unfolded(folded, layout.fold_at(position)), whole);
                prop_assert_eq!(folded, if position & 1 == 0 { whole } else { whole ^ whole >> fold });
            }
        }
    }
}
