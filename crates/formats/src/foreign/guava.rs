//! Guava: what `com.google.common.hash.BloomFilter.writeTo` writes.
//!
//! ```text
//! i8 strategy (0 MITZ_32, 1 MITZ_64), u8 k, i32 words, words: all big-endian
//! ```
//!
//! The hash is Murmur3 x64 128 with seed 0. Source: `BloomFilter.java` and
//! `BloomFilterStrategies.java`.

use std::io;

use super::bits::BitArray;
use super::bloom::{self, Places, bits_for, check_rate, round};
use super::cursor::{Cursor, in_range};
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::Key;
use super::rates;

/// How Guava derives the places of a key from its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GuavaStrategy {
    /// `MURMUR128_MITZ_32`: no place is above 2^31 - 1.
    Mitz32,
    /// `MURMUR128_MITZ_64`, the default.
    Mitz64,
}

/// The most words: their number is an `i32`.
const MAX_WORDS: i64 = i32::MAX as i64;

/// A `BloomFilter` of Guava.
///
/// Keys: a string goes in as `Funnels.stringFunnel(UTF_8)` does it, an `i64` as `longFunnel`, an
/// `i32` as `integerFunnel`, bytes as `byteArrayFunnel`.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Filter, GuavaFilter, GuavaStrategy, Key};
///
/// let mut filter = GuavaFilter::new(GuavaStrategy::Mitz64, 1000, 0.01)?;
/// filter.insert(Key::I64(-7))?;
/// assert!(filter.contains(Key::I64(-7))?);
/// assert_eq!(filter.encoded_len(), 6 + 1200);
/// # Ok::<(), tamis::formats::foreign::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GuavaFilter {
    rule: Rule,
    bits: BitArray,
}

/// The header.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rule {
    strategy: GuavaStrategy,
    k: u8,
    words: u32,
}

impl Rule {
    fn bits(self) -> u64 {
        64 * u64::from(self.words)
    }
}

impl Places for Rule {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<(), Error> {
        let hash = key.with_little_endian(|bytes| fastmurmur3::murmur3_x64_128(bytes, 0));
        let (first, second) = (hash as u64, (hash >> 64) as u64);
        match self.strategy {
            GuavaStrategy::Mitz64 => {
                let mut combined = first;
                for _ in 0..self.k {
                    if !each((combined & i64::MAX as u64) % self.bits()) {
                        break;
                    }
                    combined = combined.wrapping_add(second);
                }
            }
            GuavaStrategy::Mitz32 => {
                // Both halves are of the first number: the second one is not used.
                let halves = (first as i32, (first >> 32) as i32);
                bloom::sums_of_32_bits(halves, self.k.into(), self.bits(), each);
            }
        }
        Ok(())
    }
}

impl GuavaFilter {
    /// Makes an empty filter as Guava 33 does: `k` follows from the rate alone.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if Guava makes no such filter, or [`Error::Alloc`].
    pub fn new(strategy: GuavaStrategy, capacity: u64, rate: f64) -> Result<Self, Error> {
        check_rate(rate)?;
        let k = round(-rate.ln() / core::f64::consts::LN_2).max(1.0);
        Self::with_probes(strategy, capacity, rate, k)
    }

    /// Makes an empty filter as Guava up to 31 does: `k` follows from the number of bits per key.
    /// It differs for few keys.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if Guava makes no such filter, or [`Error::Alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Filter, GuavaFilter, GuavaStrategy};
    /// let old = GuavaFilter::new_as_version_31(GuavaStrategy::Mitz64, 7, 0.0219)?;
    /// let new = GuavaFilter::new(GuavaStrategy::Mitz64, 7, 0.0219)?;
    /// assert_eq!((old.to_bytes()[1], new.to_bytes()[1]), (5, 6));
    /// # Ok::<(), tamis::formats::foreign::Error>(())
    /// ```
    pub fn new_as_version_31(
        strategy: GuavaStrategy,
        capacity: u64,
        rate: f64,
    ) -> Result<Self, Error> {
        check_rate(rate)?;
        let keys = capacity.max(1) as f64;
        let bits = bits_for(keys, rate).trunc();
        let k = round(bits / keys * core::f64::consts::LN_2).max(1.0);
        Self::with_probes(strategy, capacity, rate, k)
    }

    fn with_probes(
        strategy: GuavaStrategy,
        capacity: u64,
        rate: f64,
        k: f64,
    ) -> Result<Self, Error> {
        let words = (bits_for(capacity.max(1) as f64, rate).trunc() / 64.0).ceil().max(1.0);
        if k > f64::from(u8::MAX) {
            return Err(Error::Size { parameter: "rate" });
        }
        if words > MAX_WORDS as f64 {
            return Err(Error::Size { parameter: "capacity" });
        }
        let rule = Rule { strategy, k: k as u8, words: words as u32 };
        Ok(Self { rule, bits: BitArray::zeroed(rule.bits() / 8)? })
    }

    /// Reads a filter.
    ///
    /// # Errors
    ///
    /// [`Error`] if Guava does not write such bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
        // All numbers of the header first, so that a short one is truncated whatever they are.
        let (strategy, k, words) = (cursor.u8()?, cursor.u8()?, cursor.i32_be()?);
        let strategy = match strategy {
            0 => GuavaStrategy::Mitz32,
            1 => GuavaStrategy::Mitz64,
            other => {
                let field = "the strategy";
                return Err(Error::Field { field, found: i64::from(other as i8), min: 0, max: 1 });
            }
        };
        in_range("the number of hash functions", k.into(), 1, 255)?;
        in_range("the number of words", words.into(), 1, MAX_WORDS)?;
        let rule = Rule { strategy, k, words: words as u32 };
        let bits = BitArray::of_big_endian_words(cursor.take(rule.bits() / 8)?)?;
        cursor.end()?;
        Ok(Self { rule, bits })
    }

    /// Returns the strategy.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{GuavaFilter, GuavaStrategy};
    /// let filter = GuavaFilter::new(GuavaStrategy::Mitz32, 10, 0.01)?;
    /// assert_eq!(filter.strategy(), GuavaStrategy::Mitz32);
    /// # Ok::<(), tamis::formats::foreign::Error>(())
    /// ```
    #[must_use]
    pub const fn strategy(&self) -> GuavaStrategy {
        self.rule.strategy
    }

    /// Returns the places of a key in the array of bits, in the order in which Guava computes them.
    ///
    /// # Errors
    ///
    /// None: Guava has keys of all types.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{GuavaFilter, GuavaStrategy, Key};
    /// let filter = GuavaFilter::new(GuavaStrategy::Mitz64, 10, 0.5)?;
    /// assert!(filter.places(Key::Text(""))? == [0]);
    /// # Ok::<(), tamis::formats::foreign::Error>(())
    /// ```
    pub fn places(&self, key: Key<'_>) -> Result<Vec<u64>, Error> {
        bloom::places(&self.rule, key)
    }
}

impl Filter for GuavaFilter {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        bloom::contains(&self.rule, &self.bits, key)
    }

    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error> {
        bloom::insert(&self.rule, &mut self.bits, key)
    }

    fn union_with(&mut self, other: &dyn Filter) -> Result<(), Error> {
        let other = bloom::like(other, |other: &Self| other.rule == self.rule)?;
        self.bits.unite(&other.bits);
        Ok(())
    }

    fn format(&self) -> Format {
        match self.rule.strategy {
            GuavaStrategy::Mitz32 => Format::GuavaMitz32,
            GuavaStrategy::Mitz64 => Format::GuavaMitz64,
        }
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        vec![("bits", self.rule.bits()), ("hash functions", self.rule.k.into())]
    }

    fn false_positive_rate(&self) -> f64 {
        let reached = match self.rule.strategy {
            GuavaStrategy::Mitz32 => self.rule.bits().min(bloom::PLACES_OF_SUMS),
            GuavaStrategy::Mitz64 => self.rule.bits(),
        };
        rates::of_progression(&self.bits, reached, self.rule.k.into())
    }

    fn encoded_len(&self) -> u64 {
        6 + self.rule.bits() / 8
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&[u8::from(self.rule.strategy == GuavaStrategy::Mitz64), self.rule.k])?;
        to.write_all(&self.rule.words.to_be_bytes())?;
        self.bits.write_big_endian_words(to)
    }
}
