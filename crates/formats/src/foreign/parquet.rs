//! Parquet: the split-block Bloom filter of a column.
//!
//! ```text
//! the bitset: blocks of eight little-endian u32; in a file behind the header of parquet_header.rs
//! ```
//!
//! The hash is XXH64 with seed 0 of the plain encoding of a value. Source: `BloomFilter.md` of
//! `apache/parquet-format`.

use std::io;

use tamis_bloom::split_block::{self, SplitBlockFilter};
use twox_hash::XxHash64;

use super::bloom::like;
use super::cursor::in_range;
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::{Key, KeyType};
use super::parquet_header::{self, Parts};

/// The bytes of a block.
const BLOCK: u64 = 32;
/// The most bytes: their number is an `i32`.
const MAX_BYTES: i64 = i32::MAX as i64 / BLOCK as i64 * BLOCK as i64;

/// A Bloom filter of Parquet by itself, for a program that keeps hashes and chooses the number of
/// bytes: of all these filters, the only one with a type of its own.
/// [`tamis_bloom::split_block`] has the filter for engines, without keys.
///
/// Keys: an `i32` for a column of type `INT32`, an `i64` for `INT64`, bytes or strings for
/// `BYTE_ARRAY`, and the bytes of the plain encoding for all other types. The filter does not know
/// the type of its column, so it takes all keys.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Filter, Key, ParquetFilter};
///
/// let mut filter = ParquetFilter::new(1 << 20)?;
/// let hashes: Vec<u64> = (0..1000).map(|key| ParquetFilter::hash(Key::I64(key))).collect();
/// filter.insert_hashes(&hashes);
/// assert_eq!((filter.fold_to(0.01), filter.encoded_len()), (512, 2048));
/// assert!(filter.contains(Key::I64(7))?);
/// # Ok::<(), tamis::formats::foreign::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ParquetFilter {
    /// What is written in front of the bits: empty, or a header.
    header: Vec<u8>,
    filter: SplitBlockFilter,
}

/// Returns the hash of a key, if a column of keys of this type has it.
pub(super) fn hash(key: Key<'_>, key_type: KeyType) -> Result<u64, Error> {
    // A string is its bytes.
    let found = key.key_type();
    let as_bytes = if found == KeyType::Text { KeyType::Bytes } else { found };
    if key_type != as_bytes {
        return Err(Error::Key { found });
    }
    Ok(ParquetFilter::hash(key))
}

/// Checks the number of bytes of a bitset.
pub(super) fn check_bitset(bytes: &[u8]) -> Result<(), Error> {
    let length = bytes.len() as i64;
    in_range("the number of bytes", length, BLOCK as i64, MAX_BYTES)?;
    in_range("the number of bytes modulo 32", length % BLOCK as i64, 0, 0)
}

/// Returns the error of a filter whose size was checked.
pub(super) fn refused(error: split_block::Error) -> Error {
    match error {
        split_block::Error::Alloc { bytes } => Error::Alloc { bytes },
        _ => Error::Size { parameter: "number of bytes" },
    }
}

impl ParquetFilter {
    /// Makes an empty filter. Parquet leaves the number of bytes to the writer: any multiple of 32.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if Parquet has no such filter, or [`Error::Alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Error, Filter, ParquetFilter};
    /// assert_eq!(ParquetFilter::new(1024)?.encoded_len(), 1024);
    /// assert!(ParquetFilter::new(1000).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(bytes: u64) -> Result<Self, Error> {
        if bytes == 0 || bytes > MAX_BYTES as u64 || !bytes.is_multiple_of(BLOCK) {
            return Err(Error::Size { parameter: "number of bytes" });
        }
        let filter = SplitBlockFilter::with_bytes(bytes).map_err(refused)?;
        Ok(Self { header: Vec::new(), filter })
    }

    /// Reads a bitset.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        check_bitset(bytes)?;
        let filter = SplitBlockFilter::from_bytes(bytes).map_err(refused)?;
        Ok(Self { header: Vec::new(), filter })
    }

    /// Reads a filter as a Parquet file has it: a header and the bitset. The filter is written with
    /// its header.
    pub(super) fn from_bytes_with_header(bytes: &[u8]) -> Result<Self, Error> {
        let Parts { header, bitset, rest } = parquet_header::split(bytes)?;
        if !rest.is_empty() {
            let found = bytes.len() as u64;
            return Err(Error::Trailing { found, expected: found - rest.len() as u64 });
        }
        // A header of all fields has at most 19 bytes. Bytes that are a header and a bitset are no
        // bitset then.
        in_range("the length of the header", header.len() as i64, 1, BLOCK as i64 - 1)?;
        let mut filter = Self::from_bytes(bitset)?;
        filter.header = header.to_vec();
        Ok(filter)
    }

    /// Returns the hash of a key: XXH64 with seed 0 of its plain encoding.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Key, ParquetFilter};
    /// assert_eq!(ParquetFilter::hash(Key::Text("")), 0xEF46_DB37_51D8_E999);
    /// ```
    #[must_use]
    pub fn hash(key: Key<'_>) -> u64 {
        key.with_little_endian(|bytes| XxHash64::oneshot(0, bytes))
    }

    /// Inserts keys by their [hashes](Self::hash).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Error, Filter, Key, ParquetFilter};
    /// let mut filter = ParquetFilter::new(1024)?;
    /// filter.insert_hashes(&[1, 2].map(|key| ParquetFilter::hash(Key::I64(key))));
    /// assert!(filter.contains(Key::I64(2))?);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        self.filter.insert_hashes(hashes);
    }

    /// Returns a copy without a header, which takes all keys.
    pub(super) fn to_bitset(&self) -> Result<Self, Error> {
        Self::from_bytes(self.filter.as_bytes())
    }

    /// Returns a copy with a header, which takes all keys.
    pub(super) fn to_header(&self) -> Result<Self, Error> {
        let mut filter = self.to_bitset()?;
        filter.header = parquet_header::of_bitset(self.bytes());
        Ok(filter)
    }

    /// Returns the number of bytes of the bitset.
    fn bytes(&self) -> u64 {
        self.filter.as_bytes().len() as u64
    }
}

impl Filter for ParquetFilter {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        Ok(self.filter.contains_hash(Self::hash(key)))
    }

    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error> {
        Ok(self.filter.insert_hash(Self::hash(key)))
    }

    fn union_with(&mut self, other: &dyn Filter) -> Result<(), Error> {
        let other = like(other, |_: &Self| true)?;
        self.filter.union_with(&other.filter).map_err(|_| Error::Union)
    }

    fn fold_to(&mut self, rate: f64) -> u64 {
        let factor = self.filter.fold_to(rate);
        if factor > 1 && !self.header.is_empty() {
            self.header = parquet_header::of_bitset(self.bytes());
        }
        factor
    }

    fn format(&self) -> Format {
        if self.header.is_empty() { Format::ParquetBitset } else { Format::ParquetHeader }
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let bytes = self.bytes();
        vec![("bits", 8 * bytes), ("blocks", bytes / BLOCK), ("hash functions", 8)]
    }

    fn false_positive_rate(&self) -> f64 {
        self.filter.false_positive_rate()
    }

    fn encoded_len(&self) -> u64 {
        self.header.len() as u64 + self.bytes()
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&self.header)?;
        to.write_all(self.filter.as_bytes())
    }
}
