//! Why two filters cannot be united.

use core::fmt;

/// Two filters cannot be united; nothing has been changed.
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
    /// The filters differ in bits, probes or layout: the same item has other bits in each.
    Geometry,
    /// The filters hash the same item differently: other algorithms, or other seeds.
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
