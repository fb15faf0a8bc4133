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
use super::leveldb::{LevelDbFilter, bytes_contain, bytes_contain_hash, rate_of_bytes};
use super::rates;

/// The logarithm of the bytes of a stretch.
const BASE: u8 = 11;
/// The bytes after the offsets.
const FOOTER: u64 = 5;

/// The filter block of a table of LevelDB: a filter for each stretch of the file.
///
/// As a [`Filter`] it contains a key if any of its filters does. It is made with all its keys, so
/// that none can be inserted.
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Key, LevelDbFilterBlock};
///
/// // The keys of a table, each with the offset of its data block.
/// let keys = [(0, Key::Text("a")), (4096, Key::Text("b"))];
/// let block = LevelDbFilterBlock::new(10, keys)?;
/// assert!(block.contains(0, Key::Text("a"))?);
/// assert!(!block.contains(0, Key::Text("b"))?);
/// // No data block is in the second stretch.
/// assert!(!block.contains(2048, Key::Text("b"))?);
/// assert!(block.contains(4096, Key::Text("b"))?);
///
/// let again = LevelDbFilterBlock::from_bytes(block.as_bytes())?;
/// assert_eq!(again.filters(), 3);
/// # Ok::<(), tamis::formats::foreign::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LevelDbFilterBlock {
    bytes: BitArray,
    /// Where the offsets start.
    offsets: usize,
    filters: usize,
    base: u8,
}

impl LevelDbFilterBlock {
    /// Makes a block from the keys of a table, each with the offset of its data block. The offsets
    /// ascend.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if an offset is less than the one before, or if LevelDB makes no such block;
    /// [`Error::Key`] if a key is an integer; [`Error::Alloc`].
    pub fn new<'k, I: IntoIterator<Item = (u64, Key<'k>)>>(
        bits_per_key: u32,
        keys: I,
    ) -> Result<Self, Error> {
        let (mut bytes, mut offsets) = (Vec::new(), Vec::<u32>::new());
        let mut of_stretch = Vec::new();
        for (offset, key) in keys {
            let stretch = offset >> BASE;
            if stretch < offsets.len() as u64 || stretch > u32::MAX.into() {
                return Err(Error::Size { parameter: "offset of a block" });
            }
            // Stretches without a key have empty filters.
            let more = stretch - offsets.len() as u64;
            reserve(&mut offsets, more)?;
            while stretch > offsets.len() as u64 {
                add_filter(bits_per_key, &mut of_stretch, &mut bytes, &mut offsets)?;
            }
            of_stretch.push(key);
        }
        if !of_stretch.is_empty() {
            add_filter(bits_per_key, &mut of_stretch, &mut bytes, &mut offsets)?;
        }
        let start = offset_of(&bytes)?;
        reserve(&mut bytes, 4 * offsets.len() as u64 + FOOTER)?;
        bytes.extend(offsets.iter().chain([&start]).flat_map(|offset| offset.to_le_bytes()));
        bytes.push(BASE);
        Self::from_bytes(&bytes)
    }

    /// Reads a block.
    ///
    /// # Errors
    ///
    /// [`Error`] if the offsets are not in the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
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

    /// Returns whether a data block may contain a key. `offset` is where the data block starts in
    /// the file. As in LevelDB, an offset after the last filter, and a filter that is not in the
    /// bytes, may contain every key.
    ///
    /// # Errors
    ///
    /// [`Error::Key`] if the key is an integer, or [`Error::Alloc`].
    pub fn contains(&self, offset: u64, key: Key<'_>) -> Result<bool, Error> {
        key.bytes()?;
        let index = usize::try_from(offset >> self.base).unwrap_or(usize::MAX);
        if index >= self.filters {
            return Ok(true);
        }
        match self.filter(index) {
            Ok(filter) => bytes_contain(filter, key),
            Err(contains) => Ok(contains),
        }
    }

    /// Returns the number of filters.
    #[must_use]
    pub const fn filters(&self) -> usize {
        self.filters
    }

    /// Returns the block as a table has it.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
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

/// Returns the offset of what follows these bytes.
fn offset_of(bytes: &[u8]) -> Result<u32, Error> {
    u32::try_from(bytes.len()).map_err(|_| Error::Size { parameter: "number of keys" })
}

/// Reserves the memory for more elements. The offset of a block decides how many there are.
fn reserve<T>(list: &mut Vec<T>, more: u64) -> Result<(), Error> {
    let bytes = more.saturating_mul(size_of::<T>() as u64);
    let more = usize::try_from(more).map_err(|_| Error::Alloc { bytes })?;
    list.try_reserve(more).map_err(|_| Error::Alloc { bytes })
}

/// Adds the filter of a stretch.
fn add_filter(
    bits_per_key: u32,
    keys: &mut Vec<Key<'_>>,
    bytes: &mut Vec<u8>,
    offsets: &mut Vec<u32>,
) -> Result<(), Error> {
    offsets.push(offset_of(bytes)?);
    if !keys.is_empty() {
        let mut filter = LevelDbFilter::new(keys.len() as u64, bits_per_key)?;
        for key in keys.drain(..) {
            filter.insert(key)?;
        }
        bytes.extend(filter.to_bytes());
    }
    Ok(())
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
