//! RocksDB: the full filter block of a table, of format 5 and of format 4.
//!
//! ```text
//! format 5: blocks of 64 bytes, i8 -1, u8 0, u8 k and log2(block bytes) - 6 in the top 3 bits, u16 0
//! format 4: lines of 64 bytes, i8 k, u32 little-endian number of lines
//! ```
//!
//! The hash of format 5 is XXPH3, that of format 4 is like LevelDB's. Source:
//! `table/block_based/filter_policy.cc` and `util/bloom_impl.h`.

use super::bits::BitArray;
use super::bloom::{ForeignBloomFilter, Places, System};
use super::cursor::{Cursor, in_range};
use super::error::Error;
use super::format::Format;
use super::key::Key;
use super::leveldb::probes;
use super::leveldb_hash::hash;
use super::rates;
use super::xxph3::xxph3;

/// The bytes after the bits.
const TRAILER: usize = 5;
/// The bytes of a block, and of a line.
const BLOCK: u64 = 64;
/// The most bytes of bits: their number, with the trailer, is a `u32`.
const MAX_BYTES: u64 = 0xffff_ffc0 - BLOCK;

/// `k` up to each number of thousandths of a bit per key, from `k` = 1 on.
const MILLIBITS: [u32; 12] =
    [2080, 3580, 5100, 6640, 8300, 10_070, 11_720, 14_001, 16_050, 18_300, 22_001, 25_501];

/// The Bloom filter of a table of RocksDB.
///
/// Keys are bytes; a string is its bytes. As in RocksDB, a filter of at most 5 bytes contains no
/// key, and one whose trailer is unknown may contain every key. Ribbon filters are refused.
pub(super) type RocksDbFilter = ForeignBloomFilter<RocksDb>;

/// What the trailer says. It is in the array, behind the bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RocksDb {
    format: Format,
    rule: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    /// No key.
    Never,
    /// Every key.
    Always,
    /// Format 5.
    Blocks { blocks: u64, k: u8 },
    /// Format 4.
    Lines { lines: u64, bits_per_line: u64, k: u8 },
}

impl Places for RocksDb {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        let bytes = key.bytes()?;
        Ok(match self.rule {
            Rule::Never | Rule::Always => true,
            Rule::Blocks { blocks, k } => {
                let hash = xxph3(bytes);
                let block = ((hash & 0xffff_ffff) * blocks) >> 32;
                let mut probe = (hash >> 32) as u32;
                (0..k).all(|_| {
                    let place = 8 * BLOCK * block + u64::from(probe >> 23);
                    probe = probe.wrapping_mul(0x9e37_79b9);
                    each(place)
                })
            }
            Rule::Lines { lines, bits_per_line, k } => {
                // The bytes of the tail are signed there.
                let hash = hash(bytes, |byte| byte as i8 as u32);
                all_in_line(hash, lines, bits_per_line, k, each)
            }
        })
    }
}

/// Calls `each` with the places of a hash in format 4, until it returns `false`.
fn all_in_line(
    hash: u32,
    lines: u64,
    bits_per_line: u64,
    k: u8,
    mut each: impl FnMut(u64) -> bool,
) -> bool {
    let (line, delta) = (u64::from(hash) % lines, hash.rotate_right(17));
    (0..u32::from(k)).all(|i| {
        let probe = hash.wrapping_add(i.wrapping_mul(delta));
        each(bits_per_line * line + u64::from(probe) % bits_per_line)
    })
}

impl Rule {
    /// Finds the rule as the reader of RocksDB does.
    fn of_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let Some((bits, trailer)) =
            bytes.split_last_chunk::<TRAILER>().filter(|(bits, _)| !bits.is_empty())
        else {
            return Ok(Self::Never);
        };
        let marker = i64::from(trailer[0] as i8);
        if marker == -2 {
            in_range("the marker", marker, -1, 127)?;
        }
        Ok(match (marker, trailer) {
            // 0 in the high bits of the third byte: blocks of 64 bytes.
            (-1, &[_, 0, k @ 1..=30, 0, 0]) if bits.len() as u64 >= BLOCK => {
                Self::Blocks { blocks: bits.len() as u64 / BLOCK, k }
            }
            (1.., &[k, lines @ ..]) => {
                let (length, lines) = (bits.len() as u64, u64::from(u32::from_le_bytes(lines)));
                // A machine may have other lines, of a power of two.
                match length.checked_div(lines) {
                    Some(line) if line * lines == length && line.is_power_of_two() => {
                        Self::Lines { lines, bits_per_line: 8 * line, k }
                    }
                    _ => Self::Always,
                }
            }
            _ => Self::Always,
        })
    }
}

impl RocksDbFilter {
    /// Makes an empty filter of format 5 for this number of different keys. As in RocksDB, less
    /// than 1 bit per key is 1, and more than 100 are 100. The filter for no key is empty and takes
    /// none.
    pub(super) fn new(keys: u64, bits_per_key: f64) -> Result<Self, Error> {
        let millibits = millibits(bits_per_key)?;
        let bytes = keys.checked_mul(millibits.into()).map(|bits| bits.div_ceil(8000));
        let bytes = bytes.and_then(|bytes| bytes.checked_next_multiple_of(BLOCK));
        if bytes == Some(0) {
            return Self::from_bytes(&[]);
        }
        Self::with_trailer(bytes, [0xff, 0, probes_of_blocks(millibits), 0, 0])
    }

    /// Makes an empty filter of format 4 for this number of different keys: lines of 64 bytes, an
    /// odd number of them. RocksDB rounds the bits per key. The filter for no key takes none.
    pub(super) fn new_as_format_4(keys: u64, bits_per_key: f64) -> Result<Self, Error> {
        let bits_per_key = (millibits(bits_per_key)? + 500) / 1000;
        let lines = keys.checked_mul(bits_per_key.into()).map(|bits| bits.div_ceil(8 * BLOCK));
        let lines = lines.map(|lines| if lines == 0 { 0 } else { lines | 1 });
        let bytes = lines.and_then(|lines| lines.checked_mul(BLOCK));
        let [a, b, c, d] = (lines.unwrap_or(0) as u32).to_le_bytes();
        Self::with_trailer(bytes, [probes(bits_per_key), a, b, c, d])
    }

    fn with_trailer(bytes: Option<u64>, trailer: [u8; TRAILER]) -> Result<Self, Error> {
        let bytes = bytes.filter(|&bytes| bytes <= MAX_BYTES);
        let length = bytes.ok_or(Error::Size { parameter: "number of keys" })?;
        let mut bits = BitArray::zeroed(length + TRAILER as u64)?;
        bits.set_last(trailer);
        Ok(Self { system: RocksDb::of_bytes(bits.as_bytes())?, bits })
    }
}

/// Returns the thousandths of a bit per key.
fn millibits(bits_per_key: f64) -> Result<u32, Error> {
    // In this form the condition rejects NaN too. RocksDB makes no filter of less than half a bit
    // per key.
    if bits_per_key >= 0.5 {
        Ok((bits_per_key.clamp(1.0, 100.0) * 1000.0 + 0.500_001) as u32)
    } else {
        Err(Error::Size { parameter: "number of bits per key" })
    }
}

/// Returns `k` of format 5.
pub(super) fn probes_of_blocks(millibits: u32) -> u8 {
    let listed = (1..).zip(MILLIBITS).find(|&(_, most)| millibits <= most).map(|(k, _)| k);
    let computed = || if millibits > 50_000 { 24 } else { ((millibits - 1) / 2000 - 1) as u8 };
    listed.unwrap_or_else(computed)
}

impl RocksDb {
    fn of_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let format = match bytes.last_chunk::<TRAILER>() {
            Some(&[k, ..]) if (k as i8) > 0 => Format::RocksDbLegacy,
            _ => Format::RocksDbFormat5,
        };
        Ok(Self { format, rule: Rule::of_bytes(bytes)? })
    }
}

impl System for RocksDb {
    fn read<'b>(cursor: &mut Cursor<'b>) -> Result<(Self, &'b [u8]), Error> {
        let bytes = cursor.rest();
        Ok((Self::of_bytes(bytes)?, bytes))
    }

    fn header(&self) -> Vec<u8> {
        Vec::new()
    }

    fn format(&self) -> Format {
        self.format
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let (blocks, bits_per_block, k) = match self.rule {
            Rule::Never | Rule::Always => (0, 0, 0),
            Rule::Blocks { blocks, k } => (blocks, 8 * BLOCK, k),
            Rule::Lines { lines, bits_per_line, k } => (lines, bits_per_line, k),
        };
        vec![("bits", blocks * bits_per_block), ("blocks", blocks), ("hash functions", k.into())]
    }

    fn rate(&self, bits: &BitArray) -> f64 {
        match self.rule {
            Rule::Never => 0.0,
            Rule::Always => 1.0,
            Rule::Blocks { blocks, k } => rates::of_blocks(blocks, 8 * BLOCK, |start| {
                rates::power(rates::fill(bits, start, 8 * BLOCK), k.into())
            }),
            Rule::Lines { lines, bits_per_line, k } => {
                let least = rates::of_blocks(lines, bits_per_line, |start| {
                    let fill = rates::fill(bits, start, bits_per_line);
                    rates::of_progression_in(fill, bits_per_line, k.into())
                });
                rates::of_hashes(least, 1, |hash| {
                    all_in_line(hash, lines, bits_per_line, k, |place| bits.get(place))
                })
            }
        }
    }

    fn is_void(&self) -> bool {
        self.rule == Rule::Never
    }

    fn unites_with(&self, _: &Self) -> bool {
        false
    }
}
