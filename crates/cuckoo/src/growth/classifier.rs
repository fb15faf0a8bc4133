//! The class of a hash in a table that grows, from constants that are computed once. Pure
//! arithmetic.

use tamis_hash::split;

use crate::growth::plan::Plan;
use crate::place::Class;

/// What [`Plan::class`] computes from, without what is the same for all hashes.
#[derive(Debug)]
pub(crate) struct Classifier {
    /// The bits of a pattern that are not in a fingerprint.
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

    /// Returns the class of a hash, as [`Plan::class`] does.
    #[inline(always)]
    pub(crate) const fn class(&self, hash: u64) -> Class {
        let fingerprint = self.fingerprint(hash);
        Class::of(fingerprint, split::place(hash, self.buckets), self.buckets)
    }

    /// Returns the whole fingerprint of a hash, as [`Plan::fingerprint`] does.
    #[inline(always)]
    pub(crate) const fn fingerprint(&self, hash: u64) -> u64 {
        let bits = split::pattern(hash) >> self.shift;
        if bits < self.least { bits + self.least } else { bits }
    }

    /// Returns the number of buckets, and the same if it has at most 32 bits, otherwise 0.
    #[inline(always)]
    pub(crate) const fn buckets(&self) -> (u64, u32) {
        (self.buckets, self.narrow)
    }
}
