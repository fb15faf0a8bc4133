//! The sizes of a filter of any kind, and the lowest rate that it can keep.

use tamis::{BuildError, bloom, cuckoo, formats};

/// The live generations of a window. The window is covered by all but one.
pub(crate) const GENERATIONS: u32 = 7;

/// The sizes of a filter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Geometry {
    Bloom(bloom::Geometry),
    Cuckoo(cuckoo::Geometry),
    /// Those of a filter of counters.
    Counting(bloom::Geometry),
    /// Those of one generation of a window.
    Rotating(bloom::Geometry),
}

/// The bits of a counter.
const COUNTER: u64 = 4;

/// The generations of a window in memory: the live ones, and one that is being cleared.
const SLOTS: u64 = GENERATIONS as u64 + 1;

impl Geometry {
    /// Bits that hold items.
    pub(crate) const fn bits(&self) -> u64 {
        match self {
            Self::Bloom(geometry) => geometry.bits(),
            Self::Cuckoo(geometry) => geometry.bits(),
            Self::Counting(geometry) => geometry.bits().saturating_mul(COUNTER),
            Self::Rotating(geometry) => geometry.bits().saturating_mul(SLOTS),
        }
    }

    /// Bytes of memory that the filter takes.
    pub(crate) const fn size_in_bytes(&self) -> u64 {
        match self {
            Self::Bloom(geometry) | Self::Counting(geometry) => geometry.size_in_bytes(),
            Self::Cuckoo(geometry) => geometry.size_in_bytes(),
            Self::Rotating(geometry) => geometry.size_in_bytes().saturating_mul(SLOTS),
        }
    }

    /// The expected false-positive rate with `items` distinct items; of a window of `items`, when
    /// it is full.
    pub(crate) fn false_positive_rate_at(&self, items: u64) -> f64 {
        match self {
            Self::Bloom(geometry) | Self::Counting(geometry) => {
                geometry.false_positive_rate_at(items as usize)
            }
            Self::Rotating(geometry) => {
                let each = geometry.false_positive_rate_at(generation(items) as usize);
                rate_of_generations(each, GENERATIONS.into())
            }
            Self::Cuckoo(geometry) => geometry.false_positive_rate_at(items as usize),
        }
    }
}

impl PartialEq<formats::Geometry> for Geometry {
    fn eq(&self, saved: &formats::Geometry) -> bool {
        match (self, saved) {
            (Self::Bloom(one) | Self::Counting(one), formats::Geometry::Bloom(other)) => {
                one == other
            }
            (Self::Rotating(one), formats::Geometry::Window(other)) => {
                *one == other.geometry() && other.generations() == GENERATIONS
            }
            (Self::Cuckoo(one), formats::Geometry::Cuckoo(other)) => one == other,
            _ => false,
        }
    }
}

/// The items of one generation of a window.
pub(crate) fn generation(window: u64) -> u64 {
    window.div_ceil(u64::from(GENERATIONS) - 1)
}

/// The highest false-positive rate of `count` generations that have the rate `each`. An item is in
/// one of them only if the others lack it, so the rates add up.
pub(crate) fn rate_of_generations(each: f64, count: f64) -> f64 {
    (count * each).min(1.0)
}

/// The rate that a saved filter has with the number of items that it was built for.
pub(crate) fn design_rate(info: &formats::Info) -> Option<f64> {
    let items = usize::try_from(info.capacity()).unwrap_or(usize::MAX);
    match info.geometry() {
        formats::Geometry::Bloom(sizes) => Some(sizes.false_positive_rate_at(items)),
        formats::Geometry::Cuckoo(sizes) => Some(sizes.false_positive_rate_at(items)),
        formats::Geometry::GrowingCuckoo(sizes) => {
            Some(sizes.geometry().false_positive_rate_at(items))
        }
        formats::Geometry::Window(sizes) => {
            let full = u64::from(sizes.generations().saturating_sub(1)).max(1);
            let each = sizes.geometry().false_positive_rate_at(items.div_ceil(full as usize));
            Some(rate_of_generations(each, sizes.generations().into()))
        }
        // It stays below this rate, whatever its capacity.
        formats::Geometry::Chain(sizes) => Some(sizes.false_positive_rate()),
        _ => None,
    }
}

/// The lowest rate that a filter can keep, if `error` says that the one asked for is lower.
pub(crate) const fn lowest_rate(error: BuildError) -> Option<f64> {
    match error {
        BuildError::RateTooLow { lowest, .. } => Some(lowest),
        _ => None,
    }
}
