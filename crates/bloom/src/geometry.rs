//! The sizes that determine where the bits of an item lie, and what follows from them alone.

use tamis_core::BuildError;
use tamis_sync::{LINE_BITS, LINE_BYTES};

use crate::probe::classic::MAX_PROBES as MAX_CLASSIC_PROBES;
use crate::probe::line::{MAX_PROBES as MAX_LINE_PROBES, Shape, WORDS};
use crate::probe::masks::MAX_PROBES_PER_WORD;
use crate::sizing::{classic, line, solve};

pub(crate) use crate::sizing::solve::ALL_HASHES;

/// The sizes of a filter: the number of bits, the number of bits that an item sets, and the layout.
///
/// Two filters with equal geometry and equal hashing give an item the same bits. Everything here is
/// arithmetic and needs no filter.
///
/// # Examples
///
/// ```
/// # use tamis_bloom as tamis;
/// use tamis::BloomFilter;
///
/// let geometry = BloomFilter::<str>::builder()
///     .capacity(1_000_000)
///     .false_positive_rate(0.01)
///     .geometry()?;
/// assert_eq!((geometry.bits(), geometry.probes()), (9_616_657, 6));
/// assert!(geometry.false_positive_rate_at(1_000_000) <= 0.01);
/// assert!(geometry.false_positive_rate_at(2_000_000) > 0.1);
/// # Ok::<(), tamis::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    bits: u64,
    kind: Kind,
    /// The pattern of an item. In the classic layout each probe may be in a word of its own.
    shape: Shape,
}

/// Lines of counters per line of the layout: four bits for each bit.
const LINES_OF_COUNTERS: u64 = 4;

/// How the bits of an item lie in the array: one kind for each type of filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Anywhere.
    Classic,
    /// In one line; `once` if exactly one of concurrent inserts of an item returns `true`.
    Line { once: bool },
    /// As `Line`, with a counter of four bits for each bit.
    Counting,
}

impl Geometry {
    /// Returns the smallest sizes of this kind that keep `rate` at `items` items (at least 1). In
    /// the line layouts an item touches `words` words; by default the fewest that need at most 21 %
    /// more memory than the best number.
    pub(crate) fn for_items(
        kind: Kind,
        items: u64,
        rate: f64,
        words: Option<u32>,
    ) -> Result<Self, BuildError> {
        let items = items.max(1);
        if let Some(words) = words
            && !WORDS.contains(&words)
        {
            return Err(BuildError::Words { words });
        }
        // Written so that NaN is an error, too.
        if !(rate > 0.0 && rate < 1.0) {
            return Err(BuildError::Rate { rate });
        }
        // Any filter needs log2(1 / rate) bits per item.
        if items as f64 * -libm::log2(rate) >= ALL_HASHES {
            return Err(BuildError::TooLarge);
        }
        // An item whose hash equals the hash of an inserted item is a false positive whatever the
        // bits. The bits get what is left of the rate, which must be at least half of it.
        let floor = items as f64 / ALL_HASHES;
        if rate < 2.0 * floor {
            return Err(BuildError::RateTooLow { rate, lowest: 2.0 * floor });
        }
        Self::for_rate_of_bits(kind, items, rate - floor, words)
    }

    /// As [`for_items`](Self::for_items), with the rate of the bits alone, between 0 and 1: the
    /// caller has accounted for equal hashes.
    pub(crate) fn for_rate_of_bits(
        kind: Kind,
        items: u64,
        rate: f64,
        words: Option<u32>,
    ) -> Result<Self, BuildError> {
        let sizes = match kind {
            Kind::Classic => {
                solve::classic(items, rate).map(|(bits, probes)| Self::classic(bits, probes))
            }
            Kind::Line { .. } | Kind::Counting => {
                let once = kind == Kind::Line { once: true };
                solve::line(items, rate, once, words)
                    .map(|(lines, shape)| Self::of_lines(lines, shape, kind))
            }
        };
        sizes.ok_or(BuildError::TooLarge)
    }

    /// Returns the sizes of a filter of this kind with `bits` bits (a line layout rounds up to
    /// whole lines) and `probes` probes. In the line layouts they spread over `words` words; by
    /// default over the number that suits the probes.
    pub(crate) fn for_bits(
        kind: Kind,
        bits: u64,
        probes: u32,
        words: Option<u32>,
    ) -> Result<Self, BuildError> {
        if bits == 0 {
            return Err(BuildError::Bits);
        }
        let max = match kind {
            Kind::Classic => MAX_CLASSIC_PROBES,
            Kind::Line { .. } | Kind::Counting => MAX_LINE_PROBES,
        };
        if !(1..=max).contains(&probes) {
            return Err(BuildError::Probes { probes, max });
        }
        Ok(match kind {
            Kind::Classic => Self::classic(bits, probes),
            Kind::Line { .. } | Kind::Counting => {
                let words = words.unwrap_or(words_for(probes));
                if !WORDS.contains(&words) || probes < words || probes > words * MAX_PROBES_PER_WORD
                {
                    return Err(BuildError::Words { words });
                }
                Self::of_lines(bits.div_ceil(LINE_BITS), Shape { words, probes }, kind)
            }
        })
    }

    fn classic(bits: u64, probes: u32) -> Self {
        Self { bits, kind: Kind::Classic, shape: Shape { words: probes, probes } }
    }

    /// Returns the sizes of a filter of `lines` lines. The kind is not the classic one.
    pub(crate) fn of_lines(lines: u64, shape: Shape, kind: Kind) -> Self {
        // 2^55 lines would have 2^64 bits. The count of bits saturates, and the allocation fails
        // anyway.
        Self { bits: lines.saturating_mul(LINE_BITS), kind, shape }
    }

    /// Returns the sizes of the blocked filter in which an item sets the bits that it counts in
    /// this filter.
    pub(crate) fn blocked(self) -> Self {
        Self { kind: Kind::Line { once: false }, ..self }
    }

    /// Returns the number of bits; in a counting filter, the number of counters. The line layouts
    /// have a multiple of 512, the lock bits included.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::{BlockedBloomFilter, BloomFilter};
    /// let geometry = BlockedBloomFilter::<str>::builder().bits(1000).probes(6).geometry()?;
    /// assert_eq!(geometry.bits(), 1024);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub const fn bits(&self) -> u64 {
        self.bits
    }

    /// Returns the number of bits that an item sets, or of counters that it increases. In the
    /// classic layout some may coincide.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::{BlockedBloomFilter, BloomFilter};
    /// let geometry = BloomFilter::<str>::builder().bits(1000).probes(6).geometry()?;
    /// assert_eq!(geometry.probes(), 6);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub const fn probes(&self) -> u32 {
        self.shape.probes
    }

    /// Returns the largest number of 64-bit words that an item touches: the price of an atomic
    /// insert. In the line layouts they share one cache line; in the classic layout each usually
    /// lies in a line of its own. In a counting filter each stands for four words of counters, in
    /// half a cache line.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::{BlockedBloomFilter, BloomFilter};
    /// let geometry = BlockedBloomFilter::<str>::builder().bits(1000).probes(6).geometry()?;
    /// assert_eq!(geometry.words(), 2);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub const fn words(&self) -> u32 {
        self.shape.words
    }

    /// Returns the size of the array in bytes: whole cache lines. A counting filter has four bits
    /// per counter.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::{BlockedBloomFilter, BloomFilter};
    /// let geometry = BloomFilter::<str>::builder().bits(1000).probes(6).geometry()?;
    /// assert_eq!(geometry.size_in_bytes(), 128);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        self.array_lines().saturating_mul(LINE_BYTES as u64)
    }

    /// Returns the share of bits that is expected to be set after `items` distinct items.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::BloomFilter;
    /// let geometry = BloomFilter::<str>::builder().capacity(1000).geometry()?;
    /// assert!((0.45..0.55).contains(&geometry.fill_at(1000)));
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn fill_at(&self, items: usize) -> f64 {
        self.fill(items as f64)
    }

    /// Returns the false-positive rate that is expected after `items` distinct items: the
    /// probability that a query for an item that was not inserted returns `true`.
    ///
    /// Computed for the actual layout, not by the textbook's formula. The error is a thousandth at
    /// the rates that filters are built for, and half a hundredth in nearly empty line layouts.
    /// Includes the probability `items / 2^64` that the hash of the item equals the hash of an
    /// inserted one. Takes microseconds; for many probes in few bits up to tens of milliseconds.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_bloom as tamis;
    /// use tamis::BloomFilter;
    /// // 20 bits per item and 6 probes: 0.0303 %, as published.
    /// let geometry = BloomFilter::<str>::builder().bits(1_600_000).probes(6).geometry()?;
    /// let per_cent = geometry.false_positive_rate_at(80_000) * 100.0;
    /// assert_eq!((per_cent * 10_000.0).round(), 303.0);
    /// # Ok::<(), tamis::BuildError>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate_at(&self, items: usize) -> f64 {
        with_equal_hashes(self.rate_of_bits_at(items as u64), items as f64)
    }

    /// As [`false_positive_rate_at`](Self::false_positive_rate_at), without equal hashes.
    pub(crate) fn rate_of_bits_at(&self, items: u64) -> f64 {
        match self.kind {
            Kind::Classic => classic::rate(self.bits, self.shape.probes, items),
            Kind::Line { .. } | Kind::Counting => {
                line::Groups::new(self.shape, self.locked()).rate(self.lines(), items)
            }
        }
    }

    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the shape of an item's pattern in its line. The classic layout has none and returns
    /// one word.
    pub(crate) const fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns whether one bit of each line is its lock. A pattern of several words needs the lock,
    /// one word does not.
    pub(crate) const fn locked(&self) -> bool {
        matches!(self.kind, Kind::Line { once: true }) && self.shape.words > 1
    }

    /// Returns the number of lines of 512 bits or counters.
    pub(crate) const fn lines(&self) -> u64 {
        self.bits.div_ceil(LINE_BITS)
    }

    /// Returns the number of cache lines of the array.
    pub(crate) const fn array_lines(&self) -> u64 {
        match self.kind {
            Kind::Counting => self.lines().saturating_mul(LINES_OF_COUNTERS),
            Kind::Classic | Kind::Line { .. } => self.lines(),
        }
    }

    /// Returns the number of bits that items can set.
    pub(crate) const fn usable_bits(&self) -> u64 {
        if self.locked() { self.bits - self.lines() } else { self.bits }
    }

    /// Returns the number of items after which this share of bits is expected to be set: the
    /// inverse of the expected fill (Swamidass and Baldi 2007 for the classic layout).
    ///
    /// Exact to the resolution of one bit. Infinite if less than half a bit is empty: any number of
    /// items may have left a full filter.
    pub(crate) fn items_at_fill(&self, fill: f64) -> f64 {
        if fill <= 0.0 {
            return 0.0;
        }
        if fill > 1.0 - 0.5 / self.usable_bits() as f64 {
            return f64::INFINITY;
        }
        // Bisection: the expected fill grows with the items, and 64 items per bit fill every
        // layout.
        let (mut low, mut high) = (0.0, 64.0 * self.bits as f64);
        for _ in 0..200 {
            let middle = (low + high) / 2.0;
            if self.fill(middle) < fill {
                low = middle;
            } else {
                high = middle;
            }
            if high - low <= high * 1e-12 {
                break;
            }
        }
        (low + high) / 2.0
    }

    fn fill(&self, items: f64) -> f64 {
        match self.kind {
            Kind::Classic => classic::fill(self.bits, self.shape.probes, items),
            Kind::Line { .. } | Kind::Counting => line::fill(self.lines(), self.shape, items),
        }
    }
}

/// Adds the probability of equal hashes to the rate of the bits.
pub(crate) fn with_equal_hashes(of_bits: f64, items: f64) -> f64 {
    (of_bits + items / ALL_HASHES).min(1.0)
}

/// Returns the number of words for a given number of probes: what the sizing chooses at the rates
/// at which it chooses this number of probes.
const fn words_for(probes: u32) -> u32 {
    match probes {
        0..=5 => 1,
        6..=10 => 2,
        11..=20 => 4,
        _ => 8,
    }
}
