//! bits-and-blooms: what `(*BloomFilter).WriteTo` of the Go package
//! `github.com/bits-and-blooms/bloom` writes.
//!
//! ```text
//! u64 m, u64 k, u64 m, words: all big-endian
//! ```
//!
//! The hash is Murmur3 x64 128 with seed 0, of the key and of the key with a byte 1 after it.
//! Source: `bloom.go` and `murmur.go`, and `github.com/bits-and-blooms/bitset`.

use std::io;

use super::bits::BitArray;
use super::bloom::{self, Places, bits_for, check_rate, max_probes};
use super::cursor::{Cursor, MAX_UNSIGNED, unsigned_in_range};
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::Key;
use super::rates;

/// A `BloomFilter` of the Go package bits-and-blooms.
///
/// Keys: bytes, as `Add` takes them, and strings, as `AddString`.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{BitsAndBloomsFilter, Filter, Key};
///
/// let mut filter = BitsAndBloomsFilter::new(1000, 0.01)?;
/// filter.insert(Key::Bytes(b"a"))?;
/// assert!(filter.contains(Key::Text("a"))?);
/// assert_eq!(filter.encoded_len(), 24 + 1200);
/// # Ok::<(), tamis::formats::foreign::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BitsAndBloomsFilter {
    rule: Rule,
    bits: BitArray,
}

/// The header.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rule {
    /// The number of bits. It is not rounded up to whole words.
    m: u64,
    k: u64,
}

impl Rule {
    fn bytes(self) -> u64 {
        8 * self.m.div_ceil(64)
    }
}

impl Places for Rule {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<(), Error> {
        let bytes = key.bytes()?;
        let hash = fastmurmur3::murmur3_x64_128(bytes, 0);
        let hash_of_more = fastmurmur3::murmur3_x64_128(&[bytes, &[1]].concat(), 0);
        let of_key = [hash as u64, (hash >> 64) as u64];
        let of_more = [hash_of_more as u64, (hash_of_more >> 64) as u64];
        for i in 0..self.k {
            let odd = i % 2;
            let second = of_more[((i + odd) % 4 / 2) as usize];
            let sum = of_key[odd as usize].wrapping_add(i.wrapping_mul(second));
            if !each(sum % self.m) {
                break;
            }
        }
        Ok(())
    }
}

impl BitsAndBloomsFilter {
    /// Makes an empty filter as `NewWithEstimates` does.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if there is no such filter, or [`Error::Alloc`].
    pub fn new(capacity: u64, rate: f64) -> Result<Self, Error> {
        check_rate(rate)?;
        let keys = capacity as f64;
        let m = bits_for(keys, rate).ceil();
        if capacity == 0 || m >= u64::MAX as f64 {
            return Err(Error::Size { parameter: "capacity" });
        }
        Self::with_size(m as u64, (core::f64::consts::LN_2 * m / keys).ceil() as u64)
    }

    /// Makes an empty filter as `New(m, k)` does: of `m` bits and `k` hash functions, each at least
    /// 1.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if `k` is above both `m` and 65536, or [`Error::Alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{BitsAndBloomsFilter, Filter};
    /// assert_eq!(BitsAndBloomsFilter::with_size(100, 7)?.encoded_len(), 24 + 16);
    /// # Ok::<(), tamis::formats::foreign::Error>(())
    /// ```
    pub fn with_size(m: u64, k: u64) -> Result<Self, Error> {
        let rule = Rule { m: m.max(1), k: k.max(1) };
        if rule.k > max_probes(rule.m) as u64 {
            return Err(Error::Size { parameter: "number of hash functions" });
        }
        Ok(Self { rule, bits: BitArray::zeroed(rule.bytes())? })
    }

    /// Reads a filter.
    ///
    /// # Errors
    ///
    /// [`Error`] if the package does not write such bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{BitsAndBloomsFilter, Filter};
    /// let bytes = BitsAndBloomsFilter::new(10, 0.1)?.to_bytes();
    /// assert_eq!(BitsAndBloomsFilter::from_bytes(&bytes)?.to_bytes(), bytes);
    /// # Ok::<(), tamis::formats::foreign::Error>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
        let (m, k, len) = (cursor.u64_be()?, cursor.u64_be()?, cursor.u64_be()?);
        unsigned_in_range("the number of bits", m, 1, MAX_UNSIGNED)?;
        unsigned_in_range("the number of hash functions", k, 1, max_probes(m))?;
        unsigned_in_range("the length of the set of bits", len, m as i64, m as i64)?;
        let rule = Rule { m, k };
        let bits = BitArray::of_big_endian_words(cursor.take(rule.bytes())?)?;
        cursor.end()?;
        Ok(Self { rule, bits })
    }
}

impl Filter for BitsAndBloomsFilter {
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
        Format::BitsAndBlooms
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        vec![("bits", self.rule.m), ("hash functions", self.rule.k)]
    }

    fn false_positive_rate(&self) -> f64 {
        // Four numbers give the places, so that they hardly form a progression.
        rates::of_places(&self.bits, self.rule.m, self.rule.k)
    }

    fn encoded_len(&self) -> u64 {
        24 + self.rule.bytes()
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        let Rule { m, k } = self.rule;
        to.write_all([m, k, m].map(u64::to_be_bytes).as_flattened())?;
        self.bits.write_big_endian_words(to)
    }
}
