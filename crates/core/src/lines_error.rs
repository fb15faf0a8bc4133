//! The error of making a filter from lines.

use core::fmt;

use crate::error::BuildError;

/// The reason why lines are not those of a filter: the error of the functions that make filters of
/// lines, in the modules `raw` of `tamis-bloom` and `tamis-cuckoo`. Those named
/// `from_lines` have examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinesError {
    /// The geometry is that of another type of filter.
    Kind,
    /// The filter has another number of lines.
    Count {
        /// The number of lines of the geometry, in a rotating filter times the generations.
        expected: u64,
        /// The number of lines given.
        found: u64,
    },
    /// The number of fingerprints exceeds the number of slots.
    Len {
        /// The number of fingerprints given.
        found: u64,
        /// The number of slots of the geometry.
        slots: u64,
    },
    /// Buckets of this shape have 128 bits, and this processor has no atomics of 128 bits, or
    /// feature `std` of `tamis-cuckoo` is missing, which detects them.
    Unsupported {
        /// The number of slots per bucket.
        slots: u32,
        /// The number of bits per slot.
        fingerprint_bits: u32,
    },
    /// A growing Bloom filter has no slice, or more than 64.
    Slices,
    /// The rate of a growing Bloom filter is not between 0 and 1.
    Rate,
    /// The number of generations or of rotations is out of range.
    Numbers,
    /// The allocation of the locks, versions or counts failed.
    Alloc {
        /// The size of the allocation in bytes.
        bytes: u64,
    },
}

impl fmt::Display for LinesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Kind => f.write_str("the geometry is that of another type of filter"),
            Self::Count { expected, found } => {
                write!(f, "the number of lines is {found}; the filter has {expected}")
            }
            Self::Len { found, slots } => {
                write!(f, "the number of fingerprints is {found}; the geometry has {slots} slots")
            }
            Self::Unsupported { slots, fingerprint_bits } => {
                BuildError::ShapeUnsupported { slots, fingerprint_bits }.fmt(f)
            }
            Self::Slices => f.write_str("a growing Bloom filter has 1 to 64 slices"),
            Self::Rate => f.write_str("the rate of a growing Bloom filter must be between 0 and 1"),
            Self::Numbers => {
                f.write_str("the number of generations or of rotations is out of range")
            }
            Self::Alloc { bytes } => write!(f, "cannot allocate {bytes} bytes"),
        }
    }
}

impl core::error::Error for LinesError {}
