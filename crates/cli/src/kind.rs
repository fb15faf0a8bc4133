//! The kinds of filter that the program can use.

use core::fmt;

use clap::ValueEnum;
use tamis::{BlockedBloomFilter, BloomFilter, BuildError, Geometry, OnceBloomFilter};

/// A kind of filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// One cache line an item: the fastest.
    Blocked,
    /// As blocked, and of racing inserts of one item exactly one is told that it is new.
    Once,
    /// The fewest bits, anywhere: the least memory.
    Bloom,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Bloom, Self::Blocked, Self::Once];

    /// The sizes of a filter of this kind for `items` at `rate`. Allocates nothing.
    pub(crate) fn geometry(self, items: u64, rate: f64) -> Result<Geometry, BuildError> {
        match self {
            Self::Blocked => BlockedBloomFilter::<[u8]>::builder()
                .capacity(items)
                .false_positive_rate(rate)
                .geometry(),
            Self::Once => OnceBloomFilter::<[u8]>::builder()
                .capacity(items)
                .false_positive_rate(rate)
                .geometry(),
            Self::Bloom => {
                BloomFilter::<[u8]>::builder().capacity(items).false_positive_rate(rate).geometry()
            }
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Once => "once",
            Self::Bloom => "bloom",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
