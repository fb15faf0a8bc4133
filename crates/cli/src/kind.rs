//! The kinds of filter that the program can use.

use core::fmt;

use clap::ValueEnum;
use tamis::{
    BlockedBloomFilter, BloomFilter, BuildError, OnceBloomFilter, OnceCuckooFilter, bloom,
};

use crate::geometry::{Geometry, lowest_rate};

/// A kind of filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// One cache line per item: the fastest.
    Blocked,
    /// Like blocked; of racing inserts of the same new item exactly one reports it as new.
    Once,
    /// Bits anywhere: the least memory at rates above 0.1 %.
    Bloom,
    /// One fingerprint per item, in one of two buckets: at low rates less memory than blocked.
    Cuckoo,
}

impl Kind {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 4] = [Self::Bloom, Self::Blocked, Self::Once, Self::Cuckoo];

    /// Computes the sizes of a filter of this kind for `items` at `rate`. Allocates nothing.
    pub(crate) fn geometry(self, items: u64, rate: f64) -> Result<Geometry, BuildError> {
        let items = usize::try_from(items).map_err(|_| BuildError::TooLarge)?;
        macro_rules! solve {
            ($filter:ident, $sizes:ident) => {
                $filter::<[u8]>::builder()
                    .capacity(items)
                    .false_positive_rate(rate)
                    .geometry()
                    .map(Geometry::$sizes)?
            };
        }
        Ok(match self {
            Self::Blocked => solve!(BlockedBloomFilter, Bloom),
            Self::Once => solve!(OnceBloomFilter, Bloom),
            Self::Bloom => solve!(BloomFilter, Bloom),
            Self::Cuckoo => solve!(OnceCuckooFilter, Cuckoo),
        })
    }

    /// Computes the sizes of a blocked filter for `items` at `rate` with `words` words per item.
    /// Allocates nothing.
    pub(crate) fn blocked_of_words(
        items: u64,
        rate: f64,
        words: u32,
    ) -> Result<bloom::Geometry, BuildError> {
        let items = usize::try_from(items).map_err(|_| BuildError::TooLarge)?;
        let builder = BlockedBloomFilter::<[u8]>::builder().capacity(items);
        builder.false_positive_rate(rate).words(words).geometry()
    }

    /// The lowest rate that a filter of this kind can keep with `items`; 0 if no filter has this
    /// size at any rate.
    pub(crate) fn lowest_rate(self, items: u64) -> f64 {
        // No filter of 64-bit hashes keeps a rate of 2^-64, and the error names the lowest one that
        // it keeps.
        self.geometry(items, 2.0_f64.powi(-64)).map_or_else(lowest_rate, |_| None).unwrap_or(0.0)
    }

    /// The name, as on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Once => "once",
            Self::Bloom => "bloom",
            Self::Cuckoo => "cuckoo",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
