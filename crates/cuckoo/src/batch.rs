//! The classes of many items, computed side by side: the arithmetic of [`place`](crate::place) and
//! [`bucket`](crate::bucket) in loops that the compiler makes vector instructions of.

use tamis_hash::{fastrange, narrow_range, split};
use tamis_sync::{Kernel, SimdLevel};

use crate::bucket::Shape;
use crate::geometry::Geometry;
use crate::place::{Class, GOLDEN};

/// Items of a batch: as many as there are lines on their way from memory at a time, two an item, and as fill
/// the widest vectors four times.
pub(crate) const BATCH: usize = 32;

/// The classes of some items, an array for each of their parts.
#[derive(Debug)]
pub(crate) struct Classes<const ITEMS: usize = BATCH> {
    pub(crate) fingerprints: [u64; ITEMS],
    pub(crate) buckets: [[u64; ITEMS]; 2],
    /// As [`Class::key`].
    pub(crate) keys: [u64; ITEMS],
}

impl<const ITEMS: usize> Classes<ITEMS> {
    pub(crate) const EMPTY: Self =
        Self { fingerprints: [0; ITEMS], buckets: [[0; ITEMS]; 2], keys: [0; ITEMS] };

    /// Computes the classes of these hashes.
    #[inline]
    pub(crate) fn spread(&mut self, hashes: &[u64; ITEMS], geometry: Geometry, simd: SimdLevel) {
        simd.run(Spread { classes: self, hashes, geometry });
    }

    /// The class of an item.
    #[inline(always)]
    pub(crate) const fn class(&self, item: usize) -> Class {
        let [one, other] = &self.buckets;
        Class { fingerprint: self.fingerprints[item], buckets: [one[item], other[item]] }
    }

    /// Whether the fingerprint of each item is in one of its buckets, which lie in these words.
    #[inline]
    pub(crate) fn are_in(
        &self,
        words: &[[u64; ITEMS]; 2],
        shape: Shape,
        simd: SimdLevel,
    ) -> [bool; ITEMS] {
        simd.run(Compare { classes: self, words, shape })
    }
}

struct Spread<'a, const ITEMS: usize> {
    classes: &'a mut Classes<ITEMS>,
    hashes: &'a [u64; ITEMS],
    geometry: Geometry,
}

impl<const ITEMS: usize> Kernel for Spread<'_, ITEMS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        if self.geometry.buckets() <= u64::from(u32::MAX) {
            self.by(|hash, n| narrow_range(hash, n as u32));
        } else {
            self.by(fastrange);
        }
    }
}

// By index, a constant number of times, several arrays at once: so the compiler sees what it can do.
impl<const ITEMS: usize> Spread<'_, ITEMS> {
    /// As [`Class::of_hash`], by a function for ranges as large as the number of buckets.
    #[inline(always)]
    fn by(self, range: impl Fn(u64, u64) -> u64) {
        let Self {
            classes: Classes { fingerprints, buckets: [ones, others], keys },
            hashes,
            geometry,
        } = self;
        let (buckets, values) = (geometry.buckets(), geometry.shape().fingerprints());
        for item in 0..ITEMS {
            let fingerprint = narrow_range(split::pattern(hashes[item]), values as u32) + 1;
            let one = range(hashes[item], buckets);
            let sum = 2 * range(fingerprint.wrapping_mul(GOLDEN), buckets / 2) + 1;
            // As `alternate`: below zero it is a huge number, and `buckets` more is the right one.
            let less = sum.wrapping_sub(one);
            let other = less.min(less.wrapping_add(buckets));
            fingerprints[item] = fingerprint;
            ones[item] = one;
            others[item] = other;
            keys[item] = one.min(other);
        }
    }
}

struct Compare<'a, const ITEMS: usize> {
    classes: &'a Classes<ITEMS>,
    words: &'a [[u64; ITEMS]; 2],
    shape: Shape,
}

impl<const ITEMS: usize> Kernel for Compare<'_, ITEMS> {
    type Output = [bool; ITEMS];

    #[inline(always)]
    fn run(self) -> [bool; ITEMS] {
        let Self { classes, words, shape } = self;
        let mut found = [false; ITEMS];
        for item in 0..ITEMS {
            let fingerprint = classes.fingerprints[item];
            let has = |which: usize| {
                let bucket =
                    shape.cut(words[which][item], shape.offset(classes.buckets[which][item]));
                shape.contains(bucket, fingerprint)
            };
            found[item] = has(0) | has(1);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bucket::SHAPES;

    proptest! {
        /// In vectors of every width, and in filters whose buckets 32 bits can and cannot count.
        #[test]
        fn a_batch_is_as_one_by_one(
            hashes in any::<[u64; BATCH]>(),
            half in prop_oneof![1..40_u64, 1..1_u64 << 31, 1_u64 << 31..1 << 56],
            words in any::<[[u64; BATCH]; 2]>(),
            put in prop::collection::vec((0..BATCH, 0..2_usize, any::<prop::sample::Index>()), 0..40),
        ) {
            for shape in SHAPES {
                let geometry = Geometry::of(2 * half, shape).unwrap();
                for &simd in SimdLevel::all() {
                    let mut classes = Classes::EMPTY;
                    classes.spread(&hashes, geometry, simd);
                    for (item, &hash) in hashes.iter().enumerate() {
                        let class = Class::of_hash(hash, 2 * half, shape.width());
                        prop_assert_eq!(classes.class(item), class);
                        prop_assert_eq!(classes.keys[item], class.key());
                    }
                    // The fingerprints of some items are in a slot of either bucket of the word.
                    let mut words = words;
                    for (item, which, slot) in &put {
                        let slots = shape.slots() as usize * (64 / shape.bits()) as usize;
                        let slot = slot.index(slots) as u32;
                        let (bucket, slot) = (slot / shape.slots(), slot % shape.slots());
                        let at = 32 * bucket + slot * shape.width();
                        let word = &mut words[*which][*item];
                        *word = *word & !(shape.mask() << at) | classes.fingerprints[*item] << at;
                    }
                    let found = classes.are_in(&words, shape, simd);
                    for (item, &found) in found.iter().enumerate() {
                        let class = classes.class(item);
                        let has = [0, 1].map(|which| {
                            let at = shape.offset(class.buckets[which]);
                            shape.contains(shape.cut(words[which][item], at), class.fingerprint)
                        });
                        prop_assert_eq!(found, has[0] || has[1]);
                    }
                }
            }
        }
    }
}
