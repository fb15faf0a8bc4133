//! What can go wrong: inserting into a filter, and merging two.

use core::fmt;

/// An item cannot be inserted. The filter holds what it held before.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::{CuckooFilter, InsertError};
///
/// let filter = CuckooFilter::<str>::with_capacity(100)?;
/// let inserted = (0..100).take_while(|_| filter.insert("again").is_ok()).count();
/// assert_eq!(inserted as u32, 2 * filter.geometry().slots());
/// assert_eq!(filter.insert("again"), Err(InsertError::TooManyCopies));
/// assert_eq!(filter.insert("other"), Ok(()));
/// # Ok::<(), tamis::BuildError>(())
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
/// # use tamis_cuckoo as tamis;
/// use tamis::{CuckooFilter, MergeError};
///
/// let a = CuckooFilter::<str>::with_capacity(100)?;
/// let b = CuckooFilter::<str>::with_capacity(200)?;
/// assert_eq!(CuckooFilter::merge(&a, &b).unwrap_err(), MergeError::Geometry);
/// # Ok::<(), tamis::BuildError>(())
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
