//! The kinds of filters that a file can hold.

use core::fmt;

/// The number of the layout of cuckoo filters that grow.
pub(crate) const GROWING: u32 = 7;

/// The type of filter in a file.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// assert_eq!(tamis::formats::Kind::OnceBloom.to_string(), "OnceBloomFilter");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `BloomFilter`.
    Bloom,
    /// `BlockedBloomFilter`.
    BlockedBloom,
    /// `OnceBloomFilter`.
    OnceBloom,
    /// `CuckooFilter`.
    Cuckoo,
    /// `OnceCuckooFilter`.
    OnceCuckoo,
    /// `ScalableBloomFilter`.
    ScalableBloom,
    /// `OnceScalableBloomFilter`.
    OnceScalableBloom,
    /// `CountingBloomFilter`.
    CountingBloom,
    /// `RotatingBloomFilter`.
    RotatingBloom,
    /// The growing table of the program `tamis`.
    Table,
    /// A filter of another system: see [`foreign`](crate::foreign).
    Foreign,
}

impl Kind {
    /// All kinds.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::Kind;
    /// assert!(Kind::ALL.contains(&Kind::Cuckoo));
    /// ```
    pub const ALL: &[Self] = &[
        Self::Bloom,
        Self::BlockedBloom,
        Self::OnceBloom,
        Self::Cuckoo,
        Self::OnceCuckoo,
        Self::ScalableBloom,
        Self::OnceScalableBloom,
        Self::CountingBloom,
        Self::RotatingBloom,
        Self::Table,
        Self::Foreign,
    ];

    /// Returns the number of the kind in a file.
    pub(crate) const fn code(self) -> u32 {
        match self {
            Self::Bloom => 1,
            Self::BlockedBloom => 2,
            Self::OnceBloom => 3,
            Self::Cuckoo => 4,
            Self::OnceCuckoo => 5,
            Self::ScalableBloom => 6,
            Self::OnceScalableBloom => 7,
            Self::CountingBloom => 8,
            Self::RotatingBloom => 9,
            Self::Table => 16,
            Self::Foreign => 32,
        }
    }

    /// Returns whether a file of this kind can be used in place, if its filter does not grow. The
    /// others have several arrays, or
    /// locks, or counters that a killed process would leave half changed.
    pub(crate) const fn is_mappable(self) -> bool {
        match self {
            Self::Bloom
            | Self::BlockedBloom
            | Self::OnceBloom
            | Self::Cuckoo
            | Self::OnceCuckoo => true,
            Self::ScalableBloom
            | Self::OnceScalableBloom
            | Self::CountingBloom
            | Self::RotatingBloom
            | Self::Table
            | Self::Foreign => false,
        }
    }

    pub(crate) fn of_code(code: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.code() == code)
    }

    /// Returns whether a filter of this kind may have the layout [`GROWING`].
    pub(crate) const fn may_grow(self) -> bool {
        matches!(self, Self::Cuckoo | Self::OnceCuckoo)
    }

    /// Returns the number of the layout in a file, if the filter is no cuckoo filter that grows.
    pub(crate) const fn layout(self) -> u32 {
        match self {
            Self::Bloom => 1,
            Self::BlockedBloom | Self::OnceBloom => 2,
            Self::Cuckoo | Self::OnceCuckoo => 3,
            Self::ScalableBloom | Self::OnceScalableBloom => 4,
            Self::CountingBloom => 5,
            Self::RotatingBloom => 6,
            Self::Table => 16,
            Self::Foreign => 32,
        }
    }
}

/// Writes the name of the type of filter.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Bloom => "BloomFilter",
            Self::BlockedBloom => "BlockedBloomFilter",
            Self::OnceBloom => "OnceBloomFilter",
            Self::Cuckoo => "CuckooFilter",
            Self::OnceCuckoo => "OnceCuckooFilter",
            Self::ScalableBloom => "ScalableBloomFilter",
            Self::OnceScalableBloom => "OnceScalableBloomFilter",
            Self::CountingBloom => "CountingBloomFilter",
            Self::RotatingBloom => "RotatingBloomFilter",
            Self::Table => "table",
            Self::Foreign => "foreign filter",
        })
    }
}
