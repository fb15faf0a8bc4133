//! LevelDB: what `NewBloomFilterPolicy(bits_per_key)->CreateFilter` makes.
//!
//! ```text
//! the bits, u8 k
//! ```
//!
//! Source: `util/bloom.cc`.

use super::bits::BitArray;
use super::bloom::{ForeignBloomFilter, Places, System};
use super::cursor::Cursor;
use super::error::Error;
use super::format::Format;
use super::key::Key;
use super::leveldb_hash::hash;
use super::rates;

/// The greatest `k`. A reader takes filters of a greater one as full: they are for encodings to
/// come.
const MAX_PROBES: u8 = 30;

/// A Bloom filter of LevelDB.
///
/// Keys are bytes; a string is its bytes. As in LevelDB, a filter of fewer than 2 bytes contains no
/// key, and one whose `k` is above 30 may contain every key; all other bytes are a filter.
pub(super) type LevelDbFilter = ForeignBloomFilter<LevelDb>;

/// What the last byte says. It is in the array, behind the bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LevelDb {
    /// No key.
    Never,
    /// Every key.
    Always,
    Bits {
        bits: u64,
        k: u8,
    },
}

impl Places for LevelDb {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        Ok(self.all(hash(key.bytes()?, u32::from), each))
    }
}

impl LevelDb {
    fn of_bytes(bytes: &[u8]) -> Self {
        match bytes.split_last() {
            Some((&k, bits)) if !bits.is_empty() && k <= MAX_PROBES => {
                Self::Bits { bits: 8 * bits.len() as u64, k }
            }
            Some((_, bits)) if !bits.is_empty() => Self::Always,
            _ => Self::Never,
        }
    }

    /// Calls `each` with the places of a hash, until it returns `false`.
    fn all(self, hash: u32, mut each: impl FnMut(u64) -> bool) -> bool {
        let Self::Bits { bits, k } = self else { return true };
        let delta = hash.rotate_right(17);
        let mut probes = (0..u32::from(k)).map(|i| hash.wrapping_add(delta.wrapping_mul(i)));
        probes.all(|probe| each(u64::from(probe) % bits))
    }

    /// Returns the rate if places were random. `fill` returns the part of the bits that are set,
    /// whose number it gets.
    fn rate_of(self, fill: impl FnOnce(u64) -> f64) -> f64 {
        match self {
            Self::Never => 0.0,
            Self::Always => 1.0,
            Self::Bits { bits, k } => rates::of_progression_in(fill(bits), bits, k.into()),
        }
    }
}

impl LevelDbFilter {
    /// Makes an empty filter for this number of keys.
    pub(super) fn new(keys: u64, bits_per_key: u32) -> Result<Self, Error> {
        if keys > i32::MAX as u64 {
            return Err(Error::Size { parameter: "number of keys" });
        }
        if bits_per_key > i32::MAX as u32 {
            return Err(Error::Size { parameter: "number of bits per key" });
        }
        let k = probes(bits_per_key);
        let bytes = (keys * u64::from(bits_per_key)).max(64).div_ceil(8);
        let mut filter = Self::zeroed(LevelDb::Bits { bits: 8 * bytes, k }, bytes + 1)?;
        filter.bits.set_last([k]);
        Ok(filter)
    }
}

/// Returns whether these bytes, as a filter, contain a key.
pub(super) fn bytes_contain(bytes: &[u8], key: Key<'_>) -> Result<bool, Error> {
    Ok(bytes_contain_hash(bytes, hash(key.bytes()?, u32::from)))
}

/// Returns whether these bytes, as a filter, contain a key of this hash.
pub(super) fn bytes_contain_hash(bytes: &[u8], hash: u32) -> bool {
    let filter = LevelDb::of_bytes(bytes);
    let is_set = |place| bytes[(place / 8) as usize] >> (place % 8) & 1 == 1;
    !filter.is_void() && filter.all(hash, is_set)
}

/// Returns the rate of these bytes, as a filter, if places were random.
pub(super) fn rate_of_bytes(bytes: &[u8]) -> f64 {
    LevelDb::of_bytes(bytes).rate_of(|bits| {
        let ones = bytes[..(bits / 8) as usize].iter().map(|byte| u64::from(byte.count_ones()));
        ones.sum::<u64>() as f64 / bits as f64
    })
}

/// Returns `k` of LevelDB.
pub(super) fn probes(bits_per_key: u32) -> u8 {
    (f64::from(bits_per_key) * 0.69).clamp(1.0, MAX_PROBES.into()) as u8
}

impl System for LevelDb {
    fn read<'b>(cursor: &mut Cursor<'b>) -> Result<(Self, &'b [u8]), Error> {
        let bytes = cursor.rest();
        Ok((Self::of_bytes(bytes), bytes))
    }

    fn header(&self) -> Vec<u8> {
        Vec::new()
    }

    fn format(&self) -> Format {
        Format::LevelDbFilter
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        match *self {
            Self::Never | Self::Always => vec![("bits", 0), ("hash functions", 0)],
            Self::Bits { bits, k } => vec![("bits", bits), ("hash functions", k.into())],
        }
    }

    fn rate(&self, bits: &BitArray) -> f64 {
        let least = self.rate_of(|count| rates::fill(bits, 0, count));
        rates::of_hashes(least, 1, |hash| self.all(hash, |place| bits.get(place)))
    }

    fn is_void(&self) -> bool {
        *self == Self::Never
    }

    fn unites_with(&self, _: &Self) -> bool {
        false
    }
}
