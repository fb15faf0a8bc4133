//! Where the buckets of a table that grows are, and what is in them. Pure arithmetic on numbers
//! and on loaded values.
//!
//! A bucket of level `l` is a pair of a *position* below `N`, the first number of buckets, and the
//! low `l` bits of the fingerprints in it. It splits into two buckets of level `l + 1`: the
//! *lower* child, in whose fingerprints the next bit is 0, and the *upper* child. The lower child
//! takes the place of its parent.
//!
//! The two highest bits of a bucket are its **tag**: how its slots are to be read.

use core::hint::select_unpredictable;

use crate::bucket::Shape;
use crate::place::Class;

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
    (tag as u128) << (shape.bits() - 2)
}

/// Returns the bucket with another tag.
pub(crate) const fn with_tag(bucket: u128, tag: u32, shape: Shape) -> u128 {
    bucket & !in_place(3, shape) | in_place(tag, shape)
}

/// Returns the low bits of a fingerprint that select a bucket at this level.
#[inline(always)]
pub(crate) const fn low(fingerprint: u64, level: u32) -> u64 {
    fingerprint & ((1 << level) - 1)
}

/// Returns the place of a bucket in memory. The places of the upper children of a level follow
/// each other in the order in which the buckets of the level split.
#[inline(always)]
pub(crate) fn place(position: u64, low: u64, buckets: u64) -> u64 {
    // The highest bit of `low` says which doubling made the bucket. No branch: the processor cannot
    // predict it.
    let first = select_unpredictable(low == 0, 0, buckets - 1);
    ((first + position) << (low | 1).ilog2()) + low
}

/// Returns the position and the low bits of the bucket at a place.
pub(crate) const fn bucket_at(place: u64, buckets: u64) -> (u64, u64) {
    if place < buckets {
        return (place, 0);
    }
    let doubling = (place / buckets).ilog2();
    let top = 1 << doubling;
    let number = place - top * buckets;
    (number >> doubling, top | number & (top - 1))
}

/// Splits a bucket of this level: returns its lower and its upper child.
pub(crate) fn halves(bucket: u128, level: u32, from: Shape, to: Shape) -> [u128; 2] {
    let mut children = [0_u128; 2];
    // From the highest slot, so that the children have their fingerprints in the same order.
    for slot in (0..from.slots()).rev() {
        let fingerprint = (bucket >> (slot * from.width())) as u64 & from.mask();
        for (bit, child) in (0..).zip(&mut children) {
            // The lowest bit decides. No branch: the processor cannot predict it. A child has at
            // least as many slots as its parent.
            let with = *child << to.width() | u128::from(fingerprint >> 1);
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
            if filled == from.slots() {
                return None;
            }
            bucket |= u128::from(fingerprint << 1 | bit) << (filled * from.width());
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
        self.shape.contains(self.value, class.fingerprint >> self.level)
    }

    /// Returns the whole fingerprints in the bucket.
    pub(crate) fn fingerprints(self) -> impl Iterator<Item = u64> + use<'s> {
        let Self { value, shape, level, low } = self;
        shape.fingerprints_of(value).map(move |held| held << level | low)
    }
}
