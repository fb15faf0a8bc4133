//! LevelDB: the filter block of a table.
//!
//! ```text
//! the filters, u32 offset of each, u32 offset of the first offset, u8 base (11): little-endian
//! ```
//!
//! Filter `i` has the keys of the data blocks that start in stretch `i` of 2^base bytes of the
//! file. Source: `table/filter_block.cc` and `doc/table_format.md`.

use std::io;

use super::bits::BitArray;
use super::cursor::{Cursor, in_range};
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::Key;
use super::leveldb::{bytes_contain, bytes_contain_hash, rate_of_bytes};
use super::rates;

/// The logarithm of the bytes of a stretch.
const BASE: u8 = 11;
/// The bytes after the offsets.
const FOOTER: u64 = 5;

/// The filter block of a table of LevelDB: a filter for each stretch of the file.
///
/// As a [`Filter`] it contains a key if any of its filters does. It is made with all its keys, so
/// that none can be inserted.
#[derive(Clone, Debug)]
pub(super) struct LevelDbFilterBlock {
    bytes: BitArray,
    /// Where the offsets start.
    offsets: usize,
    filters: usize,
    base: u8,
}

impl LevelDbFilterBlock {
    /// Reads a block.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
        let max = (bytes.len() as u64).saturating_sub(FOOTER);
        cursor.take(max)?;
        let (offsets, base) = (cursor.u32_le()?, cursor.u8()?);
        in_range("the offset of the offsets", offsets.into(), 0, max as i64)?;
        in_range("the base", base.into(), 0, 63)?;
        let length = max - u64::from(offsets);
        in_range("the bytes of the offsets modulo 4", (length % 4) as i64, 0, 0)?;
        let (offsets, filters) = (offsets as usize, length as usize / 4);
        Ok(Self { bytes: BitArray::of_bytes(bytes)?, offsets, filters, base })
    }

    /// Returns whether these bytes are a block as LevelDB writes it. A filter almost never
    /// looks like one.
    pub(super) fn is_block(bytes: &[u8]) -> bool {
        let Ok(block) = Self::from_bytes(bytes) else { return false };
        // 64 bits at least, and the number of hash functions.
        let is_whole = |filter: &[u8]| {
            filter.is_empty() || filter.len() > 8 && filter.last().is_some_and(|k| *k > 0)
        };
        // The bytes of the filters begin at 0, and there are some if there are offsets.
        block.base == BASE
            && block.offset(0) == 0
            && (block.offsets > 0 || block.filters == 0)
            && (0..block.filters).all(|index| block.filter(index).is_ok_and(is_whole))
    }

    /// Returns the block as a table has it.
    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.as_bytes()
    }

    /// Returns the bytes of a filter, or what it answers to every key if they are not there.
    fn filter(&self, index: usize) -> Result<&[u8], bool> {
        let (start, limit) = (self.offset(index), self.offset(index + 1));
        self.as_bytes()[..self.offsets].get(start..limit).ok_or(start != limit)
    }

    /// Returns an offset. The one after the last is that of the offsets.
    fn offset(&self, index: usize) -> usize {
        let bytes = &self.as_bytes()[self.offsets + 4 * index..];
        bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
    }
}

impl Filter for LevelDbFilterBlock {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        key.bytes()?;
        for index in 0..self.filters {
            if self.filter(index).map_or_else(Ok, |filter| bytes_contain(filter, key))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn insert(&mut self, _: Key<'_>) -> Result<bool, Error> {
        Err(Error::ReadOnly)
    }

    fn format(&self) -> Format {
        Format::LevelDbBlock
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let bits = 8 * self.offsets as u64;
        vec![("bits", bits), ("filters", self.filters as u64), ("stretch", 1 << self.base)]
    }

    /// Returns the rate, or 1 if filters overlap, which LevelDB does not write: each could be as
    /// large as the block.
    fn false_positive_rate(&self) -> f64 {
        let filters = || (0..self.filters).map(|index| self.filter(index));
        let bytes = |filter: Result<&[u8], _>| filter.map_or(0, <[u8]>::len);
        if filters().map(bytes).sum::<usize>() > self.offsets {
            return 1.0;
        }
        let rate = |filter: Result<&[u8], bool>| filter.map_or_else(f64::from, rate_of_bytes);
        let least = rates::of_any(filters().map(rate));
        rates::of_hashes(least, self.filters as u64, |hash| {
            let contains = |filter: Result<&[u8], bool>| {
                filter.map_or_else(|all| all, |bytes| bytes_contain_hash(bytes, hash))
            };
            filters().any(contains)
        })
    }

    fn encoded_len(&self) -> u64 {
        self.as_bytes().len() as u64
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(self.as_bytes())
    }
}
