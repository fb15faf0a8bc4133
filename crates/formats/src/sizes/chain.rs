//! The sizes of a Bloom filter that grows: the numbers of a header.

use tamis_bloom::raw::{Growth, SliceSizes};
use tamis_bloom::{self as bloom, BlockedBloomFilter, OnceBloomFilter};
use tamis_core::BuildError;
use tamis_sync::LINE_BITS;

use crate::error::LoadError;
use crate::sizes::numbers::{Numbers, require_lines, require_range};

/// The most slices.
const MAX_SLICES: u64 = 64;

/// The sizes of a `ScalableBloomFilter` or a `OnceScalableBloomFilter` in a file.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::ScalableBloomFilter;
/// use tamis::formats::{Geometry, Info, write};
/// use tamis::hash::Rapid;
///
/// let builder = ScalableBloomFilter::<u64>::builder().hasher(Rapid::with_seed(1));
/// let filter = builder.capacity(1024).build()?;
/// filter.insert_many_with(0..10_000_u64, |_, _| ());
/// let mut bytes = Vec::new();
/// write(&filter, &mut bytes)?;
///
/// let info = Info::read(&bytes[..])?;
/// let Geometry::Chain(sizes) = info.geometry() else { panic!() };
/// assert_eq!((sizes.slices(), info.capacity()), (3, 1024));
/// assert_eq!((sizes.false_positive_rate(), sizes.max_size_in_bytes()), (0.01, None));
/// assert_eq!(sizes.max_capacity(), None);
/// assert!(sizes.bits() > 10_000 * 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChainSizes {
    /// The bits of all slices.
    bits: u64,
    /// The bits and words per item in the first slice.
    probes: u32,
    words: u32,
    slices: u32,
    /// Whether each line has a lock: those of a `OnceScalableBloomFilter`.
    has_locks: bool,
    /// The bits of the requested rate.
    rate: u64,
    max_bytes: u64,
    /// The number of items at which growth ends; 0 if none was given.
    max_capacity: u64,
}

impl ChainSizes {
    /// Returns the sizes of a filter with these slices, oldest first.
    pub(crate) fn of_slices(has_locks: bool, growth: Growth, slices: &[SliceSizes]) -> Self {
        let first = slices.first().map(|first| (first.geometry.probes(), first.geometry.words()));
        let (probes, words) = first.unwrap_or_default();
        Self {
            bits: slices.iter().map(|slice| slice.geometry.bits()).sum(),
            probes,
            words,
            slices: slices.len() as u32,
            has_locks,
            rate: growth.rate.to_bits(),
            max_bytes: growth.max_size_in_bytes,
            max_capacity: growth.max_capacity.unwrap_or(0),
        }
    }

    /// Returns the sizes for the numbers of a header.
    pub(crate) fn of_numbers(has_locks: bool, numbers: Numbers) -> Result<Self, LoadError> {
        let Numbers { size: bits, probes_or_slots: probes, .. } = numbers;
        let words = numbers.words_or_fingerprint_bits;
        let [rate, max_bytes, slices, max_capacity, ..] = numbers.record;
        require_range("slices", slices, 1, MAX_SLICES)?;
        let requested = f64::from_bits(rate);
        // In this form the condition rejects NaN too.
        if !(requested > 0.0 && requested < 1.0) {
            return Err(LoadError::Sizes(BuildError::Rate { rate: requested }));
        }
        slice_geometry(has_locks, LINE_BITS, probes, words).map_err(LoadError::Sizes)?;
        require_lines(bits)?;
        require_range("size", bits, LINE_BITS * slices, u64::MAX - u64::MAX % LINE_BITS)?;
        let slices = slices as u32;
        Ok(Self { bits, probes, words, slices, has_locks, rate, max_bytes, max_capacity })
    }

    /// Returns the numbers for a header.
    pub(crate) const fn numbers(self) -> Numbers {
        let record = [self.rate, self.max_bytes, self.slices as u64, self.max_capacity];
        Numbers::new(self.bits, self.probes, self.words).with_record(&record)
    }

    /// Returns the number of slices.
    #[must_use]
    pub const fn slices(self) -> u32 {
        self.slices
    }

    /// Returns the number of bits of all slices.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// Returns the false-positive rate that the filter stays below.
    #[must_use]
    pub const fn false_positive_rate(self) -> f64 {
        f64::from_bits(self.rate)
    }

    /// Returns the limit for the memory of the slices, or `None` if there is none.
    #[must_use]
    pub const fn max_size_in_bytes(self) -> Option<u64> {
        if self.max_bytes == u64::MAX { None } else { Some(self.max_bytes) }
    }

    /// Returns the number of items at which growth ends, or `None` if the builder was given none.
    #[must_use]
    pub const fn max_capacity(self) -> Option<u64> {
        if self.max_capacity == 0 { None } else { Some(self.max_capacity) }
    }

    /// Returns how the filter grows. `first_capacity` is the capacity of the header.
    pub(crate) const fn growth(self, first_capacity: u64) -> Growth {
        Growth {
            first_capacity,
            rate: self.false_positive_rate(),
            max_size_in_bytes: self.max_bytes,
            max_capacity: self.max_capacity(),
        }
    }

    /// Returns the number of probes and of words per item in the first slice.
    pub(crate) const fn first_item(self) -> [u32; 2] {
        [self.probes, self.words]
    }

    /// Returns the geometry of a slice with these numbers.
    pub(crate) fn slice(
        self,
        bits: u64,
        probes: u32,
        words: u32,
    ) -> Result<bloom::Geometry, BuildError> {
        slice_geometry(self.has_locks, bits, probes, words)
    }

    pub(crate) const fn body_lines(self) -> u64 {
        self.slices as u64 + self.bits / LINE_BITS
    }
}

/// Returns the geometry of a slice.
fn slice_geometry(
    has_locks: bool,
    bits: u64,
    probes: u32,
    words: u32,
) -> Result<bloom::Geometry, BuildError> {
    if !has_locks {
        let builder = BlockedBloomFilter::<()>::builder();
        return builder.bits(bits).probes(probes).words(words).geometry();
    }
    if words == 1 {
        // Where items have one word, lines have no locks.
        return Err(BuildError::Words { words });
    }
    OnceBloomFilter::<()>::builder().bits(bits).probes(probes).words(words).geometry()
}
