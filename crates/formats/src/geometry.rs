//! The sizes of the filter in a file: from the numbers of a header and back, and what they require of the body.

use tamis_bloom::{self as bloom, BlockedBloomFilter, BloomFilter, OnceBloomFilter};
use tamis_core::BuildError;
use tamis_cuckoo as cuckoo;
use tamis_sync::{LINE_BITS, LINE_BYTES};

use crate::table_sizes::{SHARDS, TAG_BITS, TableSizes};
use crate::{Kind, LoadError};

/// The sizes of the filter in a file.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{Geometry, Info, write};
/// use tamis::{BloomFilter, hash::Rapid};
///
/// let filter = BloomFilter::<str>::builder().bits(1000).probes(6).hasher(Rapid::with_seed(1)).build()?;
/// let mut bytes = Vec::new();
/// write(&filter, &mut bytes)?;
/// assert_eq!(Info::read(&bytes[..])?.geometry(), Geometry::Bloom(filter.geometry()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Geometry {
    /// Those of a Bloom filter of any type.
    Bloom(bloom::Geometry),
    /// Those of a cuckoo filter of either type.
    Cuckoo(cuckoo::Geometry),
    /// Those of a table.
    Table(TableSizes),
}

/// The three numbers of a header that give the sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// Bits, or buckets.
    pub(crate) size: u64,
    /// Bits per item, or slots per bucket.
    pub(crate) probes_or_slots: u32,
    /// Words per item, or bits per slot.
    pub(crate) words_or_fingerprint_bits: u32,
}

impl Geometry {
    /// Returns the sizes for the numbers of a header, by the rules of the builders.
    pub(crate) fn of_numbers(kind: Kind, numbers: Numbers) -> Result<Self, LoadError> {
        let Numbers { size, probes_or_slots: probes, words_or_fingerprint_bits: words } = numbers;
        let geometry = match kind {
            Kind::Bloom => {
                // In the classic layout the bits of an item lie anywhere: there is no number of words.
                require("words", u64::from(words), 0)?;
                BloomFilter::<()>::builder().bits(size).probes(probes).geometry()
            }
            Kind::BlockedBloom => BlockedBloomFilter::<()>::builder()
                .bits(size)
                .probes(probes)
                .words(words)
                .geometry(),
            Kind::OnceBloom => {
                OnceBloomFilter::<()>::builder().bits(size).probes(probes).words(words).geometry()
            }
            Kind::Cuckoo | Kind::OnceCuckoo => return Self::of_buckets(numbers),
            Kind::Table => {
                require("slots", probes.into(), SHARDS.into())?;
                require("fingerprint bits", words.into(), TAG_BITS.into())?;
                let sizes = TableSizes::new(size).ok_or(LoadError::Sizes(BuildError::TooLarge))?;
                return Ok(Self::Table(sizes));
            }
        };
        let geometry = geometry.map_err(LoadError::Sizes)?;
        // A builder rounds the bits of a line layout up. The error names the whole lines below, at least one.
        if kind != Kind::Bloom && size % LINE_BITS != 0 {
            require("size", size, (size - size % LINE_BITS).max(LINE_BITS))?;
        }
        Ok(Self::Bloom(geometry))
    }

    fn of_buckets(numbers: Numbers) -> Result<Self, LoadError> {
        let Numbers { size: buckets, probes_or_slots: slots, words_or_fingerprint_bits: bits } =
            numbers;
        cuckoo::raw::geometry(buckets, slots, bits).map(Self::Cuckoo).map_err(LoadError::Sizes)
    }

    /// Returns the numbers for the header of a file of this kind.
    pub(crate) const fn numbers(self, kind: Kind) -> Numbers {
        match self {
            Self::Bloom(sizes) => Numbers {
                size: sizes.bits(),
                probes_or_slots: sizes.probes(),
                words_or_fingerprint_bits: if matches!(kind, Kind::Bloom) {
                    0
                } else {
                    sizes.words()
                },
            },
            Self::Cuckoo(sizes) => Numbers {
                size: sizes.buckets(),
                probes_or_slots: sizes.slots(),
                words_or_fingerprint_bits: sizes.fingerprint_bits(),
            },
            Self::Table(sizes) => Numbers {
                size: sizes.lines(),
                probes_or_slots: SHARDS,
                words_or_fingerprint_bits: TAG_BITS,
            },
        }
    }

    /// Returns the number of lines of the body.
    pub(crate) const fn lines(self) -> u64 {
        match self {
            Self::Bloom(sizes) => sizes.size_in_bytes() / LINE_BYTES as u64,
            Self::Cuckoo(sizes) => sizes.bits().div_ceil(LINE_BITS),
            Self::Table(sizes) => sizes.body_lines(),
        }
    }

    /// Returns the number of slots, or `None` if there are none.
    pub(crate) fn slots(self) -> Option<u64> {
        match self {
            Self::Bloom(_) => None,
            Self::Cuckoo(sizes) => Some(sizes.buckets().saturating_mul(u64::from(sizes.slots()))),
            Self::Table(sizes) => Some(sizes.slots()),
        }
    }

    /// Returns whether an insert takes no lock, so that a killed process leaves none.
    pub(crate) const fn is_lock_free(self, kind: Kind) -> bool {
        match self {
            Self::Bloom(sizes) => !matches!(kind, Kind::OnceBloom) || sizes.words() == 1,
            Self::Cuckoo(_) | Self::Table(_) => false,
        }
    }
}

/// Checks a field of a header that has only one possible value.
pub(crate) const fn require(
    field: &'static str,
    found: u64,
    expected: u64,
) -> Result<(), LoadError> {
    if found == expected { Ok(()) } else { Err(LoadError::Field { field, found, expected }) }
}
