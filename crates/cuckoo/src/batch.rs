//! The classes of a batch of items: the arithmetic of [`place`](crate::place) and [`bucket`](crate::bucket), in loops
//! that the compiler vectorizes.

use tamis_hash::{fastrange, narrow_range, split};
use tamis_sync::{BATCH, Kernel, SimdLevel};

use crate::bucket::Shape;
use crate::geometry::Geometry;
use crate::place::{Class, GOLDEN};

/// The classes of a batch of items, with one array per field of [`Class`].
#[derive(Debug)]
pub(crate) struct Classes<const ITEMS: usize = BATCH> {
    pub(crate) fingerprints: [u64; ITEMS],
    pub(crate) buckets: [[u64; ITEMS]; 2],
    /// The [`Class::key`] of each item.
    pub(crate) keys: [u64; ITEMS],
}

impl<const ITEMS: usize> Classes<ITEMS> {
    /// A value to be overwritten by [`spread`](Self::spread).
    pub(crate) const EMPTY: Self =
        Self { fingerprints: [0; ITEMS], buckets: [[0; ITEMS]; 2], keys: [0; ITEMS] };

    /// Computes the classes of these hashes.
    #[inline]
    pub(crate) fn spread(&mut self, hashes: &[u64; ITEMS], geometry: Geometry, simd: SimdLevel) {
        simd.run(Spread { classes: self, hashes, geometry });
    }

    /// Returns the class of an item.
    #[inline(always)]
    pub(crate) const fn class(&self, item: usize) -> Class {
        let [one, other] = &self.buckets;
        Class { fingerprint: self.fingerprints[item], buckets: [one[item], other[item]] }
    }

    /// Returns for each item whether one of its buckets holds its fingerprint. `words` contains the words of its first
    /// and of its second bucket.
    #[inline]
    pub(crate) fn find_in(
        &self,
        words: &[[u64; ITEMS]; 2],
        shape: Shape,
        simd: SimdLevel,
    ) -> [bool; ITEMS] {
        simd.run(Compare { classes: self, words, shape })
    }
}

/// The loop that computes the classes of a batch of hashes.
struct Spread<'a, const ITEMS: usize> {
    classes: &'a mut Classes<ITEMS>,
    hashes: &'a [u64; ITEMS],
    geometry: Geometry,
}

impl<const ITEMS: usize> Kernel for Spread<'_, ITEMS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // Vectors multiply 32 bits by 32 bits: use that where the number of buckets permits it.
        if self.geometry.buckets() <= u64::from(u32::MAX) {
            self.by(|hash, n| narrow_range(hash, n as u32));
        } else {
            self.by(fastrange);
        }
    }
}

// The loop indexes several arrays, a constant number of times. In this form the compiler vectorizes it.
impl<const ITEMS: usize> Spread<'_, ITEMS> {
    /// Computes [`Class::of_hash`] for each hash. `range` maps 64 bits to a number below the number of buckets.
    #[inline(always)]
    fn by(self, range: impl Fn(u64, u64) -> u64) {
        let Self {
            classes: Classes { fingerprints, buckets: [ones, others], keys },
            hashes,
            geometry,
        } = self;
        let (buckets, values) = (geometry.buckets(), geometry.shape().fingerprints());
        for item in 0..ITEMS {
            // The fingerprint and the first bucket, from independent bits of the hash.
            let fingerprint = narrow_range(split::pattern(hashes[item]), values as u32) + 1;
            let one = range(hashes[item], buckets);
            // The second bucket, as `alternate` computes it: `(sum - one) mod buckets`.
            let sum = 2 * range(fingerprint.wrapping_mul(GOLDEN), buckets / 2) + 1;
            // Below zero the difference wraps to a huge number, and the difference plus `buckets` is the right one.
            let less = sum.wrapping_sub(one);
            let other = less.min(less.wrapping_add(buckets));
            fingerprints[item] = fingerprint;
            ones[item] = one;
            others[item] = other;
            keys[item] = one.min(other);
        }
    }
}

/// The loop that compares the fingerprints of a batch with the slots of their buckets.
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
            let contains = |which: usize| {
                let bucket =
                    shape.cut(words[which][item], shape.offset(classes.buckets[which][item]));
                shape.contains(bucket, fingerprint)
            };
            // No branch: the loop must vectorize.
            found[item] = contains(0) | contains(1);
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
        /// For every vector width, and for numbers of buckets that fit in 32 bits and that do not.
        #[test]
        fn a_batch_agrees_with_single_items(
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
                    // Put the fingerprints of some items into a slot of their words.
                    let mut words = words;
                    for (item, which, slot) in &put {
                        let slots = shape.slots() as usize * (64 / shape.bits()) as usize;
                        let slot = slot.index(slots) as u32;
                        let (bucket, slot) = (slot / shape.slots(), slot % shape.slots());
                        let at = 32 * bucket + slot * shape.width();
                        let word = &mut words[*which][*item];
                        *word = *word & !(shape.mask() << at) | classes.fingerprints[*item] << at;
                    }
                    let found = classes.find_in(&words, shape, simd);
                    for (item, &found) in found.iter().enumerate() {
                        let class = classes.class(item);
                        let contains = [0, 1].map(|which| {
                            let at = shape.offset(class.buckets[which]);
                            shape.contains(shape.cut(words[which][item], at), class.fingerprint)
                        });
                        prop_assert_eq!(found, contains[0] || contains[1]);
                    }
                }
            }
        }
    }
}
