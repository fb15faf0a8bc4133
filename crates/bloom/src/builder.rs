//! The builder: from items and a rate, or bits and probes, to a filter.

use tamis_core::BuildError;

use crate::array::Array;
use crate::filter::{Buildable, InLines};
use crate::geometry::{Geometry, Kind};
use crate::shared::Shared;

/// The false-positive rate when none is given.
pub(crate) const DEFAULT_RATE: f64 = 0.01;

/// A builder: collects the sizes and the hasher of a filter, and builds it.
///
/// Set one of:
///
/// * a [`capacity`](Self::capacity), with or without a
///   [`false_positive_rate`](Self::false_positive_rate) (1 % by default);
/// * [`bits`](Self::bits) and [`probes`](Self::probes);
/// * the sizes of an existing filter ([`like`](Self::like)).
///
/// Filters whose items lie in one line also take [`words`](Self::words), which trades memory for
/// speed. Finding the sizes takes about 1 µs at the rates 0.1, 0.01 and so on to 1e-9, and 2 to 6
/// µs at most other rates. To build many filters of one size at another rate, pass the geometry of
/// the first to [`like`](Self::like).
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::OnceBloomFilter;
///
/// let filter = OnceBloomFilter::<str>::builder()
///     .capacity(1_000_000)
///     .false_positive_rate(1e-6)
///     .build()?;
/// assert!(filter.geometry().false_positive_rate_at(1_000_000) <= 1e-6);
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until it builds"]
pub struct Builder<F: Buildable> {
    sizes: Sizes,
    hasher: F::Hasher,
}

/// The sizes that were given to a builder.
#[derive(Clone, Copy, Debug, Default)]
struct Sizes {
    capacity: Option<usize>,
    rate: Option<f64>,
    bits: Option<u64>,
    probes: Option<u32>,
    words: Option<u32>,
    like: Option<Geometry>,
}

impl Sizes {
    /// Returns the geometry of a filter of this kind.
    fn geometry(self, kind: Kind) -> Result<Geometry, BuildError> {
        let Self { capacity, rate, bits, probes, words, like } = self;
        match (capacity, rate, (bits, probes), like) {
            // The sizes of another filter of the same type; only a capacity may go with them.
            (_, None, (None, None), Some(geometry)) if words.is_none() => {
                if geometry.kind() == kind { Ok(geometry) } else { Err(BuildError::Layout) }
            }
            // By items and rate.
            (Some(items), rate, (None, None), None) => {
                Geometry::for_items(kind, items as u64, rate.unwrap_or(DEFAULT_RATE), words)
            }
            // By bits and probes.
            (None, None, (Some(bits), Some(probes)), None) => {
                Geometry::for_bits(kind, bits, probes, words)
            }
            // Too little, or too much.
            (None, _, (None, None), None) => Err(BuildError::Unsized),
            (None, None, _, None) => Err(BuildError::Incomplete),
            _ => Err(BuildError::Conflict),
        }
    }
}

tamis_core::builder_methods! {
    Builder<Buildable> of "tamis_bloom", "bloom",
    builds: BlockedBloomFilter,
    capacity:
        " Sets the number of distinct items that the filter holds at its rate. 0 counts as 1 and"
        " gives the smallest filter.",
    rate:
        " Sets the false-positive rate that is expected when the filter holds its capacity; between"
        " 0 and 1."
}

tamis_core::geometry_methods! {
    Builder<Buildable> of "tamis_bloom", "bloom",
    builds: BlockedBloomFilter,
    like:
        " Sets the sizes of an existing filter of this type, for example one to unite with. A"
        " [`capacity`](Self::capacity) may go with them: the number of items that the sizes are meant"
        " for.",
    geometry: |sizes| sizes.geometry(F::Array::KIND),
    capacity: |shared| shared.capacity()
}

impl<F: Buildable> Builder<F> {
    /// Sets the number of bits, at least 1. The line layouts round it up to whole lines of 512.
    ///
    /// The capacity of a filter built from bits is the number of items that fill half of them.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::{BlockedBloomFilter, BloomFilter};
    /// let builder = BloomFilter::<str>::builder().bits(1000).probes(7);
    /// assert_eq!(builder.geometry()?.bits(), 1000);
    /// let builder = BlockedBloomFilter::<str>::builder().bits(1000).probes(7);
    /// assert_eq!(builder.geometry()?.bits(), 1024);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn bits(mut self, bits: u64) -> Self {
        self.sizes.bits = Some(bits);
        self
    }

    /// Sets the number of bits that an item sets: 1 to 64, in the line layouts 1 to 32. The line
    /// layouts spread them over 1, 2, 4 or 8 words (up to 5, 10, 20, 32 probes).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::BlockedBloomFilter;
    /// let geometry = BlockedBloomFilter::<str>::builder().bits(10_000).probes(6).geometry()?;
    /// assert_eq!((geometry.probes(), geometry.words()), (6, 2));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn probes(mut self, probes: u32) -> Self {
        self.sizes.probes = Some(probes);
        self
    }

    /// Builds an empty filter.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the sizes are missing, contradictory or out of range, or if the allocation
    /// fails.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::{BloomFilter, BuildError};
    /// let error = BloomFilter::<str>::builder().capacity(10).false_positive_rate(1.0).build();
    /// assert_eq!(error.unwrap_err(), BuildError::Rate { rate: 1.0 });
    /// ```
    pub fn build(self) -> Result<F, BuildError> {
        let geometry = self.geometry()?;
        let capacity = self.sizes.capacity.unwrap_or_else(|| geometry.items_at_fill(0.5) as usize);
        Shared::new(geometry, capacity.max(1), self.hasher).map(F::from_shared)
    }
}

impl<F: InLines> Builder<F> {
    /// Sets the number of 64-bit words that an item touches in its line: 1, 2, 4 or 8. Trades
    /// memory for speed.
    ///
    /// By default, the sizing takes the fewest words that need at most 21 % more memory than the
    /// best number of words. Up to 4, more words need less memory; each word takes time. The memory
    /// of a blocked filter (a once filter needs up to 0.7 % more):
    ///
    /// | rate | bits per item with 1 / 2 / 4 / 8 words | default |
    /// |---|---|---|
    /// | 1 % | 11.95 / 10.20 / 10.11 / 10.10 | 1 |
    /// | 0.1 % | 24.2 / 16.8 / 15.8 / 15.7 | 2 |
    /// | 1e-4 | 57.9 / 25.6 / 22.4 / 22.9 | 2 |
    /// | 1e-6 | 3907 / 55.7 / 40.7 / 38.9 | 4 |
    ///
    /// The price of a word: in L2, in batches, an insert on 1, 2 and 4 words takes 12, 21 and 48
    /// ns, and a query 4.6, 5.7 and 11 ns (100,000 items, one thread of an Emerald Rapids Xeon).
    /// Out of the caches, memory takes most of the time, and words cost less. In an
    /// [`OnceBloomFilter`](crate::OnceBloomFilter), one word needs no lock; with more words, an
    /// insert of a new item locks its line for a few stores.
    ///
    /// With [`probes`](Self::probes), each word has 1 to 8 of them.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::BlockedBloomFilter;
    ///
    /// let fast = BlockedBloomFilter::<str>::builder().capacity(1_000_000).geometry()?;
    /// let small = BlockedBloomFilter::<str>::builder().capacity(1_000_000).words(2).geometry()?;
    /// assert_eq!((fast.words(), small.words()), (1, 2));
    /// assert!((small.bits() as f64) < 0.87 * fast.bits() as f64);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    pub fn words(mut self, words: u32) -> Self {
        self.sizes.words = Some(words);
        self
    }
}
