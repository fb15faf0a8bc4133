//! Hadoop: what `org.apache.hadoop.util.bloom.BloomFilter.write` writes.
//!
//! ```text
//! i32 -1, i32 k, i8 hash (0 Jenkins, 1 Murmur), i32 m: all big-endian; then bytes, or words in hadoop_counting.rs
//! ```
//!
//! Source: `Filter.java`, `BloomFilter.java` and `HashFunction.java`.

use super::bits::BitArray;
use super::bloom::{ForeignBloomFilter, Places, System, max_probes};
use super::cursor::{Cursor, in_range};
use super::error::Error;
use super::format::Format;
use super::hadoop_hash::{jenkins, murmur};
use super::key::Key;
use super::rates;

/// The hash of a filter of Hadoop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum HadoopHash {
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
pub(super) type HadoopFilter = ForeignBloomFilter<Hadoop>;

/// The header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hadoop {
    pub(super) m: u32,
    pub(super) k: u32,
    hash: HadoopHash,
}

impl Hadoop {
    pub(super) fn new(m: u64, k: u64, hash: HadoopHash) -> Result<Self, Error> {
        if m == 0 || m > MAX_BITS as u64 {
            return Err(Error::Size { parameter: "size" });
        }
        if k == 0 || k > max_k(m) as u64 {
            return Err(Error::Size { parameter: "number of hash functions" });
        }
        Ok(Self { m: m as u32, k: k as u32, hash })
    }

    pub(super) fn read_header(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
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

    pub(super) fn parameters_of(self, places: &'static str) -> Vec<(&'static str, u64)> {
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

impl Places for Hadoop {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
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
        Ok((0..self.k).all(|_| {
            last = hash(bytes, last);
            each((i64::from(last as i32) % i64::from(self.m)).unsigned_abs())
        }))
    }
}

impl HadoopFilter {
    /// Makes an empty filter as the constructor of `BloomFilter` does: of `m` bits and `k` hash
    /// functions.
    pub(super) fn new(m: u64, k: u64, hash: HadoopHash) -> Result<Self, Error> {
        let system = Hadoop::new(m, k, hash)?;
        Self::zeroed(system, system.bytes())
    }
}

impl System for Hadoop {
    fn read<'b>(cursor: &mut Cursor<'b>) -> Result<(Self, &'b [u8]), Error> {
        let system = Self::read_header(cursor)?;
        Ok((system, cursor.take(system.bytes())?))
    }

    fn header(&self) -> Vec<u8> {
        let mut header = [VERSION as u32, self.k].map(u32::to_be_bytes).concat();
        header.push(u8::from(self.hash == HadoopHash::Murmur));
        header.extend(self.m.to_be_bytes());
        header
    }

    fn format(&self) -> Format {
        Format::HadoopBloom
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        self.parameters_of("bits")
    }

    fn rate(&self, bits: &BitArray) -> f64 {
        rates::of_places(bits, self.m.into(), self.k.into())
    }
}
