//! The errors of inserts and merges.

use core::fmt;

/// The error of a failed insert. The contents of the filter are unchanged. A filter that grows may
/// have taken memory for it.
///
/// # Examples
///
/// ```
/// # use tamis_cuckoo as tamis;
/// use tamis::hash::Rapid;
/// use tamis::{CuckooFilter, InsertError};
///
/// let filter = CuckooFilter::<str>::builder().capacity(100).hasher(Rapid::with_seed(1)).build()?;
/// let inserted = (0..100).take_while(|_| filter.insert("again").is_ok()).count();
/// assert_eq!(inserted as u32, 2 * filter.geometry().slots());
/// assert_eq!(filter.insert("again"), Err(InsertError::TooManyCopies));
/// assert_eq!(filter.insert("other"), Ok(()));
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InsertError {
    /// The filter is full: a whole search found no way to make room for this item.
    ///
    /// Another item may still fit, but the filter is past its capacity. The first insert fails at
    /// about 88 % of the slots (2 slots per bucket), 95 % (3), 97 % (4), 98 % (5 and 8) or 99 %
    /// (7), and sooner if many items were inserted several times. A filter that grows returns this
    /// error at its last size only. While other threads relocate items, the error may come slightly
    /// too early: an item in relocation occupies two slots.
    Full,
    /// All slots of the item's two buckets hold copies of this item, or of items that the filter
    /// cannot distinguish from it. Other items can still be inserted. A filter that grows also
    /// returns this error for a further copy of an item if copies of other items crowd its buckets,
    /// and the table has eight times the usual size for its items.
    TooManyCopies,
    /// The filter has no room for the item, and cannot grow now: another thread has held a lock
    /// that growth needs for about a second (without `std`, for a much shorter time). Until that
    /// thread goes on, each further insert that finds no room waits for milliseconds.
    Stalled,
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the filter is full",
            Self::TooManyCopies => "the filter holds as many copies of the item as it can",
            Self::Stalled => "the filter cannot grow: a thread that holds a lock has stopped",
        })
    }
}

impl core::error::Error for InsertError {}

/// The error of a failed merge. Both filters are unchanged.
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
    /// The filters differ in buckets, slots, fingerprint bits or doublings.
    Geometry,
    /// The filters hash the same item differently: their algorithms or seeds differ.
    Hash,
    /// The items of both filters, each copy counted, do not fit into one filter of this geometry.
    /// If the filters grow, the merged one grows too, up to its last size. The copies of one item
    /// are limited by its two buckets at the size of the larger filter.
    Insert(InsertError),
    /// The allocation failed.
    Alloc {
        /// The size of the allocation in bytes.
        bytes: u64,
    },
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Geometry => f.write_str(
                "the filters differ in geometry (buckets, slots, fingerprint bits or doublings)",
            ),
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
