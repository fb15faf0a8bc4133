//! The sizes of a filter of another system in a file.

use tamis_core::BuildError;
use tamis_sync::LINE_BYTES;

use crate::error::LoadError;
use crate::foreign::Format;
use crate::sizes::numbers::{Numbers, require};

/// The most bytes of the filter: a file has at most 2^64 bits.
const MAX_LEN: u64 = 1 << 60;

/// The sizes of a filter of another system in a file.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::Format;
/// use tamis::formats::{Geometry, Info, Options};
///
/// let filter = Format::SparkV1.build(1000, Some(0.03), None)?;
/// let mut bytes = Vec::new();
/// Options::new().write_foreign(&*filter, &mut bytes)?;
/// let Geometry::Foreign(sizes) = Info::read(&bytes[..])?.geometry() else { panic!() };
/// assert_eq!((sizes.format(), sizes.len()), (Format::SparkV1, filter.encoded_len()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ForeignSizes {
    format: Format,
    len: u64,
}

impl ForeignSizes {
    /// Returns the sizes of a filter with this number of bytes, or `None` if a file would have more
    /// than 2^64 bits.
    pub(crate) fn new(format: Format, len: u64) -> Option<Self> {
        (len <= MAX_LEN).then_some(Self { format, len })
    }

    // FORMAT: layout 32.
    pub(crate) fn of_numbers(numbers: Numbers) -> Result<Self, LoadError> {
        let Numbers { size, probes_or_slots, words_or_fingerprint_bits, record } = numbers;
        require("probes", probes_or_slots.into(), 0)?;
        require("words", words_or_fingerprint_bits.into(), 0)?;
        let format =
            Format::of_code(record[0]).ok_or(LoadError::ForeignFormat { found: record[0] })?;
        Self::new(format, size).ok_or(LoadError::Sizes(BuildError::TooLarge))
    }

    pub(crate) const fn numbers(self) -> Numbers {
        Numbers::new(self.len, 0, 0).with_record(&[self.format.code() as u64])
    }

    pub(crate) const fn body_lines(self) -> u64 {
        self.len.div_ceil(LINE_BYTES as u64)
    }

    /// Returns the format of the filter.
    #[must_use]
    pub const fn format(self) -> Format {
        self.format
    }

    /// Returns the number of bytes that the filter has as its system writes it.
    #[must_use]
    pub const fn len(self) -> u64 {
        self.len
    }

    /// Returns whether the filter has no bytes, as some filters of no key.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::Format;
    /// use tamis::formats::{Geometry, Info, Options};
    ///
    /// let filter = Format::RocksDbFormat5.build(0, None, None)?;
    /// let mut bytes = Vec::new();
    /// Options::new().write_foreign(&*filter, &mut bytes)?;
    /// let Geometry::Foreign(sizes) = Info::read(&bytes[..])?.geometry() else { panic!() };
    /// assert!(sizes.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
}
