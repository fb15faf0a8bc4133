//! The class of a hash in a table that grows, from constants that are computed once. Pure
//! arithmetic.

use tamis_hash::split;

use crate::growth::layout::Layout;
use crate::growth::plan::Plan;
use crate::place::Class;

/// What computes the class of a hash.
#[derive(Debug)]
pub(crate) struct Classifier {
    /// The number of bits of a pattern that are not in a fingerprint.
    shift: u32,
    /// The fingerprints below this are no item's.
    least: u64,
    pub(crate) layout: Layout,
}

impl Classifier {
    pub(crate) const fn new(plan: &Plan) -> Self {
        Self { shift: 64 - plan.width, least: 1 << plan.last_level(), layout: plan.layout() }
    }

    /// Returns the class of a hash: the whole fingerprint, and its two positions, the even one
    /// first.
    #[inline(always)]
    pub(crate) const fn class(&self, hash: u64) -> Class {
        self.layout.class(self.fingerprint(hash), self.even(hash))
    }

    /// Returns the even position of a hash.
    #[inline(always)]
    pub(crate) const fn even(&self, hash: u64) -> u64 {
        hash >> (64 - self.layout.bits) & !1
    }

    /// Returns the whole fingerprint of a hash, which leaves a number above 0 in the slots of the
    /// last level.
    #[inline(always)]
    pub(crate) const fn fingerprint(&self, hash: u64) -> u64 {
        let bits = split::pattern(hash) >> self.shift;
        if bits < self.least { bits + self.least } else { bits }
    }
}

#[cfg(all(test, not(any(tamis_loom, tamis_shuttle))))]
mod tests {
    use proptest::prelude::*;
    use tamis_sync::BATCH;

    use super::*;
    use crate::batch::Classes;
    use crate::growth::layout::key;

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
            let (classifier, last) = (Classifier::new(&plan), plan.last_level());
            let mut classes = Classes::EMPTY;
            classes.spread_grown(&hashes, &classifier);
            for (item, &hash) in hashes.iter().enumerate() {
                let class = classifier.class(hash);
                prop_assert_eq!(classes.class(item), class);
                prop_assert_eq!(classes.keys[item], key(class));
                prop_assert!(plan.may_hold(0, class.fingerprint));
                prop_assert_eq!(class.buckets[0], split::place(hash, plan.positions()) & !1);
                prop_assert_eq!(class.fingerprint >> plan.width, 0);
                // What is no item's fingerprint belongs to one that is.
                let bits = split::pattern(hash) >> (64 - width);
                prop_assert_eq!(class.fingerprint, if bits >> last == 0 { bits | 1 << last } else { bits });
            }
        }
    }
}
