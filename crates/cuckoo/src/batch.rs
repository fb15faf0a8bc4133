//! The classes of a batch of items: the arithmetic of [`place`](crate::place) and
//! [`bucket`](crate::bucket), in loops that the compiler vectorizes.

use tamis_hash::{fastrange, narrow_range, split};
use tamis_sync::{BATCH, Kernel, SimdLevel, Vectors};

use crate::bucket::Shape;
use crate::geometry::Geometry;
use crate::growth::classifier::Classifier;
use crate::growth::layout::key;
use crate::place::{Class, GOLDEN};

/// Defines what [`BatchWork`](tamis_sync::BatchWork) on a table, fixed or growing, has in common:
/// the types, and the methods that find and request the buckets.
macro_rules! work_on_a_table {
    ($batch:ty, $answer:ty = $idle:expr, pulls_first: $pulls_first:literal,
        |$work:ident| $table:expr) => {
        type Batch = $batch;
        type Answer = $answer;
        const EMPTY: $batch = <$batch>::EMPTY;
        const IDLE: $answer = $idle;
        // If it is `true` and the iterator panics, the result of every item that was changed has
        // been passed on.
        const PULLS_FIRST: bool = $pulls_first;

        #[inline(always)]
        fn spread(&self, hashes: &[u64; BATCH], batch: &mut $batch) {
            let $work = self;
            $table.locate(hashes, batch);
        }

        #[inline(always)]
        fn prefetch(&self, hash: u64) {
            let $work = self;
            $table.prefetch_hash(hash);
        }

        #[inline(always)]
        fn prefetch_batch(&self, batch: &$batch) {
            let $work = self;
            $table.prefetch_batch(batch);
        }
    };
}

pub(crate) use work_on_a_table;

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

    /// Computes the classes of these hashes in a filter that grows. Their keys are those of
    /// [`layout::key`](key). For a [`Kernel`].
    #[inline(always)]
    pub(crate) fn spread_grown(&mut self, hashes: &[u64; ITEMS], classifier: &Classifier) {
        let Self { fingerprints, buckets: [ones, others], keys } = self;
        for item in 0..ITEMS {
            let class = classifier.class(hashes[item]);
            let [one, other] = class.buckets;
            (fingerprints[item], ones[item], others[item]) = (class.fingerprint, one, other);
            keys[item] = key(class);
        }
    }

    /// Returns the class of an item.
    #[inline(always)]
    pub(crate) const fn class(&self, item: usize) -> Class {
        let [one, other] = &self.buckets;
        Class { fingerprint: self.fingerprints[item], buckets: [one[item], other[item]] }
    }

    /// Repeats the query of each item that was not found, one item at a time.
    #[cold]
    #[inline(never)]
    pub(crate) fn retry_misses(&self, found: &mut [bool; ITEMS], contains: impl Fn(Class) -> bool) {
        for (item, found) in found.iter_mut().enumerate() {
            *found = *found || contains(self.class(item));
        }
    }

    /// Returns for each item whether one of its buckets holds its fingerprint.
    #[inline]
    pub(crate) fn find_in(
        &self,
        words: &Words<ITEMS>,
        shape: Shape,
        simd: SimdLevel,
    ) -> [bool; ITEMS] {
        simd.run(Compare { classes: self, words, shape })
    }
}

/// The words that contain the first and the second bucket of each item of a batch.
#[derive(Debug)]
pub(crate) struct Words<const ITEMS: usize = BATCH> {
    /// The word that contains the bucket, or the first of its two words.
    pub(crate) first: [[u64; ITEMS]; 2],
    /// The second word of the bucket. Not used if a bucket has at most 64 bits.
    pub(crate) second: [[u64; ITEMS]; 2],
}

impl<const ITEMS: usize> Words<ITEMS> {
    /// A value to be overwritten by the first read.
    pub(crate) const EMPTY: Self = Self { first: [[0; ITEMS]; 2], second: [[0; ITEMS]; 2] };
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
    fn run(self, _: Option<Vectors>) {
        // Vectors multiply 32 bits by 32 bits: use that where the number of buckets permits it.
        if self.geometry.buckets() <= u64::from(u32::MAX) {
            self.by(|hash, n| narrow_range(hash, n as u32));
        } else {
            self.by(fastrange);
        }
    }
}

// The loop indexes several arrays, a constant number of times. In this form the compiler vectorizes
// it.
impl<const ITEMS: usize> Spread<'_, ITEMS> {
    /// Computes [`Class::of_hash`] for each hash. `range` maps 64 bits to a number below the number
    /// of buckets.
    #[inline(always)]
    fn by(self, range: impl Fn(u64, u64) -> u64) {
        let Self { classes, hashes, geometry } = self;
        let width = geometry.shape().width;
        let fingerprint = |hash| {
            let pattern = split::pattern(hash);
            // The same as `split::fingerprint`, for `2^width - 1` values: with `pattern · 2^width =
            // a · 2^64 + b`, the quotient of `pattern · (2^width - 1)` is `a`, or one less if `b <
            // pattern`.
            let borrow = u64::from(pattern << width < pattern);
            (pattern >> (64 - width)) - borrow + 1
        };
        let buckets = geometry.buckets();
        let Classes { fingerprints, buckets: [ones, others], keys } = classes;
        for item in 0..ITEMS {
            // The fingerprint and the first bucket, from independent bits of the hash.
            let fingerprint = fingerprint(hashes[item]);
            let one = range(hashes[item], buckets);
            // The second bucket, as `alternate` computes it: `(sum - one) mod buckets`.
            let sum = range(fingerprint.wrapping_mul(GOLDEN), buckets) | 1;
            // Below zero the difference wraps to a huge number, and the difference plus `buckets`
            // is the right one.
            let less = sum.wrapping_sub(one);
            let other = less.min(less.wrapping_add(buckets));
            fingerprints[item] = fingerprint;
            ones[item] = one;
            others[item] = other;
            keys[item] = one.min(other);
        }
    }
}

/// The loop that compares the fingerprints of a batch with the slots of their buckets. It computes
/// [`Shape::contains`] on halves, since vectors have no numbers of 128 bits.
struct Compare<'a, const ITEMS: usize> {
    classes: &'a Classes<ITEMS>,
    words: &'a Words<ITEMS>,
    shape: Shape,
}

impl<const ITEMS: usize> Kernel for Compare<'_, ITEMS> {
    type Output = [bool; ITEMS];

    #[inline(always)]
    fn run(self, _: Option<Vectors>) -> [bool; ITEMS] {
        // One loop for each size of bucket.
        if self.shape.is_pair() { self.compare(true) } else { self.compare(false) }
    }
}

impl<const ITEMS: usize> Compare<'_, ITEMS> {
    #[inline(always)]
    fn compare(self, paired: bool) -> [bool; ITEMS] {
        let Self { classes, words, shape } = self;
        let mut found = [false; ITEMS];
        for (item, found) in found.iter_mut().enumerate() {
            let marks = |which: usize| {
                let (first, second) = (words.first[which][item], words.second[which][item]);
                let at = shape.offset(classes.buckets[which][item]);
                let halves = [if paired { first } else { shape.cut(first, at) }, second];
                Shape::marks_of(shape.numbers(), paired, halves, classes.fingerprints[item])
            };
            // No branch: the loop must vectorize.
            *found = marks(0) | marks(1) != 0;
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
            half in prop_oneof![1..40_u64, 1..1_u64 << 31, 1_u64 << 31..1 << 55],
            words in any::<[[[u64; BATCH]; 2]; 2]>(),
            put in prop::collection::vec((0..BATCH, 0..2_usize, any::<prop::sample::Index>()), 0..40),
        ) {
            for shape in SHAPES {
                let geometry = Geometry::of(2 * half, shape).unwrap();
                for &simd in SimdLevel::all() {
                    let mut classes = Classes::EMPTY;
                    classes.spread(&hashes, geometry, simd);
                    for (item, &hash) in hashes.iter().enumerate() {
                        let class = Class::of_hash(hash, 2 * half, shape.width);
                        prop_assert_eq!(classes.class(item), class);
                        prop_assert_eq!(classes.keys[item], class.key());
                    }
                    // Put the fingerprints of some items into a slot of their words.
                    let mut words = Words { first: words[0], second: words[1] };
                    for (item, which, slot) in &put {
                        let slots = shape.slots * (64 / shape.bits).max(1);
                        let slot = slot.index(slots as usize) as u32;
                        let (bucket, slot) = (slot / shape.slots, slot % shape.slots);
                        let at = 32 * bucket + slot * shape.width;
                        let (first, second) = (&mut words.first[*which][*item], &mut words.second[*which][*item]);
                        let mut pair = u128::from(*second) << 64 | u128::from(*first);
                        pair &= !(u128::from(shape.mask()) << at);
                        pair |= u128::from(classes.fingerprints[*item]) << at;
                        (*first, *second) = (pair as u64, (pair >> 64) as u64);
                    }
                    let found = classes.find_in(&words, shape, simd);
                    for (item, &found) in found.iter().enumerate() {
                        let class = classes.class(item);
                        let contains = [0, 1].map(|which| {
                            let first = words.first[which][item];
                            let bucket = if shape.is_pair() {
                                u128::from(words.second[which][item]) << 64 | u128::from(first)
                            } else {
                                u128::from(shape.cut(first, shape.offset(class.buckets[which])))
                            };
                            shape.contains(bucket, class.fingerprint)
                        });
                        prop_assert_eq!(found, contains[0] || contains[1]);
                    }
                }
            }
        }
    }
}
