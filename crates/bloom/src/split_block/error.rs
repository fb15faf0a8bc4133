//! The error of split-block filters.

use core::fmt;

use tamis_sync::AllocError;

/// The reason why there is no such filter, or no such operation. Nothing has been changed.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::bloom::split_block::{Error, SplitBlockFilter, View};
///
/// assert_eq!(SplitBlockFilter::with_bytes(33).unwrap_err(), Error::Bytes { bytes: 33 });
/// assert_eq!(View::new(b"short").unwrap_err().to_string(), "5 bytes are no blocks of 32 bytes");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The rate is not between 1e-7 and 1.
    Rate {
        /// The rate.
        rate: f64,
    },
    /// The number of bytes is not a multiple of 32, or there are no blocks or more than 2^32.
    Bytes {
        /// The number of bytes.
        bytes: u64,
    },
    /// The rate needs more than 2^32 blocks.
    TooLarge,
    /// The allocation failed.
    Alloc {
        /// The bytes requested.
        bytes: u64,
    },
    /// The filters have different numbers of blocks.
    Blocks {
        /// The number of this filter.
        this: u64,
        /// The number of the other.
        other: u64,
    },
    /// The factor does not divide the number of blocks.
    Factor {
        /// The factor.
        factor: u64,
        /// The number of blocks.
        blocks: u64,
    },
    /// The bitmap has too few bits for the hashes.
    Bitmap {
        /// The number of hashes.
        hashes: usize,
        /// The number of bits.
        bits: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate { rate } => write!(f, "the rate {rate} is not between 1e-7 and 1"),
            Self::Bytes { bytes } => write!(f, "{bytes} bytes are no blocks of 32 bytes"),
            Self::TooLarge => f.write_str("the rate needs more than 2^32 blocks"),
            Self::Alloc { bytes } => write!(f, "cannot allocate {bytes} bytes"),
            Self::Blocks { this, other } => {
                write!(f, "the filters have {this} and {other} blocks")
            }
            Self::Factor { factor, blocks } => {
                write!(f, "{factor} does not divide {blocks} blocks")
            }
            Self::Bitmap { hashes, bits } => {
                write!(f, "{bits} bits are too few for {hashes} hashes")
            }
        }
    }
}

impl core::error::Error for Error {}

impl From<AllocError> for Error {
    fn from(error: AllocError) -> Self {
        Self::Alloc { bytes: u64::try_from(error.bytes).unwrap_or(u64::MAX) }
    }
}
