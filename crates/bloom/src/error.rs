//! The error of a union of two filters.

use core::fmt;

/// The reason why two filters cannot be united. Nothing has been changed.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::{BloomFilter, UnionError};
///
/// let a = BloomFilter::<str>::with_capacity(100)?;
/// let b = BloomFilter::<str>::with_capacity(200)?;
/// assert_eq!(a.union_with(&b), Err(UnionError::Geometry));
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnionError {
    /// The filters differ in bits, probes or layout: an item has different bits in each.
    Geometry,
    /// The filters hash an item differently: different algorithms or seeds.
    Hash,
}

impl fmt::Display for UnionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Geometry => "the filters differ in geometry (bits, probes or layout)",
            Self::Hash => "the filters hash differently (algorithm or seed)",
        })
    }
}

impl core::error::Error for UnionError {}
