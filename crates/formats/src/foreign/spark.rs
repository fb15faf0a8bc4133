//! Spark: what `org.apache.spark.util.sketch.BloomFilter.writeTo` writes.
//!
//! ```text
//! version 1: i32 1, i32 k, i32 words, words: all big-endian
//! version 2: i32 2, i32 k, i32 seed, i32 words, words
//! ```
//!
//! The hash is Murmur3 x86 32 with a tail of its own. Source: `BloomFilterImpl.java`,
//! `BloomFilterImplV2.java`, `BitArray.java` and `Murmur3_x86_32.java`.

use super::bits::BitArray;
use super::bloom::{
    self, ForeignBloomFilter, Places, System, bits_for, check_rate, max_probes, round,
};
use super::cursor::{Cursor, in_range};
use super::error::Error;
use super::format::Format;
use super::key::Key;
use super::rates;

/// The version of a filter of Spark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SparkVersion {
    /// What `create` makes in Spark 3.5. No place is above 2^31 - 1.
    V1,
    /// What `create` makes from Spark 4.1 on, with seed 0.
    V2 {
        /// The seed of the hash.
        seed: i32,
    },
}

/// The most words: their number is an `i32`.
const MAX_WORDS: i64 = i32::MAX as i64;

/// A `BloomFilter` of Spark.
///
/// Keys: a string goes in as `putString` does it, an integer as `putLong`, bytes as `putBinary`.
pub(super) type SparkFilter = ForeignBloomFilter<Spark>;

/// The header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spark {
    version: SparkVersion,
    k: u32,
    words: u32,
}

impl Spark {
    fn bits(self) -> u64 {
        64 * u64::from(self.words)
    }
}

impl Places for Spark {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        Ok(key.widened().with_little_endian(|bytes| match self.version {
            SparkVersion::V1 => {
                let first = hash(bytes, 0);
                let second = hash(bytes, first);
                bloom::sums_of_32_bits((first, second), self.k, self.bits(), each)
            }
            SparkVersion::V2 { seed } => {
                let first = hash(bytes, seed);
                let second = hash(bytes, first);
                let mut sum = i64::from(first) * i64::from(i32::MAX);
                (0..self.k).all(|_| {
                    sum = sum.wrapping_add(second.into());
                    // Only the place is complemented. The sum stays negative.
                    let place = if sum < 0 { !sum } else { sum };
                    each(place as u64 % self.bits())
                })
            }
        }))
    }
}

impl SparkFilter {
    /// Makes an empty filter as `create` does from the number of keys and the rate.
    pub(super) fn new(version: SparkVersion, capacity: u64, rate: f64) -> Result<Self, Error> {
        check_rate(rate)?;
        // The conversion saturates.
        let bits = bits_for(capacity as f64, rate) as u64;
        if capacity > 0 && bits == 0 {
            return Err(Error::Size { parameter: "rate" });
        }
        Self::with_bits(version, capacity, bits)
    }

    /// Makes an empty filter as `create` does from the numbers of keys and bits. The number of bits
    /// is rounded up to whole words.
    pub(super) fn with_bits(
        version: SparkVersion,
        capacity: u64,
        bits: u64,
    ) -> Result<Self, Error> {
        if capacity == 0 || capacity > i64::MAX as u64 {
            return Err(Error::Size { parameter: "capacity" });
        }
        if bits == 0 || bits > 64 * MAX_WORDS as u64 {
            return Err(Error::Size { parameter: "number of bits" });
        }
        let k = round(bits as f64 / capacity as f64 * core::f64::consts::LN_2).max(1.0);
        let words = bits.div_ceil(64) as u32;
        if k > max_k(words) as f64 {
            return Err(Error::Size { parameter: "number of bits per key" });
        }
        let system = Spark { version, k: k as u32, words };
        Self::zeroed(system, system.bits() / 8)
    }
}

impl System for Spark {
    const BIG_ENDIAN_WORDS: bool = true;

    fn read<'b>(cursor: &mut Cursor<'b>) -> Result<(Self, &'b [u8]), Error> {
        let (version, k) = (cursor.i32_be()?, cursor.i32_be()?);
        let version = match version {
            1 => SparkVersion::V1,
            2 => SparkVersion::V2 { seed: cursor.i32_be()? },
            other => {
                return Err(Error::Field {
                    field: "the version",
                    found: other.into(),
                    min: 1,
                    max: 2,
                });
            }
        };
        let words = cursor.i32_be()?;
        in_range("the number of words", words.into(), 1, MAX_WORDS)?;
        in_range("the number of hash functions", k.into(), 1, max_k(words as u32))?;
        let system = Self { version, k: k as u32, words: words as u32 };
        Ok((system, cursor.take(system.bits() / 8)?))
    }

    fn header(&self) -> Vec<u8> {
        let Self { version, k, words } = *self;
        match version {
            SparkVersion::V1 => [1, k, words].map(u32::to_be_bytes).concat(),
            SparkVersion::V2 { seed } => [2, k, seed as u32, words].map(u32::to_be_bytes).concat(),
        }
    }

    fn format(&self) -> Format {
        match self.version {
            SparkVersion::V1 => Format::SparkV1,
            SparkVersion::V2 { .. } => Format::SparkV2,
        }
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let mut all = vec![("bits", self.bits()), ("hash functions", self.k.into())];
        if let SparkVersion::V2 { seed } = self.version {
            all.push(("seed", i64::from(seed) as u64));
        }
        all
    }

    fn rate(&self, bits: &BitArray) -> f64 {
        let reached = match self.version {
            SparkVersion::V1 => self.bits().min(bloom::PLACES_OF_SUMS),
            SparkVersion::V2 { .. } => self.bits(),
        };
        rates::of_progression(bits, reached, self.k.into())
    }
}

/// Returns the greatest `k`, which is an `i32`.
fn max_k(words: u32) -> i64 {
    max_probes(64 * u64::from(words)).min(i32::MAX.into())
}

/// Returns the hash of Spark (`Murmur3_x86_32.hashUnsafeBytes`): Murmur3 x86 32, but each byte
/// after the whole words becomes a word of its own, with the sign of the byte.
fn hash(bytes: &[u8], seed: i32) -> i32 {
    let (words, tail) = bytes.as_chunks::<4>();
    let words = words.iter().map(|&word| u32::from_le_bytes(word));
    let tail = tail.iter().map(|&byte| i32::from(byte as i8) as u32);
    let mixed = words.chain(tail).fold(seed as u32, |hash, word| {
        let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    let mut hash = mixed ^ bytes.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    (hash ^ (hash >> 16)) as i32
}
