//! The classes of a filter that grows: the same in all slices, whatever their sizes. Pure
//! arithmetic.
//!
//! Slice 0 has `N` buckets, and slice `j` has `N · 2^j`. An item has one class for the
//! life of the filter: a *whole* fingerprint `F` and two buckets `{A, B}` of slice 0. In
//! slice `j`
//!
//! * the buckets are `A · 2^j + e` and `B · 2^j + e`, where `e` is the number in the low `j` bits
//!   of `F`,
//! * and a slot holds the rest of `F`: `F >> j`.
//!
//! So a bucket number and a slot give `F` and one of the two buckets of slice 0, and these
//! give the other one. Two items have the same fingerprint and the same buckets in one slice
//! if and only if they have them in all. A copy in any slice therefore stands for a copy in
//! any other: this is what makes removals safe.
//!
//! With each slice, a slot holds one bit less, and the number of buckets doubles. What the
//! filter can distinguish stays the same: `K = N · |F| / 2` classes, where `|F|` is the number of
//! whole fingerprints. So the false-positive rate grows with the number of items, and `K` is chosen
//! for the most items that the filter is to hold.

use crate::place::{self, Class};

/// Returns the other bucket of a fingerprint in this bucket of a slice with `buckets` buckets.
/// With 0 doublings it is that of an ordinary filter.
#[inline]
pub(crate) const fn alternate(fingerprint: u64, bucket: u64, buckets: u64, doublings: u32) -> u64 {
    let low = bucket & ((1 << doublings) - 1);
    let whole = fingerprint << doublings | low;
    place::alternate(whole, bucket >> doublings, buckets >> doublings) << doublings | low
}

/// Returns the class in a slice, of a class of the whole filter.
#[inline]
pub(crate) const fn nested(class: Class, slice: u32) -> Class {
    let low = class.fingerprint & ((1 << slice) - 1);
    let [one, other] = class.buckets;
    Class {
        fingerprint: class.fingerprint >> slice,
        buckets: [one << slice | low, other << slice | low],
    }
}
