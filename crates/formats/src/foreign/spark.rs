//! Spark: what `org.apache.spark.util.sketch.BloomFilter.writeTo` writes.
//!
//! ```text
//! version 1: i32 1, i32 k, i32 words, words: all big-endian
//! version 2: i32 2, i32 k, i32 seed, i32 words, words
//! ```
//!
//! The hash is Murmur3 x86 32 with a tail of its own. Source: `BloomFilterImpl.java`,
//! `BloomFilterImplV2.java`, `BitArray.java` and `Murmur3_x86_32.java`.

use std::io;

use super::bits::BitArray;
use super::bloom::{self, Places, bits_for, check_rate, max_probes, round};
use super::cursor::{Cursor, in_range};
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::Key;
use super::rates;

/// The version of a filter of Spark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SparkVersion {
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
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Filter, Key, SparkFilter, SparkVersion};
///
/// let mut filter = SparkFilter::new(SparkVersion::V2 { seed: 0 }, 1000, 0.03)?;
/// filter.insert(Key::Text("a"))?;
/// assert!(filter.contains(Key::Text("a"))?);
/// assert_eq!(SparkFilter::from_bytes(&filter.to_bytes())?.version(), filter.version());
/// # Ok::<(), tamis::formats::foreign::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SparkFilter {
    rule: Rule,
    bits: BitArray,
}

/// The header.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rule {
    version: SparkVersion,
    k: u32,
    words: u32,
}

impl Rule {
    fn bits(self) -> u64 {
        64 * u64::from(self.words)
    }
}

impl Places for Rule {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<(), Error> {
        key.widened().with_little_endian(|bytes| match self.version {
            SparkVersion::V1 => {
                let first = hash(bytes, 0);
                let second = hash(bytes, first);
                bloom::sums_of_32_bits((first, second), self.k, self.bits(), each);
            }
            SparkVersion::V2 { seed } => {
                let first = hash(bytes, seed);
                let second = hash(bytes, first);
                let mut sum = i64::from(first) * i64::from(i32::MAX);
                for _ in 0..self.k {
                    sum = sum.wrapping_add(second.into());
                    // Only the place is complemented. The sum stays negative.
                    let place = if sum < 0 { !sum } else { sum };
                    if !each(place as u64 % self.bits()) {
                        break;
                    }
                }
            }
        });
        Ok(())
    }
}

impl SparkFilter {
    /// Makes an empty filter as `create` does from the number of keys and the rate.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if Spark makes no such filter, or [`Error::Alloc`].
    pub fn new(version: SparkVersion, capacity: u64, rate: f64) -> Result<Self, Error> {
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
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if Spark makes no such filter, or [`Error::Alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Filter, SparkFilter, SparkVersion};
    /// let filter = SparkFilter::with_bits(SparkVersion::V1, 500, 8000)?;
    /// assert_eq!(filter.encoded_len(), 12 + 1000);
    /// # Ok::<(), tamis::formats::foreign::Error>(())
    /// ```
    pub fn with_bits(version: SparkVersion, capacity: u64, bits: u64) -> Result<Self, Error> {
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
        let rule = Rule { version, k: k as u32, words };
        Ok(Self { rule, bits: BitArray::zeroed(rule.bits() / 8)? })
    }

    /// Reads a filter.
    ///
    /// # Errors
    ///
    /// [`Error`] if Spark does not write such bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
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
        let rule = Rule { version, k: k as u32, words: words as u32 };
        let bits = BitArray::of_big_endian_words(cursor.take(rule.bits() / 8)?)?;
        cursor.end()?;
        Ok(Self { rule, bits })
    }

    /// Returns the version, with the seed.
    #[must_use]
    pub const fn version(&self) -> SparkVersion {
        self.rule.version
    }

    /// Returns the places of a key in the array of bits, in the order in which Spark computes them.
    ///
    /// # Errors
    ///
    /// None: Spark has keys of all types.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Key, SparkFilter, SparkVersion};
    /// let filter = SparkFilter::with_bits(SparkVersion::V1, 500, 8000)?;
    /// assert_eq!(filter.places(Key::I64(-1))?.len(), 11);
    /// assert_eq!(filter.places(Key::I32(-1))?, filter.places(Key::I64(-1))?);
    /// # Ok::<(), tamis::formats::foreign::Error>(())
    /// ```
    pub fn places(&self, key: Key<'_>) -> Result<Vec<u64>, Error> {
        bloom::places(&self.rule, key)
    }
}

impl Filter for SparkFilter {
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
        match self.rule.version {
            SparkVersion::V1 => Format::SparkV1,
            SparkVersion::V2 { .. } => Format::SparkV2,
        }
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let mut all = vec![("bits", self.rule.bits()), ("hash functions", self.rule.k.into())];
        if let SparkVersion::V2 { seed } = self.rule.version {
            all.push(("seed", i64::from(seed) as u64));
        }
        all
    }

    fn false_positive_rate(&self) -> f64 {
        let reached = match self.rule.version {
            SparkVersion::V1 => self.rule.bits().min(bloom::PLACES_OF_SUMS),
            SparkVersion::V2 { .. } => self.rule.bits(),
        };
        rates::of_progression(&self.bits, reached, self.rule.k.into())
    }

    fn encoded_len(&self) -> u64 {
        let header = match self.rule.version {
            SparkVersion::V1 => 12,
            SparkVersion::V2 { .. } => 16,
        };
        header + self.rule.bits() / 8
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        let Rule { version, k, words } = self.rule;
        match version {
            SparkVersion::V1 => to.write_all([1, k, words].map(u32::to_be_bytes).as_flattened())?,
            SparkVersion::V2 { seed } => {
                to.write_all([2, k, seed as u32, words].map(u32::to_be_bytes).as_flattened())?;
            }
        }
        self.bits.write_big_endian_words(to)
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
