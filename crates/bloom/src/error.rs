//! What can go wrong: building a filter, and uniting two.

use core::fmt;

/// A filter cannot be built as asked.
///
/// # Examples
///
/// ```
/// use tamis_bloom::{BloomFilter, BuildError};
///
/// let error = BloomFilter::<str>::builder().capacity(0).build().unwrap_err();
/// assert_eq!(error, BuildError::NoCapacity);
/// assert_eq!(error.to_string(), "the capacity is 0; a filter holds at least 1 item");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// The capacity is 0.
    NoCapacity,
    /// The false-positive rate is not a number between 0 and 1, both excluded.
    Rate {
        /// The rate asked for.
        rate: f64,
    },
    /// The rate is lower than a 64-bit hash can give: an item has the hash of one of `n` others with a
    /// chance of `n / 2^64`, and at least as much is left to the bits.
    RateTooLow {
        /// The rate asked for.
        rate: f64,
        /// The lowest rate that can be had at this capacity.
        lowest: f64,
    },
    /// The number of bits is 0.
    NoBits,
    /// The number of probes is 0 or more than the layout has.
    Probes {
        /// The number asked for.
        probes: u32,
        /// The most that the layout takes.
        most: u32,
    },
    /// Neither a capacity nor bits and probes are given.
    Unsized,
    /// Bits without probes, or probes without bits.
    Incomplete,
    /// Sizes are given in more than one way: two of capacity and rate, bits and probes, like.
    Conflict,
    /// The sizes are those of another type of filter.
    Layout,
    /// The filter would have more than 2^64 bits.
    TooLarge,
    /// The memory was refused.
    Alloc {
        /// Bytes asked for.
        bytes: u64,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoCapacity => f.write_str("the capacity is 0; a filter holds at least 1 item"),
            Self::Rate { rate } => {
                write!(f, "the false-positive rate is {rate:?}; it must lie between 0 and 1")
            }
            Self::RateTooLow { rate, lowest } => write!(
                f,
                "the false-positive rate is {rate:e}; with 64-bit hashes it cannot be below \
                 {lowest:e} at this capacity"
            ),
            Self::NoBits => f.write_str("the number of bits is 0; a filter has at least 1"),
            Self::Probes { probes, most } => {
                write!(f, "the number of probes is {probes}; it must lie between 1 and {most}")
            }
            Self::Unsized => f.write_str("no size: give a capacity, or bits and probes"),
            Self::Incomplete => f.write_str("bits need probes, and probes need bits"),
            Self::Conflict => f.write_str(
                "sizes are given in more than one way: take a capacity and a false-positive rate, or \
                 bits and probes, or those of another filter",
            ),
            Self::Layout => f.write_str("the geometry is that of another type of filter"),
            Self::TooLarge => f.write_str("the filter would have more than 2^64 bits"),
            Self::Alloc { bytes } => write!(f, "cannot allocate {bytes} bytes"),
        }
    }
}

impl core::error::Error for BuildError {}

/// Two filters cannot be united; nothing has been changed.
///
/// # Examples
///
/// ```
/// use tamis_bloom::{BloomFilter, UnionError};
///
/// let a = BloomFilter::<str>::with_capacity(100)?;
/// let b = BloomFilter::<str>::with_capacity(200)?;
/// assert_eq!(a.union_with(&b), Err(UnionError::Geometry));
/// # Ok::<(), tamis_bloom::BuildError>(())
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
