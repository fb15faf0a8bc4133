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
}

impl Classifier {
    pub(crate) const fn new(plan: &Plan) -> Self {
        let Plan { buckets, width, doublings, .. } = *plan;
        Self { shift: 64 - width, least: 1 << doublings, buckets }
    }

    /// Returns the class of a hash, as [`Plan::class`] does.
    #[inline(always)]
    pub(crate) const fn class(&self, hash: u64) -> Class {
        let bits = split::pattern(hash) >> self.shift;
        let fingerprint = if bits < self.least { bits + self.least } else { bits };
        Class::of(fingerprint, split::place(hash, self.buckets), self.buckets)
    }
}
