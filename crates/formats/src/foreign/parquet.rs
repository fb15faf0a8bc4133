//! Parquet: the split-block Bloom filter of a column.
//!
//! ```text
//! the bitset: blocks of eight little-endian u32; in a file behind the header of parquet_header.rs
//! ```
//!
//! The hash is XXH64 with seed 0 of the plain encoding of a value. Source: `BloomFilter.md` of
//! `apache/parquet-format`.

use std::io;

use twox_hash::XxHash64;

use super::bits::BitArray;
use super::bloom::{self, Places};
use super::cursor::in_range;
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::{Key, KeyType};
use super::parquet_header::{self, Parts};
use super::rates;

/// The bytes of a block.
const BLOCK: u64 = 32;
/// The most bytes: their number is an `i32`.
const MAX_BYTES: i64 = i32::MAX as i64 / BLOCK as i64 * BLOCK as i64;

const SALTS: [u32; 8] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// The Bloom filter of a column of a Parquet file.
///
/// Keys: an `i32` for a column of type `INT32`, an `i64` for `INT64`, bytes or strings for
/// `BYTE_ARRAY`, and the bytes of the plain encoding for all other types. A filter from a file
/// knows the type and refuses other keys; a filter that is a bitset takes all keys.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Filter, Key, ParquetFilter};
///
/// let mut filter = ParquetFilter::new(1024)?;
/// filter.insert(Key::I64(-7))?;
/// assert!(filter.contains(Key::I64(-7))?);
/// assert_eq!(filter.encoded_len(), 1024);
/// assert_eq!(filter.to_bytes_with_header().len(), 1024 + 16);
/// # Ok::<(), tamis::formats::foreign::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ParquetFilter {
    /// What [`write`](Filter::write) writes in front of the bits: empty, or a header.
    header: Vec<u8>,
    rule: Rule,
    bits: BitArray,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Rule {
    blocks: u64,
    key_type: Option<KeyType>,
}

impl Places for Rule {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<(), Error> {
        // A string is its bytes.
        let found = key.key_type();
        let as_bytes = if found == KeyType::Text { KeyType::Bytes } else { found };
        if self.key_type.is_some_and(|expected| expected != as_bytes) {
            return Err(Error::Key { found });
        }
        let hash = key.with_little_endian(|bytes| XxHash64::oneshot(0, bytes));
        let block = ((hash >> 32) * self.blocks) >> 32;
        for (word, salt) in (0..).zip(SALTS) {
            let bit = (hash as u32).wrapping_mul(salt) >> 27;
            if !each(256 * block + 32 * word + u64::from(bit)) {
                break;
            }
        }
        Ok(())
    }
}

impl ParquetFilter {
    /// Makes an empty filter. Parquet leaves the number of bytes to the writer: any multiple of 32.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if Parquet has no such filter, or [`Error::Alloc`].
    pub fn new(bytes: u64) -> Result<Self, Error> {
        if bytes == 0 || bytes > MAX_BYTES as u64 || !bytes.is_multiple_of(BLOCK) {
            return Err(Error::Size { parameter: "number of bytes" });
        }
        let rule = Rule { blocks: bytes / BLOCK, key_type: None };
        Ok(Self { header: Vec::new(), rule, bits: BitArray::zeroed(bytes)? })
    }

    /// Reads a bitset.
    ///
    /// # Errors
    ///
    /// [`Error::Field`] if the length is not a multiple of 32, or [`Error::Alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Filter, Key, ParquetFilter};
    /// let filter = ParquetFilter::from_bytes(&[255; 32])?;
    /// assert!(filter.contains(Key::Text("a"))?);
    /// # Ok::<(), tamis::formats::foreign::Error>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::of_column(bytes, None)
    }

    /// Reads the bitset of a column whose keys have this type.
    pub(super) fn of_column(bytes: &[u8], key_type: Option<KeyType>) -> Result<Self, Error> {
        let length = bytes.len() as i64;
        in_range("the number of bytes", length, BLOCK as i64, MAX_BYTES)?;
        in_range("the number of bytes modulo 32", length % BLOCK as i64, 0, 0)?;
        let rule = Rule { blocks: bytes.len() as u64 / BLOCK, key_type };
        Ok(Self { header: Vec::new(), rule, bits: BitArray::of_bytes(bytes)? })
    }

    /// Reads a filter as a Parquet file has it: a header and the bitset. The filter is written with
    /// its header.
    ///
    /// # Errors
    ///
    /// [`Error`] if the bytes are not one Bloom filter of a sort that Parquet has so far, or
    /// [`Error::Alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Filter, ParquetFilter};
    /// let bytes = ParquetFilter::new(64)?.to_bytes_with_header();
    /// let filter = ParquetFilter::from_bytes_with_header(&bytes)?;
    /// assert_eq!((filter.encoded_len(), filter.to_bytes()), (64 + 16, bytes));
    /// # Ok::<(), tamis::formats::foreign::Error>(())
    /// ```
    pub fn from_bytes_with_header(bytes: &[u8]) -> Result<Self, Error> {
        let Parts { header, bitset, rest } = parquet_header::split(bytes)?;
        if !rest.is_empty() {
            let found = bytes.len() as u64;
            return Err(Error::Trailing { found, expected: found - rest.len() as u64 });
        }
        // A header of all fields has at most 19 bytes. Bytes that are a header and a bitset are no
        // bitset then.
        in_range("the length of the header", header.len() as i64, 1, BLOCK as i64 - 1)?;
        Ok(Self { header: header.to_vec(), ..Self::from_bytes(bitset)? })
    }

    /// Returns a copy without a header, which takes all keys.
    pub(super) fn to_bitset(&self) -> Result<Self, Error> {
        Self::from_bytes(self.bits.as_bytes())
    }

    /// Returns a copy with a header, which takes all keys.
    pub(super) fn to_header(&self) -> Result<Self, Error> {
        let header = parquet_header::of_bitset(self.rule.blocks * BLOCK);
        Ok(Self { header, ..self.to_bitset()? })
    }

    /// Adds all keys of another filter, if it has the same size. Returns whether it has.
    pub(super) fn unite(&mut self, other: &Self) -> bool {
        let same = self.rule.blocks == other.rule.blocks;
        if same {
            self.bits.unite(&other.bits);
        }
        same
    }

    /// Returns the filter as a Parquet file has it, from its `bloom_filter_offset` on: a header and
    /// the bitset.
    #[must_use]
    pub fn to_bytes_with_header(&self) -> Vec<u8> {
        let mut bytes = parquet_header::of_bitset(self.rule.blocks * BLOCK);
        bytes.extend(self.bits.as_bytes());
        bytes
    }
}

impl Filter for ParquetFilter {
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
        if self.header.is_empty() { Format::ParquetBitset } else { Format::ParquetHeader }
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let blocks = self.rule.blocks;
        vec![("bits", 8 * BLOCK * blocks), ("blocks", blocks), ("hash functions", 8)]
    }

    fn false_positive_rate(&self) -> f64 {
        // One bit in each of the eight words of a block.
        rates::of_blocks(self.rule.blocks, 8 * BLOCK, |start| {
            (0..8).map(|word| rates::fill(&self.bits, start + 32 * word, 32)).product()
        })
    }

    fn encoded_len(&self) -> u64 {
        self.header.len() as u64 + self.rule.blocks * BLOCK
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&self.header)?;
        to.write_all(self.bits.as_bytes())
    }
}
