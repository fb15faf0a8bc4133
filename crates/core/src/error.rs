//! Why a filter cannot be built: one error for every type of filter.

use core::fmt;

/// A filter cannot be built as asked. Nothing has been allocated.
///
/// The same type for all filters, so that code which chooses between them has one error to pass on.
///
/// # Examples
///
/// ```
/// # use tamis_core as tamis;
/// use tamis::BuildError;
///
/// assert_eq!(BuildError::Bits.to_string(), "the number of bits is 0; a filter has at least 1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// The false-positive rate is not a number between 0 and 1, both excluded.
    Rate {
        /// The rate given.
        rate: f64,
    },
    /// The filter cannot have so low a rate at this capacity. A 64-bit hash limits every filter: an item has the hash
    /// of one of `n` others with probability `n / 2^64`. The widest fingerprints limit a cuckoo filter.
    RateTooLow {
        /// The rate given.
        rate: f64,
        /// The lowest rate at this capacity.
        lowest: f64,
    },
    /// The number of bits is 0.
    Bits,
    /// The number of probes is 0, or more than the layout has.
    Probes {
        /// The number given.
        probes: u32,
        /// The most that the layout takes.
        max: u32,
    },
    /// The number of words per item is not 1, 2, 4 or 8, or does not fit the number of probes: each word takes 1 to
    /// 8 of them.
    Words {
        /// The number given.
        words: u32,
    },
    /// The number of buckets is 0 or odd.
    Buckets {
        /// The number given.
        buckets: u64,
    },
    /// No bucket has this number of slots of this number of bits.
    Shape {
        /// The number of slots given.
        slots: u32,
        /// The number of bits per slot given.
        fingerprint_bits: u32,
    },
    /// No size is given.
    Unsized,
    /// Sizes that belong together are given in part: bits without probes, or buckets without slots.
    Incomplete,
    /// Sizes are given in more than one way: two of capacity and rate, the sizes themselves, and `like`.
    Conflict,
    /// The geometry is that of another type of filter.
    Layout,
    /// The filter would have more than 2^64 bits.
    TooLarge,
    /// The memory was refused.
    Alloc {
        /// Bytes requested.
        bytes: u64,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Rate { rate } => {
                write!(f, "the false-positive rate is {rate:?}; it must lie between 0 and 1")
            }
            Self::RateTooLow { rate, lowest } => write!(
                f,
                "the false-positive rate is {rate:e}; a filter of this type and capacity cannot go below \
                 {lowest:e}"
            ),
            Self::Bits => f.write_str("the number of bits is 0; a filter has at least 1"),
            Self::Probes { probes, max } => {
                write!(f, "the number of probes is {probes}; it must lie between 1 and {max}")
            }
            Self::Words { words } => write!(
                f,
                "the number of words per item is {words}; it must be 1, 2, 4 or 8, with 1 to 8 probes each"
            ),
            Self::Buckets { buckets } => {
                write!(f, "the number of buckets is {buckets}; it must be even and at least 2")
            }
            Self::Shape { slots, fingerprint_bits } => write!(
                f,
                "there are no buckets of {slots} slots of {fingerprint_bits} bits; there are those of \
                 4 or 8 slots of 8 bits, 5 of 12, 4 of 16, 3 of 20, and 2 of 32"
            ),
            Self::Unsized => f.write_str(
                "no size is given: give a capacity, or the sizes themselves (bits and probes; or \
                 buckets, slots and fingerprint bits)",
            ),
            Self::Incomplete => f.write_str(
                "sizes are given in part: bits and probes go together, and so do buckets, slots and \
                 fingerprint bits",
            ),
            Self::Conflict => f.write_str(
                "sizes are given in more than one way: give a capacity and a false-positive rate, or \
                 the sizes themselves, or those of another filter",
            ),
            Self::Layout => f.write_str("the geometry is that of another type of filter"),
            Self::TooLarge => f.write_str("the filter would have more than 2^64 bits"),
            Self::Alloc { bytes } => write!(f, "cannot allocate {bytes} bytes"),
        }
    }
}

impl core::error::Error for BuildError {}
