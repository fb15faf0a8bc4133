//! LevelDB: what `NewBloomFilterPolicy(bits_per_key)->CreateFilter` makes.
//!
//! ```text
//! the bits, u8 k
//! ```
//!
//! Source: `util/bloom.cc`.

use std::io;

use super::bits::BitArray;
use super::bloom::{self, Places};
use super::error::Error;
use super::filter::Filter;
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
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Filter, Key, LevelDbFilter};
///
/// // 100 keys, 10 bits per key.
/// let mut filter = LevelDbFilter::new(100, 10)?;
/// filter.insert(Key::Text("a"))?;
/// assert_eq!(filter.encoded_len(), 126);
///
/// let filter = LevelDbFilter::from_bytes(&filter.to_bytes())?;
/// assert!(filter.contains(Key::Bytes(b"a"))?);
/// # Ok::<(), tamis::formats::foreign::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LevelDbFilter {
    rule: Rule,
    bits: BitArray,
    /// The last byte; a filter without bytes has none.
    k: Option<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    /// No key.
    Never,
    /// Every key.
    Always,
    Bits {
        bits: u64,
        k: u8,
    },
}

impl Places for Rule {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<(), Error> {
        let hash = hash(key.bytes()?, u32::from);
        if let Self::Bits { bits, k } = *self {
            let delta = hash.rotate_right(17);
            (0..u32::from(k))
                .map(|i| hash.wrapping_add(delta.wrapping_mul(i)))
                .all(|probe| each(u64::from(probe) % bits));
        }
        Ok(())
    }
}

impl Rule {
    /// Returns the rule, the bits and the last byte of a filter.
    fn of_bytes(bytes: &[u8]) -> (Self, &[u8], Option<u8>) {
        let (k, bits) = bytes.split_last().map_or((None, bytes), |(k, bits)| (Some(*k), bits));
        let rule = match k {
            Some(k) if !bits.is_empty() && k <= MAX_PROBES => {
                Self::Bits { bits: 8 * bits.len() as u64, k }
            }
            Some(_) if !bits.is_empty() => Self::Always,
            _ => Self::Never,
        };
        (rule, bits, k)
    }

    fn parameters(self) -> Vec<(&'static str, u64)> {
        match self {
            Self::Never | Self::Always => vec![("bits", 0), ("hash functions", 0)],
            Self::Bits { bits, k } => vec![("bits", bits), ("hash functions", k.into())],
        }
    }

    /// Returns the rate. `fill` returns the part of the bits that are set, whose number it gets.
    fn rate(self, fill: impl FnOnce(u64) -> f64) -> f64 {
        match self {
            Self::Never => 0.0,
            Self::Always => 1.0,
            Self::Bits { bits, k } => rates::of_progression_in(fill(bits), bits, k.into()),
        }
    }
}

impl LevelDbFilter {
    /// Makes an empty filter for this number of keys.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if one of the numbers is above 2^31 - 1, or [`Error::Alloc`].
    pub fn new(keys: u64, bits_per_key: u32) -> Result<Self, Error> {
        if keys > i32::MAX as u64 {
            return Err(Error::Size { parameter: "number of keys" });
        }
        if bits_per_key > i32::MAX as u32 {
            return Err(Error::Size { parameter: "number of bits per key" });
        }
        let k = probes(bits_per_key);
        let bytes = (keys * u64::from(bits_per_key)).max(64).div_ceil(8);
        let rule = Rule::Bits { bits: 8 * bytes, k };
        Ok(Self { rule, bits: BitArray::zeroed(bytes)?, k: Some(k) })
    }

    /// Reads a filter. All bytes are one.
    ///
    /// # Errors
    ///
    /// [`Error::Alloc`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Filter, Key, LevelDbFilter};
    /// assert!(!LevelDbFilter::from_bytes(&[])?.contains(Key::Text("a"))?);
    /// assert!(LevelDbFilter::from_bytes(&[0, 31])?.contains(Key::Text("a"))?);
    /// # Ok::<(), tamis::formats::foreign::Error>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (rule, bits, k) = Rule::of_bytes(bytes);
        Ok(Self { rule, bits: BitArray::of_bytes(bits)?, k })
    }
}

/// Returns whether these bytes, as a filter, contain a key.
pub(super) fn bytes_contain(bytes: &[u8], key: Key<'_>) -> Result<bool, Error> {
    let (rule, bits, _) = Rule::of_bytes(bytes);
    let mut all = true;
    rule.each(key, &mut |place| {
        all = bits[(place / 8) as usize] >> (place % 8) & 1 == 1;
        all
    })?;
    Ok(all && !matches!(rule, Rule::Never))
}

/// Returns the rate of these bytes, as a filter.
pub(super) fn rate_of_bytes(bytes: &[u8]) -> f64 {
    let (rule, bytes, _) = Rule::of_bytes(bytes);
    let ones = bytes.iter().map(|byte| u64::from(byte.count_ones()));
    rule.rate(|bits| ones.sum::<u64>() as f64 / bits as f64)
}

/// Returns `k` of LevelDB.
pub(super) fn probes(bits_per_key: u32) -> u8 {
    (f64::from(bits_per_key) * 0.69).clamp(1.0, MAX_PROBES.into()) as u8
}

impl Filter for LevelDbFilter {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        // Without places, every key is contained.
        let contained = bloom::contains(&self.rule, &self.bits, key)?;
        Ok(contained && !matches!(self.rule, Rule::Never))
    }

    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error> {
        let changed = bloom::insert(&self.rule, &mut self.bits, key)?;
        if matches!(self.rule, Rule::Never) { Err(Error::Full) } else { Ok(changed) }
    }

    fn format(&self) -> Format {
        Format::LevelDbFilter
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        self.rule.parameters()
    }

    fn false_positive_rate(&self) -> f64 {
        self.rule.rate(|bits| rates::fill(&self.bits, 0, bits))
    }

    fn encoded_len(&self) -> u64 {
        (self.bits.as_bytes().len() + usize::from(self.k.is_some())) as u64
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(self.bits.as_bytes())?;
        to.write_all(self.k.as_slice())
    }
}
