//! DataSketches: what `org.apache.datasketches.filters.bloomfilter.BloomFilter.toByteArray` writes.
//!
//! ```text
//! u8 preamble words (3 if empty, else 4), u8 1, u8 21, u8 flags (4 if empty, else 0), u16 k, u16 0, i64 seed,
//! i32 words, u32 0; if not empty: i64 number of set bits or -1, words: all little-endian
//! ```
//!
//! The hash is XXH64. Source: `BloomFilter.java`, `BloomFilterBuilder.java` and `BitArray.java`.

use std::io;

use super::bits::BitArray;
use super::bloom::{self, Places, bits_for, check_rate, round};
use super::cursor::{Cursor, in_range};
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::{Key, KeyType};
use super::rates;

/// The most words: an array of Java holds them and the preamble, and its length is an `i32`.
const MAX_WORDS: i64 = i32::MAX as i64 - 4;
/// The version of the format, the number of the family of sketches, and the flag of an empty
/// filter.
const VERSION: u8 = 1;
const FAMILY: u8 = 21;
const EMPTY: u8 = 4;

/// A `BloomFilter` of Apache DataSketches.
///
/// Keys: strings, integers (as `long`) and bytes. DataSketches ignores the empty string: it never
/// inserts it and never finds it. Empty bytes are a key like any other.
#[derive(Clone, Debug)]
pub(super) struct DataSketchesFilter {
    rule: Rule,
    /// `None` until the first insert: an empty filter is written without its bits.
    filled: Option<Filled>,
}

/// The header.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rule {
    k: u16,
    seed: i64,
    words: u32,
}

/// The part that an empty filter does not have.
#[derive(Clone, Debug)]
struct Filled {
    /// The number of set bits, as the header has it; -1 if the system did not count them.
    set: i64,
    bits: BitArray,
}

impl Rule {
    fn bits(self) -> u64 {
        64 * u64::from(self.words)
    }
}

impl Places for Rule {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        let (first, second) = key.widened().with_little_endian(|bytes| {
            let first = twox_hash::XxHash64::oneshot(self.seed as u64, bytes);
            (first, twox_hash::XxHash64::oneshot(first, bytes))
        });
        Ok((1..=u64::from(self.k)).all(|i| {
            let sum = first.wrapping_add(i.wrapping_mul(second));
            each((sum >> 1) % self.bits())
        }))
    }
}

impl DataSketchesFilter {
    /// Makes an empty filter as `createByAccuracy` does.
    pub(super) fn new(capacity: u64, rate: f64, seed: i64) -> Result<Self, Error> {
        check_rate(rate)?;
        if capacity == 0 || capacity > i64::MAX as u64 {
            return Err(Error::Size { parameter: "capacity" });
        }
        let keys = capacity as f64;
        // The conversions saturate.
        let bits = round(bits_for(keys, rate)) as u64;
        let k = (bits as f64 / keys * core::f64::consts::LN_2).ceil().max(1.0) as u64;
        Self::with_size(bits, k, seed)
    }

    /// Makes an empty filter as `createBySize` does: of `bits` bits, rounded up to whole words, and
    /// `k` hash functions.
    pub(super) fn with_size(bits: u64, k: u64, seed: i64) -> Result<Self, Error> {
        if bits == 0 || bits > 64 * MAX_WORDS as u64 {
            return Err(Error::Size { parameter: "number of bits" });
        }
        if k == 0 || k > i16::MAX as u64 {
            return Err(Error::Size { parameter: "number of hash functions" });
        }
        let rule = Rule { k: k as u16, seed, words: bits.div_ceil(64) as u32 };
        Ok(Self { rule, filled: None })
    }

    /// Reads a filter.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
        let [preamble, version, family, flags] = cursor.u32_le()?.to_le_bytes();
        let (k, unused, seed) = (cursor.u16_le()?, cursor.u16_le()?, cursor.i64_le()?);
        let (words, unused_too) = (cursor.i32_le()?, cursor.u32_le()?);
        let exactly = |field, found: i64, value: i64| in_range(field, found, value, value);
        exactly("the version", version.into(), VERSION.into())?;
        exactly("the family", family.into(), FAMILY.into())?;
        let empty = flags == EMPTY;
        exactly("the flags", flags.into(), if empty { EMPTY.into() } else { 0 })?;
        exactly("the length of the preamble", preamble.into(), if empty { 3 } else { 4 })?;
        exactly("an unused field", unused.into(), 0)?;
        exactly("an unused field", unused_too.into(), 0)?;
        in_range("the number of hash functions", k.into(), 1, i16::MAX.into())?;
        in_range("the number of words", words.into(), 1, MAX_WORDS)?;
        let rule = Rule { k, seed, words: words as u32 };
        let filled = if empty {
            None
        } else {
            let set = cursor.i64_le()?;
            in_range("the number of set bits", set, -1, rule.bits() as i64)?;
            // If no bit is set, the system writes an empty filter.
            if set == 0 {
                in_range("the number of set bits", set, 1, rule.bits() as i64)?;
            }
            let bits = BitArray::of_bytes(cursor.take(rule.bits() / 8)?)?;
            if set > 0 {
                exactly("the number of set bits", set, bits.ones(0..rule.bits()) as i64)?;
            }
            Some(Filled { set, bits })
        };
        cursor.end()?;
        Ok(Self { rule, filled })
    }
}

impl Filter for DataSketchesFilter {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        match &self.filled {
            Some(filled) if !ignored(key) => bloom::contains(&self.rule, &filled.bits, key),
            _ => Ok(false),
        }
    }

    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error> {
        if ignored(key) {
            return Ok(false);
        }
        let filled = match &mut self.filled {
            Some(filled) => filled,
            none => none.insert(Filled { set: 0, bits: BitArray::zeroed(self.rule.bits() / 8)? }),
        };
        let mut new = 0;
        self.rule.each(key, &mut |place| {
            new += i64::from(filled.bits.set(place));
            true
        })?;
        if filled.set >= 0 {
            filled.set += new;
        }
        Ok(new > 0)
    }

    fn union_with(&mut self, other: &dyn Filter) -> Result<(), Error> {
        let other = bloom::like(other, |other: &Self| other.rule == self.rule)?;
        let Some(Filled { bits: others, .. }) = &other.filled else { return Ok(()) };
        let filled = match &mut self.filled {
            Some(filled) => filled,
            none => none.insert(Filled { set: 0, bits: BitArray::zeroed(self.rule.bits() / 8)? }),
        };
        filled.bits.unite(others);
        // The system counts the set bits again. It writes a filter without one as an empty filter.
        filled.set = filled.bits.ones(0..self.rule.bits()) as i64;
        if filled.set == 0 {
            self.filled = None;
        }
        Ok(())
    }

    fn takes_empty(&self, key_type: KeyType) -> bool {
        key_type == KeyType::Bytes
    }

    fn format(&self) -> Format {
        Format::DataSketches
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let Rule { k, seed, .. } = self.rule;
        vec![("bits", self.rule.bits()), ("hash functions", k.into()), ("seed", seed as u64)]
    }

    fn false_positive_rate(&self) -> f64 {
        let (bits, k) = (self.rule.bits(), self.rule.k.into());
        self.filled.as_ref().map_or(0.0, |filled| rates::of_progression(&filled.bits, bits, k))
    }

    fn encoded_len(&self) -> u64 {
        if self.filled.is_some() { 32 + self.rule.bits() / 8 } else { 24 }
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        let Rule { k, seed, words } = self.rule;
        let (preamble, flags) = if self.filled.is_some() { (4, 0) } else { (3, EMPTY) };
        to.write_all(&[preamble, VERSION, FAMILY, flags])?;
        to.write_all(&u32::from(k).to_le_bytes())?;
        to.write_all(&seed.to_le_bytes())?;
        to.write_all(&u64::from(words).to_le_bytes())?;
        if let Some(filled) = &self.filled {
            to.write_all(&filled.set.to_le_bytes())?;
            to.write_all(filled.bits.as_bytes())?;
        }
        Ok(())
    }
}

/// Returns whether the system ignores a key.
fn ignored(key: Key<'_>) -> bool {
    key == Key::Text("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_string_is_ignored_and_empty_bytes_are_not() {
        let mut filter = DataSketchesFilter::new(10, 0.1, 1).unwrap();
        assert_eq!(filter.insert(Key::Text("")), Ok(false));
        assert_eq!(filter.encoded_len(), 24);
        assert_eq!(filter.insert(Key::Bytes(b"")), Ok(true));
        // The bits of the empty bytes are set, but the system does not look up the empty string.
        assert_eq!(filter.contains(Key::Bytes(b"")), Ok(true));
        assert_eq!(filter.contains(Key::Text("")), Ok(false));
        assert!(filter.filled.unwrap().set > 0);
    }

    /// `update` of the system, other than `queryAndUpdate`, writes -1 for the number of set bits.
    #[test]
    fn an_insert_after_an_update_does_not_count() {
        let mut filter = DataSketchesFilter::new(10, 0.1, 1).unwrap();
        filter.insert(Key::I64(1)).unwrap();
        assert_eq!(filter.filled.as_ref().unwrap().set, 4);
        let mut bytes = filter.to_bytes();
        bytes[24..32].fill(0xff);
        let mut filter = DataSketchesFilter::from_bytes(&bytes).unwrap();
        assert_eq!(filter.insert(Key::I64(0)), Ok(true));
        assert_eq!(filter.filled.as_ref().unwrap().set, -1);
    }
}
