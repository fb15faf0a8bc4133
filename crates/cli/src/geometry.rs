//! The sizes of a filter of any kind, and the lowest rate that it can keep.

use tamis::{BuildError, bloom, cuckoo};

/// The sizes of a filter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Geometry {
    Bloom(bloom::Geometry),
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

    /// The expected false-positive rate with `items` distinct items.
    pub(crate) fn false_positive_rate_at(&self, items: u64) -> f64 {
        match self {
            Self::Bloom(geometry) => geometry.false_positive_rate_at(items as usize),
            Self::Cuckoo(geometry) => geometry.false_positive_rate_at(items as usize),
        }
    }
}

/// The lowest rate that a filter can keep, if `error` says that the one asked for is lower.
pub(crate) const fn lowest_rate(error: BuildError) -> Option<f64> {
    match error {
        BuildError::RateTooLow { lowest, .. } => Some(lowest),
        _ => None,
    }
}
