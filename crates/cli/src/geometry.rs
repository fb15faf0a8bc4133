//! The sizes of a filter of any kind, and why there are none.

use core::fmt;

use tamis::cuckoo;

/// The sizes of a filter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Geometry {
    Bloom(tamis::Geometry),
    Cuckoo(cuckoo::Geometry),
}

impl Geometry {
    /// Bits that hold items.
    pub(crate) const fn bits(&self) -> u64 {
        match self {
            Self::Bloom(geometry) => geometry.bits(),
            Self::Cuckoo(geometry) => geometry.bits(),
        }
    }

    /// Bytes of memory that the filter takes.
    pub(crate) const fn size_in_bytes(&self) -> u64 {
        match self {
            Self::Bloom(geometry) => geometry.size_in_bytes(),
            Self::Cuckoo(geometry) => geometry.size_in_bytes(),
        }
    }

    /// The rate to be expected after so many distinct items.
    pub(crate) fn false_positive_rate_at(&self, items: u64) -> f64 {
        match self {
            Self::Bloom(geometry) => geometry.false_positive_rate_at(items),
            Self::Cuckoo(geometry) => geometry.false_positive_rate_at(items),
        }
    }
}

/// Why a filter cannot be built, as the crate of its kind says it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// A Bloom filter of any kind.
    Bloom(tamis::BuildError),
    /// A cuckoo filter.
    Cuckoo(cuckoo::BuildError),
}

impl BuildError {
    /// The lowest rate that can be had with so many items, if the one asked for is lower.
    pub(crate) const fn lowest_rate(&self) -> Option<f64> {
        match *self {
            Self::Bloom(tamis::BuildError::RateTooLow { lowest, .. })
            | Self::Cuckoo(cuckoo::BuildError::RateTooLow { lowest, .. }) => Some(lowest),
            _ => None,
        }
    }
}

impl From<tamis::BuildError> for BuildError {
    fn from(error: tamis::BuildError) -> Self {
        Self::Bloom(error)
    }
}

impl From<cuckoo::BuildError> for BuildError {
    fn from(error: cuckoo::BuildError) -> Self {
        Self::Cuckoo(error)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bloom(error) => error.fmt(f),
            Self::Cuckoo(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BuildError {}
