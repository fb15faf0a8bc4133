//! Why a filter cannot be built: one error for every type of filter.

use core::fmt;

/// The reason why a filter cannot be built. Nothing stays allocated.
///
/// All filters share this type, so that code that chooses between filters has one error to return.
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
    /// The false-positive rate is not a number between 0 and 1 (both excluded).
    Rate {
        /// The rate given.
        rate: f64,
    },
    /// The rate is too low for this type of filter at this capacity. The 64-bit hash limits every
    /// filter: an item has the same hash as one of `n` others with probability `n / 2^64`. A cuckoo
    /// filter is also limited by its widest fingerprint. If it grows, each doubling takes a bit of
    /// that, so a higher first capacity allows a lower rate.
    RateTooLow {
        /// The rate given.
        rate: f64,
        /// The lowest rate at this capacity. If it is 1 or more, no filter of this type has this
        /// capacity, at any rate. The capacity of a cuckoo filter that grows is its highest.
        lowest: f64,
    },
    /// The number of bits is 0.
    Bits,
    /// The number of probes is 0 or above the maximum of the layout.
    Probes {
        /// The number given.
        probes: u32,
        /// The maximum of the layout.
        max: u32,
    },
    /// The number of words per item is not 1, 2, 4 or 8, or does not fit the number of probes: each
    /// word takes 1 to 8 of them.
    Words {
        /// The number given.
        words: u32,
    },
    /// The number of buckets is 0 or odd.
    Buckets {
        /// The number given.
        buckets: u64,
    },
    /// No bucket shape has this number of slots with this number of bits.
    Shape {
        /// The number of slots given.
        slots: u32,
        /// The number of bits per slot given.
        fingerprint_bits: u32,
    },
    /// Buckets of this shape have 128 bits. They need a processor that loads 128 bits atomically
    /// without writing them (x86-64 with AVX), and feature `std` to detect it.
    ShapeUnsupported {
        /// The number of slots given.
        slots: u32,
        /// The number of bits per slot given.
        fingerprint_bits: u32,
    },
    /// The number of generations of a rotating filter is out of range.
    Generations {
        /// The number given.
        generations: u32,
        /// The minimum.
        min: u32,
        /// The maximum.
        max: u32,
    },
    /// No capacity and no size is given.
    Unsized,
    /// Only some of the sizes that belong together are given, such as bits without probes, or
    /// buckets without slots.
    Incomplete,
    /// The size is given in more than one way: two of capacity and rate, explicit sizes, and
    /// `like`. Only a capacity may go with `like`. Words do not go with `like`, and a
    /// `max_capacity` goes neither with `like` nor with explicit sizes.
    Conflict,
    /// The geometry belongs to another type of filter.
    Layout,
    /// The filter would have more than 2^64 bits, or more than 2^56 buckets.
    TooLarge,
    /// The allocation failed.
    ///
    /// A system may promise more memory than it has, as Linux does by default, and a container may
    /// have a lower limit than the system. On Linux a filter of a fixed size touches all of its
    /// memory when it is built, and one that grows does so as it grows. Beyond such a limit the
    /// system then ends the process instead.
    Alloc {
        /// Bytes requested.
        bytes: u64,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Rate { rate } => {
                write!(f, "the false-positive rate is {rate:?}; it must be between 0 and 1")
            }
            Self::RateTooLow { lowest, .. } if lowest >= 1.0 => {
                f.write_str("the capacity is too high for a filter of this type, or its growth has too many doublings, at any \
                     false-positive rate")
            }
            Self::RateTooLow { rate, lowest } => write!(
                f,
                "the false-positive rate is {rate:e}; a filter of this type and capacity cannot go below \
                 {lowest:e}"
            ),
            Self::Bits => f.write_str("the number of bits is 0; a filter has at least 1"),
            Self::Probes { probes, max } => {
                write!(f, "the number of probes is {probes}; it must be between 1 and {max}")
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
                "a bucket cannot have {slots} slots of {fingerprint_bits} bits; it can have 4 or 8 slots of 8 bits, \
                 5 of 12, 4 of 16, 3 of 20, 2 of 32; and, where atomic loads of 128 bits are supported, 7 of 18, \
                 5 of 25, 4 of 32, or 3 of 42"
            ),
            Self::ShapeUnsupported { slots, fingerprint_bits } => write!(
                f,
                "a bucket of {slots} slots of {fingerprint_bits} bits needs atomic loads of 128 bits: x86-64 with AVX, \
                 and feature `std`"
            ),
            Self::Generations { generations, min, max } => {
                write!(f, "the number of generations is {generations}; it must be between {min} and {max}")
            }
            Self::Unsized => f.write_str(
                "no size is given: give a capacity, or explicit sizes (bits and probes, or buckets, slots and \
                 fingerprint bits)",
            ),
            Self::Incomplete => f.write_str(
                "some sizes are missing: give bits and probes together, or buckets, slots and fingerprint \
                 bits together",
            ),
            Self::Conflict => f.write_str(
                "the size is given in more than one way: give a capacity and a false-positive rate, or \
                 explicit sizes, or the geometry of another filter",
            ),
            Self::Layout => f.write_str("the geometry belongs to another type of filter"),
            Self::TooLarge => f.write_str("the filter would have more than 2^64 bits, or 2^56 buckets"),
            Self::Alloc { bytes } => write!(f, "cannot allocate {bytes} bytes"),
        }
    }
}

impl core::error::Error for BuildError {}
