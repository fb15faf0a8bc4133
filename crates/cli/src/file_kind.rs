//! The kinds of filter that a file can hold: those of fixed size, and those that count, forget or
//! grow.

use core::fmt;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use tamis::formats::{self, Info};
use tamis::{BuildError, CountingBloomFilter, OnceScalableBloomFilter, RotatingBloomFilter};

use crate::geometry::{GENERATIONS, Geometry};
use crate::kind::Kind;

/// The rate of a filter that is created in a file or in Redis, without --rate.
pub(crate) const CREATED_RATE: f64 = 1e-6;

/// The rate of a window without --rate.
pub(crate) const WINDOW_RATE: f64 = 1e-9;

/// A kind of filter that a file can hold.
///
/// # Examples
///
/// ```
/// use tamis_cli::{FileKind, Kind};
///
/// assert_eq!(FileKind::Fixed(Kind::Bloom).to_string(), "bloom");
/// assert_eq!(FileKind::Rotating.to_string(), "rotating");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A kind of fixed size, in which `tamis dedup` can keep its records too.
    Fixed(Kind),
    /// A Bloom filter of counters: records can be removed.
    Counting,
    /// A window over the last records.
    Rotating,
    /// A Bloom filter that grows.
    Scalable,
    /// A cuckoo filter that grows: records can be removed.
    GrowingCuckoo,
}

impl FileKind {
    const ALL: [Self; 8] = [
        Self::Fixed(Kind::Blocked),
        Self::Fixed(Kind::Once),
        Self::Fixed(Kind::Bloom),
        Self::Fixed(Kind::Cuckoo),
        Self::Counting,
        Self::Rotating,
        Self::Scalable,
        Self::GrowingCuckoo,
    ];

    /// The kinds whose sizes follow from a number of items and a rate.
    pub(crate) const PLANNED: [Self; 7] = [
        Self::Fixed(Kind::Bloom),
        Self::Fixed(Kind::Blocked),
        Self::Fixed(Kind::Once),
        Self::Fixed(Kind::Cuckoo),
        Self::Counting,
        Self::Rotating,
        Self::Scalable,
    ];

    /// Computes the sizes of a filter of this kind for `items` at `rate`, if they follow from these
    /// numbers. Allocates nothing. For a window, `items` is its length; for a Bloom filter that
    /// grows, the sizes are those of the first slice.
    pub(crate) fn geometry(self, items: u64, rate: f64) -> Result<Option<Geometry>, BuildError> {
        let capacity = usize::try_from(items).map_err(|_| BuildError::TooLarge)?;
        Ok(Some(match self {
            Self::Fixed(kind) => kind.geometry(items, rate)?,
            Self::Counting => Geometry::Counting(
                CountingBloomFilter::<[u8]>::builder()
                    .capacity(capacity)
                    .false_positive_rate(rate)
                    .geometry()?,
            ),
            Self::Rotating => Geometry::Rotating(
                RotatingBloomFilter::<[u8]>::builder()
                    .capacity(capacity)
                    .generations(GENERATIONS)
                    .false_positive_rate(rate)
                    .geometry()?,
            ),
            Self::Scalable => Geometry::Bloom(
                OnceScalableBloomFilter::<[u8]>::builder()
                    .capacity(capacity)
                    .false_positive_rate(rate)
                    .geometry()?,
            ),
            Self::GrowingCuckoo => return Ok(None),
        }))
    }

    /// The name, as on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Fixed(kind) => kind.name(),
            Self::Counting => "counting",
            Self::Rotating => "rotating",
            Self::Scalable => "scalable",
            Self::GrowingCuckoo => "scalable-cuckoo",
        }
    }

    /// What is said of the kind in the help.
    const fn help(self) -> &'static str {
        match self {
            Self::Fixed(_) => "",
            Self::Counting => "Like blocked, with counters instead of bits: records can be removed",
            Self::Rotating => {
                "A window: contains the last records, as many as --window says, and forgets older ones"
            }
            Self::Scalable => "A Bloom filter that grows: --capacity is where it begins",
            Self::GrowingCuckoo => {
                "A cuckoo filter that grows up to 1024 times its --capacity, or less far at a very low \
                 --rate or with little memory: records can be removed"
            }
        }
    }
}

impl FileKind {
    /// The items with which a filter that grows begins, if no number is given.
    pub(crate) const fn first_capacity(self) -> Option<u64> {
        match self {
            Self::Scalable | Self::GrowingCuckoo => Some(1 << 16),
            Self::Fixed(_) | Self::Counting | Self::Rotating => None,
        }
    }

    /// Whether the filter keeps a copy of every record, also of a repeated one.
    pub(crate) const fn keeps_copies(self) -> bool {
        matches!(self, Self::Fixed(Kind::Cuckoo) | Self::Counting | Self::GrowingCuckoo)
    }

    /// The kind that builds such saved filters, if one does.
    pub(crate) const fn of_saved(saved: &Info) -> Option<Self> {
        use tamis::formats::Kind as Saved;
        if matches!(saved.geometry(), formats::Geometry::GrowingCuckoo(_)) {
            return Some(Self::GrowingCuckoo);
        }
        match saved.kind() {
            Saved::Bloom => Some(Self::Fixed(Kind::Bloom)),
            Saved::BlockedBloom => Some(Self::Fixed(Kind::Blocked)),
            Saved::OnceBloom => Some(Self::Fixed(Kind::Once)),
            Saved::Cuckoo | Saved::OnceCuckoo => Some(Self::Fixed(Kind::Cuckoo)),
            Saved::CountingBloom => Some(Self::Counting),
            Saved::RotatingBloom => Some(Self::Rotating),
            Saved::ScalableBloom | Saved::OnceScalableBloom => Some(Self::Scalable),
            _ => None,
        }
    }
}

impl From<Kind> for FileKind {
    fn from(kind: Kind) -> Self {
        Self::Fixed(kind)
    }
}

impl ValueEnum for FileKind {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Fixed(kind) => kind.to_possible_value(),
            other => Some(PossibleValue::new(other.name()).help(other.help())),
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes are those of the filters that the library builds.
    #[test]
    fn sizes_are_those_of_the_filters() {
        let (items, rate) = (10_000, 1e-4);
        let planned = |kind: FileKind| {
            let sizes = kind.geometry(items as u64, rate).expect("a filter").expect("known");
            sizes.size_in_bytes()
        };
        let counting = CountingBloomFilter::<[u8]>::builder();
        let counting = counting.capacity(items).false_positive_rate(rate).build().expect("small");
        assert_eq!(planned(FileKind::Counting), counting.size_in_bytes());
        let rotating = RotatingBloomFilter::<[u8]>::builder();
        let rotating = rotating.capacity(items).false_positive_rate(rate).build().expect("small");
        assert_eq!(rotating.window().generations, GENERATIONS);
        // The library counts the locks, too.
        let (planned_size, built) = (planned(FileKind::Rotating), rotating.size_in_bytes());
        assert!(planned_size.abs_diff(built) * 50 <= built, "{planned_size} {built}");
        let scalable = OnceScalableBloomFilter::<[u8]>::builder();
        let scalable = scalable.capacity(items).false_positive_rate(rate).build().expect("small");
        assert_eq!(planned(FileKind::Scalable), scalable.size_in_bytes());
    }
}
