//! What can go wrong: building a filter, inserting into it, and merging two.

use core::fmt;

/// A filter cannot be built as asked.
///
/// # Examples
///
/// ```
/// use tamis_cuckoo::{BuildError, CuckooFilter};
///
/// let error = CuckooFilter::<str>::builder().capacity(0).build().unwrap_err();
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
    /// The rate is lower than fingerprints of 32 bits can give in a filter at least half as full as it may
    /// be, or than 64-bit hashes can.
    RateTooLow {
        /// The rate asked for.
        rate: f64,
        /// The lowest rate that can be had at this capacity.
        lowest: f64,
    },
    /// The number of buckets is 0 or odd.
    Buckets {
        /// The number asked for.
        buckets: u64,
    },
    /// There is no bucket of so many slots of so many bits.
    Shape {
        /// The slots asked for.
        slots: u32,
        /// The bits of a slot asked for.
        fingerprint_bits: u32,
    },
    /// Neither a capacity nor buckets are given.
    Unsized,
    /// Some of buckets, slots and fingerprint bits without the others.
    Incomplete,
    /// Sizes are given in more than one way: two of capacity and rate, buckets, like.
    Conflict,
    /// The filter would have more than 2^57 buckets.
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
                "the false-positive rate is {rate:e}; a cuckoo filter of this capacity cannot go \
                 below {lowest:e}"
            ),
            Self::Buckets { buckets } => {
                write!(f, "the number of buckets is {buckets}; it must be even and at least 2")
            }
            Self::Shape { slots, fingerprint_bits } => write!(
                f,
                "there are no buckets of {slots} slots of {fingerprint_bits} bits; there are those of \
                 4 or 8 slots of 8 bits, 5 of 12, 4 of 16, 3 of 20, and 2 of 32"
            ),
            Self::Unsized => f.write_str("no size: give a capacity, or buckets"),
            Self::Incomplete => f.write_str("buckets, slots and fingerprint bits go together"),
            Self::Conflict => f.write_str(
                "sizes are given in more than one way: take a capacity and a false-positive rate, or \
                 buckets, slots and fingerprint bits, or those of another filter",
            ),
            Self::TooLarge => f.write_str("the filter would have more than 2^57 buckets"),
            Self::Alloc { bytes } => write!(f, "cannot allocate {bytes} bytes"),
        }
    }
}

impl core::error::Error for BuildError {}

/// An item cannot be inserted. The filter holds what it held before.
///
/// # Examples
///
/// ```
/// use tamis_cuckoo::{CuckooFilter, InsertError};
///
/// let filter = CuckooFilter::<str>::with_capacity(100)?;
/// let inserted = (0..100).take_while(|_| filter.insert("again").is_ok()).count();
/// assert_eq!(inserted as u32, 2 * filter.geometry().slots());
/// assert_eq!(filter.insert("again"), Err(InsertError::TooManyCopies));
/// assert_eq!(filter.insert("other"), Ok(()));
/// # Ok::<(), tamis_cuckoo::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InsertError {
    /// A whole search found no way to make room for this item. Another may still fit, but the filter is past
    /// its capacity: the first such item comes near 88 % of the slots (2 in a bucket), 95 % (3), 97 % (4) or
    /// 98 % (5, 8), sooner where many items are in several times.
    ///
    /// Beside others who move items it can be said a moment too early: an item on its way takes up two slots.
    Full,
    /// Both buckets of the item hold nothing but its copies (or those of items that cannot be told from
    /// it): twice as many as a bucket has slots. Other items are not concerned.
    TooManyCopies,
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the filter is full",
            Self::TooManyCopies => "the filter holds as many copies of the item as it can",
        })
    }
}

impl core::error::Error for InsertError {}

/// Two filters cannot be merged. Both are as they were.
///
/// # Examples
///
/// ```
/// use tamis_cuckoo::{CuckooFilter, MergeError};
///
/// let a = CuckooFilter::<str>::with_capacity(100)?;
/// let b = CuckooFilter::<str>::with_capacity(200)?;
/// assert_eq!(CuckooFilter::merge(&a, &b).unwrap_err(), MergeError::Geometry);
/// # Ok::<(), tamis_cuckoo::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// The filters differ in buckets, slots or fingerprint bits.
    Geometry,
    /// The filters hash the same item differently: other algorithms, or other seeds.
    Hash,
    /// The items of both do not fit into one filter of this geometry.
    Insert(InsertError),
    /// The memory was refused.
    Alloc {
        /// Bytes asked for.
        bytes: u64,
    },
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Geometry => {
                f.write_str("the filters differ in geometry (buckets, slots or fingerprint bits)")
            }
            Self::Hash => f.write_str("the filters hash differently (algorithm or seed)"),
            Self::Insert(error) => write!(f, "the items of both do not fit: {error}"),
            Self::Alloc { bytes } => write!(f, "cannot allocate {bytes} bytes"),
        }
    }
}

impl core::error::Error for MergeError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Insert(error) => Some(error),
            _ => None,
        }
    }
}
