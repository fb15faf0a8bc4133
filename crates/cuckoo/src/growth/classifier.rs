//! The class of a hash in a table that grows, from constants that are computed once. Pure
//! arithmetic.

use tamis_hash::split;

use crate::growth::plan::Plan;
use crate::place::Class;

/// What computes the class of a hash.
#[derive(Debug)]
pub(crate) struct Classifier {
    /// The number of bits of a pattern that are not in a fingerprint.
    shift: u32,
    /// The fingerprints below this are no item's.
    least: u64,
    buckets: u64,
    /// The number of buckets if it has at most 32 bits, otherwise 0. Vectors multiply 32 bits by
    /// 32 bits, and only from a number of this type the compiler sees that they may.
    narrow: u32,
}

impl Classifier {
    pub(crate) const fn new(plan: &Plan) -> Self {
        let Plan { buckets, width, doublings, .. } = *plan;
        let narrow = if buckets <= u32::MAX as u64 { buckets as u32 } else { 0 };
        Self { shift: 64 - width, least: 1 << doublings, buckets, narrow }
    }

    /// Returns the class of a hash: the whole fingerprint, and its two positions.
    #[inline(always)]
    pub(crate) const fn class(&self, hash: u64) -> Class {
        let fingerprint = self.fingerprint(hash);
        Class::of(fingerprint, split::place(hash, self.buckets), self.buckets)
    }

    /// Returns the whole fingerprint of a hash, which leaves a number above 0 in the slots of the
    /// last level.
    #[inline(always)]
    pub(crate) const fn fingerprint(&self, hash: u64) -> u64 {
        // No multiplication of 64 by 64 bits, which vectors do not have.
        let bits = split::pattern(hash) >> self.shift;
        if bits < self.least { bits + self.least } else { bits }
    }

    /// Returns the number of buckets, and the same if it has at most 32 bits, otherwise 0.
    #[inline(always)]
    pub(crate) const fn buckets(&self) -> (u64, u32) {
        (self.buckets, self.narrow)
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use proptest::prelude::*;
    use tamis_sync::BATCH;

    use super::*;
    use crate::batch::Classes;

    proptest! {
        /// For numbers of buckets that fit in 32 bits and that do not.
        #[test]
        fn a_batch_has_the_classes_of_its_hashes(
            hashes in any::<[u64; BATCH]>(),
            eighth in prop_oneof![1..1000_u64, 1_u64 << 28..1 << 30, Just((1 << 29) - 1)],
            width in 20..=42_u32,
            doublings in 1..12_u32,
        ) {
            let plan = Plan { buckets: 8 * eighth, width, doublings, paired: true };
            let classifier = Classifier::new(&plan);
            let mut classes = Classes::EMPTY;
            classes.spread_grown(&hashes, &classifier);
            for (item, &hash) in hashes.iter().enumerate() {
                let class = classifier.class(hash);
                prop_assert_eq!(classes.class(item), class);
                prop_assert_eq!(classes.keys[item], class.key());
                prop_assert!(plan.may_hold(0, class.fingerprint));
                prop_assert_eq!(class.buckets[0], split::place(hash, plan.buckets));
                // What is no item's fingerprint belongs to one that is.
                let bits = split::pattern(hash) >> (64 - width);
                prop_assert_eq!(class.fingerprint, if bits >> doublings == 0 { bits | 1 << doublings } else { bits });
            }
        }
    }
}
