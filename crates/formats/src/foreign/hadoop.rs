//! Hadoop: what `org.apache.hadoop.util.bloom.BloomFilter.write` writes.
//!
//! ```text
//! i32 -1, i32 k, i8 hash (0 Jenkins, 1 Murmur), i32 m: all big-endian; then bytes, or words in hadoop_counting.rs
//! ```
//!
//! Source: `Filter.java`, `BloomFilter.java` and `HashFunction.java`.

use std::io;

use super::bits::BitArray;
use super::bloom::{self, Places, max_probes};
use super::cursor::{Cursor, in_range};
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::hadoop_hash::{jenkins, murmur};
use super::key::Key;
use super::rates;

/// The hash of a filter of Hadoop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HadoopHash {
    /// `Hash.JENKINS_HASH`.
    Jenkins,
    /// `Hash.MURMUR_HASH`.
    Murmur,
}

/// The version. An older format has a positive number here and no type of hash; it is not read.
const VERSION: i32 = -1;
/// The most bits: Hadoop adds 7 to their number, which is an `i32`.
const MAX_BITS: i64 = i32::MAX as i64 - 7;

/// A `BloomFilter` of Hadoop.
///
/// Keys: bytes, as a `Key` has them, and strings, as their UTF-8 bytes. A key must not be empty.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Error, Filter, HadoopFilter, HadoopHash, Key};
///
/// // `new BloomFilter(10000, 5, Hash.MURMUR_HASH)`.
/// let mut filter = HadoopFilter::new(10_000, 5, HadoopHash::Murmur)?;
/// filter.insert(Key::Bytes(b"a"))?;
/// assert!(filter.contains(Key::Text("a"))?);
/// assert_eq!(filter.contains(Key::Text("")), Err(Error::EmptyKey));
/// assert_eq!(filter.encoded_len(), 13 + 1250);
/// # Ok::<(), tamis::formats::foreign::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HadoopFilter {
    rule: Rule,
    bits: BitArray,
}

/// The header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rule {
    pub(super) m: u32,
    pub(super) k: u32,
    hash: HadoopHash,
}

impl Rule {
    pub(super) const BYTES: u64 = 13;

    pub(super) fn new(m: u64, k: u64, hash: HadoopHash) -> Result<Self, Error> {
        if m == 0 || m > MAX_BITS as u64 {
            return Err(Error::Size { parameter: "size" });
        }
        if k == 0 || k > max_k(m) as u64 {
            return Err(Error::Size { parameter: "number of hash functions" });
        }
        Ok(Self { m: m as u32, k: k as u32, hash })
    }

    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        let (version, k) = (cursor.i32_be()?, cursor.i32_be()?);
        let (hash, m) = (cursor.u8()?, cursor.i32_be()?);
        in_range("the version", version.into(), VERSION.into(), VERSION.into())?;
        let hash = match hash {
            0 => HadoopHash::Jenkins,
            1 => HadoopHash::Murmur,
            other => {
                let field = "the type of the hash";
                return Err(Error::Field { field, found: i64::from(other as i8), min: 0, max: 1 });
            }
        };
        in_range("the size", m.into(), 1, MAX_BITS)?;
        in_range("the number of hash functions", k.into(), 1, max_k(m as u64))?;
        Ok(Self { m: m as u32, k: k as u32, hash })
    }

    pub(super) fn write(self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&VERSION.to_be_bytes())?;
        to.write_all(&self.k.to_be_bytes())?;
        to.write_all(&[u8::from(self.hash == HadoopHash::Murmur)])?;
        to.write_all(&self.m.to_be_bytes())
    }

    pub(super) fn parameters(self, places: &'static str) -> Vec<(&'static str, u64)> {
        vec![(places, self.m.into()), ("hash functions", self.k.into())]
    }

    fn bytes(self) -> u64 {
        u64::from(self.m.div_ceil(8))
    }
}

/// Returns the greatest `k`, which is an `i32`.
fn max_k(m: u64) -> i64 {
    max_probes(m).min(i32::MAX.into())
}

impl Places for Rule {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<(), Error> {
        let bytes = key.bytes()?;
        if bytes.is_empty() {
            return Err(Error::EmptyKey);
        }
        let hash = match self.hash {
            HadoopHash::Jenkins => jenkins,
            HadoopHash::Murmur => murmur,
        };
        // Each hash is the seed of the next one. The remainder has the sign of the hash. Its
        // absolute value is the place.
        let mut last = 0;
        for _ in 0..self.k {
            last = hash(bytes, last);
            if !each((i64::from(last as i32) % i64::from(self.m)).unsigned_abs()) {
                break;
            }
        }
        Ok(())
    }
}

impl HadoopFilter {
    /// Makes an empty filter as the constructor of `BloomFilter` does: of `m` bits and `k` hash
    /// functions.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if Hadoop makes no such filter, or if `k` is above both `m` and 65536; or
    /// [`Error::Alloc`].
    pub fn new(m: u64, k: u64, hash: HadoopHash) -> Result<Self, Error> {
        let rule = Rule::new(m, k, hash)?;
        Ok(Self { rule, bits: BitArray::zeroed(rule.bytes())? })
    }

    /// Reads a filter.
    ///
    /// # Errors
    ///
    /// [`Error`] if Hadoop does not write such bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Filter, HadoopFilter, HadoopHash};
    /// let bytes = HadoopFilter::new(100, 3, HadoopHash::Jenkins)?.to_bytes();
    /// assert_eq!(HadoopFilter::from_bytes(&bytes)?.to_bytes(), bytes);
    /// # Ok::<(), tamis::formats::foreign::Error>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
        let rule = Rule::read(&mut cursor)?;
        let bits = BitArray::of_bytes(cursor.take(rule.bytes())?)?;
        cursor.end()?;
        Ok(Self { rule, bits })
    }
}

impl Filter for HadoopFilter {
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
        Format::HadoopBloom
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        self.rule.parameters("bits")
    }

    fn false_positive_rate(&self) -> f64 {
        rates::of_places(&self.bits, self.rule.m.into(), self.rule.k.into())
    }

    fn encoded_len(&self) -> u64 {
        Rule::BYTES + self.rule.bytes()
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        self.rule.write(to)?;
        to.write_all(self.bits.as_bytes())
    }
}
