//! Guava: what `com.google.common.hash.BloomFilter.writeTo` writes.
//!
//! ```text
//! i8 strategy (0 MITZ_32, 1 MITZ_64), u8 k, i32 words, words: all big-endian
//! ```
//!
//! The hash is Murmur3 x64 128 with seed 0. Source: `BloomFilter.java` and
//! `BloomFilterStrategies.java`.

use super::bits::BitArray;
use super::bloom::{self, ForeignBloomFilter, Places, System, bits_for, check_rate, round};
use super::cursor::{Cursor, in_range};
use super::error::Error;
use super::format::Format;
use super::key::Key;
use super::rates;

/// How Guava derives the places of a key from its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum GuavaStrategy {
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
pub(super) type GuavaFilter = ForeignBloomFilter<Guava>;

/// The header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Guava {
    strategy: GuavaStrategy,
    k: u8,
    words: u32,
}

impl Guava {
    fn bits(self) -> u64 {
        64 * u64::from(self.words)
    }
}

impl Places for Guava {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        let hash = key.with_little_endian(|bytes| fastmurmur3::murmur3_x64_128(bytes, 0));
        let (first, second) = (hash as u64, (hash >> 64) as u64);
        Ok(match self.strategy {
            GuavaStrategy::Mitz64 => (0..u64::from(self.k)).all(|i| {
                let combined = first.wrapping_add(i.wrapping_mul(second));
                each((combined & i64::MAX as u64) % self.bits())
            }),
            GuavaStrategy::Mitz32 => {
                // Both halves are of the first number: the second one is not used.
                let halves = (first as i32, (first >> 32) as i32);
                bloom::sums_of_32_bits(halves, self.k.into(), self.bits(), each)
            }
        })
    }
}

impl GuavaFilter {
    /// Makes an empty filter as Guava 33 does: `k` follows from the rate alone.
    pub(super) fn new(strategy: GuavaStrategy, capacity: u64, rate: f64) -> Result<Self, Error> {
        check_rate(rate)?;
        let k = round(-rate.ln() / core::f64::consts::LN_2).max(1.0);
        let words = (bits_for(capacity.max(1) as f64, rate).trunc() / 64.0).ceil().max(1.0);
        if k > f64::from(u8::MAX) {
            return Err(Error::Size { parameter: "rate" });
        }
        if words > MAX_WORDS as f64 {
            return Err(Error::Size { parameter: "capacity" });
        }
        let system = Guava { strategy, k: k as u8, words: words as u32 };
        Self::zeroed(system, system.bits() / 8)
    }
}

impl System for Guava {
    const BIG_ENDIAN_WORDS: bool = true;

    fn read<'b>(cursor: &mut Cursor<'b>) -> Result<(Self, &'b [u8]), Error> {
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
        let system = Self { strategy, k, words: words as u32 };
        Ok((system, cursor.take(system.bits() / 8)?))
    }

    fn header(&self) -> Vec<u8> {
        let strategy = u8::from(self.strategy == GuavaStrategy::Mitz64);
        [&[strategy, self.k], &self.words.to_be_bytes()[..]].concat()
    }

    fn format(&self) -> Format {
        match self.strategy {
            GuavaStrategy::Mitz32 => Format::GuavaMitz32,
            GuavaStrategy::Mitz64 => Format::GuavaMitz64,
        }
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        vec![("bits", self.bits()), ("hash functions", self.k.into())]
    }

    fn rate(&self, bits: &BitArray) -> f64 {
        let reached = match self.strategy {
            GuavaStrategy::Mitz32 => self.bits().min(bloom::PLACES_OF_SUMS),
            GuavaStrategy::Mitz64 => self.bits(),
        };
        rates::of_progression(bits, reached, self.k.into())
    }
}
