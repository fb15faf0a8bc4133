//! The sizes of the filter in a file: from the numbers of a header and back, and what they require
//! of the body.

use tamis_bloom::{
    self as bloom, BlockedBloomFilter, BloomFilter, CountingBloomFilter, OnceBloomFilter,
};
use tamis_core::BuildError;
use tamis_cuckoo as cuckoo;
use tamis_sync::LINE_BITS;

use crate::error::LoadError;
use crate::kind::{GROWING, Kind};
use crate::sizes::chain::ChainSizes;
use crate::sizes::foreign::ForeignSizes;
use crate::sizes::growing::GrowingSizes;
use crate::sizes::numbers::{Numbers, require, require_lines};
use crate::sizes::table::{SHARDS, TAG_BITS, TableSizes};
use crate::sizes::window::WindowSizes;

/// The sizes of the filter in a file.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::{Geometry, Info, write};
/// use tamis::{BloomFilter, hash::Rapid};
///
/// let builder = BloomFilter::<str>::builder().bits(1000).probes(6).hasher(Rapid::with_seed(1));
/// let filter = builder.build()?;
/// let mut bytes = Vec::new();
/// write(&filter, &mut bytes)?;
/// assert_eq!(Info::read(&bytes[..])?.geometry(), Geometry::Bloom(filter.geometry()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Geometry {
    /// Those of a Bloom filter of a fixed size, of any type.
    Bloom(bloom::Geometry),
    /// Those of a cuckoo filter of a fixed size, of either type.
    Cuckoo(cuckoo::Geometry),
    /// Those of a Bloom filter that grows.
    Chain(ChainSizes),
    /// Those of a rotating Bloom filter.
    Window(WindowSizes),
    /// Those of a cuckoo filter that grows, of either type.
    GrowingCuckoo(GrowingSizes),
    /// Those of a table.
    Table(TableSizes),
    /// Those of a filter of another system.
    Foreign(ForeignSizes),
}

impl Geometry {
    /// Returns the sizes for the numbers of a header, by the rules of the builders. `grows` is
    /// whether its layout is that of cuckoo filters that grow.
    pub(crate) fn of_numbers(kind: Kind, grows: bool, numbers: Numbers) -> Result<Self, LoadError> {
        if grows {
            return GrowingSizes::of_numbers(numbers).map(Self::GrowingCuckoo);
        }
        let Numbers { size, probes_or_slots: probes, words_or_fingerprint_bits: words, .. } =
            numbers;
        let geometry = match kind {
            Kind::Bloom => {
                // In the classic layout the bits of an item lie anywhere: there is no number of
                // words.
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
            Kind::CountingBloom => CountingBloomFilter::<()>::builder()
                .bits(size)
                .probes(probes)
                .words(words)
                .geometry(),
            Kind::ScalableBloom | Kind::OnceScalableBloom => {
                let has_locks = kind == Kind::OnceScalableBloom;
                return ChainSizes::of_numbers(has_locks, numbers).map(Self::Chain);
            }
            Kind::RotatingBloom => return WindowSizes::of_numbers(numbers).map(Self::Window),
            Kind::Cuckoo | Kind::OnceCuckoo => return Self::of_buckets(numbers),
            Kind::Table => {
                require("slots", probes.into(), SHARDS.into())?;
                require("fingerprint bits", words.into(), TAG_BITS.into())?;
                let sizes = TableSizes::new(size).ok_or(LoadError::Sizes(BuildError::TooLarge))?;
                return Ok(Self::Table(sizes));
            }
            Kind::Foreign => return ForeignSizes::of_numbers(numbers).map(Self::Foreign),
        };
        let geometry = geometry.map_err(LoadError::Sizes)?;
        if kind != Kind::Bloom {
            require_lines(size)?;
        }
        Ok(Self::Bloom(geometry))
    }

    fn of_buckets(numbers: Numbers) -> Result<Self, LoadError> {
        let Numbers { size: buckets, probes_or_slots: slots, .. } = numbers;
        let bits = numbers.words_or_fingerprint_bits;
        cuckoo::raw::geometry(buckets, slots, bits).map(Self::Cuckoo).map_err(LoadError::Sizes)
    }

    /// Returns the number of the layout in a file of this kind.
    pub(crate) const fn layout(self, kind: Kind) -> u32 {
        if matches!(self, Self::GrowingCuckoo(_)) { GROWING } else { kind.layout() }
    }

    /// Returns the numbers for the header of a file of this kind.
    pub(crate) const fn numbers(self, kind: Kind) -> Numbers {
        match self {
            Self::Bloom(sizes) => {
                let words = if matches!(kind, Kind::Bloom) { 0 } else { sizes.words() };
                Numbers::new(sizes.bits(), sizes.probes(), words)
            }
            Self::Cuckoo(sizes) => {
                Numbers::new(sizes.buckets(), sizes.slots(), sizes.fingerprint_bits())
            }
            Self::Chain(sizes) => sizes.numbers(),
            Self::Window(sizes) => sizes.numbers(),
            Self::GrowingCuckoo(sizes) => sizes.numbers(),
            Self::Table(sizes) => Numbers::new(sizes.lines(), SHARDS, TAG_BITS),
            Self::Foreign(sizes) => sizes.numbers(),
        }
    }

    /// Returns the number of lines of the body.
    pub(crate) const fn lines(self) -> u64 {
        match self {
            Self::Bloom(sizes) => bloom::raw::lines(sizes),
            Self::Cuckoo(sizes) => sizes.bits().div_ceil(LINE_BITS),
            Self::Chain(sizes) => sizes.body_lines(),
            Self::Window(sizes) => sizes.body_lines(),
            Self::GrowingCuckoo(sizes) => sizes.extent().lines(),
            Self::Table(sizes) => sizes.body_lines(),
            Self::Foreign(sizes) => sizes.body_lines(),
        }
    }

    /// Returns the number of slots, or `None` if there are none.
    pub(crate) fn slots(self) -> Option<u64> {
        match self {
            Self::Bloom(_) | Self::Chain(_) | Self::Window(_) | Self::Foreign(_) => None,
            Self::Cuckoo(sizes) => Some(sizes.buckets().saturating_mul(u64::from(sizes.slots()))),
            Self::GrowingCuckoo(sizes) => Some(sizes.most_slots()),
            Self::Table(sizes) => Some(sizes.slots()),
        }
    }

    /// Returns whether an insert takes no lock, so that a killed process leaves none.
    pub(crate) const fn is_lock_free(self, kind: Kind) -> bool {
        match self {
            Self::Bloom(sizes) => !matches!(kind, Kind::OnceBloom) || sizes.words() == 1,
            Self::Chain(_)
            | Self::Window(_)
            | Self::Cuckoo(_)
            | Self::GrowingCuckoo(_)
            | Self::Table(_)
            | Self::Foreign(_) => false,
        }
    }
}
