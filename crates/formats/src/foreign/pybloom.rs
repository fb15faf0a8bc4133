//! pybloom_live: what `BloomFilter.tofile` of the Python package writes.
//!
//! ```text
//! f64 rate, u64 slices, u64 bits per slice, u64 capacity, u64 count, bits: all little-endian
//! ```
//!
//! The digest depends on the number of bits of hash that the slices need. Source: `pybloom.py` of
//! version 4.

use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use twox_hash::XxHash3_128;

use super::bits::BitArray;
use super::bloom::{ForeignBloomFilter, Places, System, bits_for, check_rate};
use super::cursor::{Cursor, MAX_UNSIGNED, unsigned_in_range};
use super::error::Error;
use super::format::Format;
use super::key::Key;
use super::rates;

/// The binary logarithm of the smallest rate, without its sign.
const MAX_SLICES: i64 = 1074;

/// A `BloomFilter` of pybloom_live 4.
///
/// Keys: strings. The filter counts the inserts that set a bit, and is full when the count is above
/// its capacity. Version 3 of pybloom_live has MD5 where version 4 has XXH3: if the slices need at
/// most 128 bits of hash. A file has no version, so a file of version 3 with few slices reads
/// without an error and misses its keys.
pub(super) type PybloomFilter = ForeignBloomFilter<Pybloom>;

/// The header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pybloom {
    pub(super) rate: f64,
    slices: u64,
    bits_per_slice: u64,
    pub(super) capacity: u64,
    pub(super) count: u64,
}

impl Pybloom {
    fn bytes(self) -> u64 {
        (self.slices * self.bits_per_slice).div_ceil(8)
    }

    /// Returns the number of bytes of the hash that give a place in a slice.
    const fn word(self) -> u64 {
        match self.bits_per_slice {
            ..0x8000 => 2,
            0x8000..0x8000_0000 => 4,
            _ => 8,
        }
    }

    /// Returns the digest that is long enough.
    fn digest(self) -> fn(&[u8], &[u8]) -> Vec<u8> {
        match 8 * self.slices * self.word() {
            ..=128 => xxh3,
            129..=160 => digest::<Sha1>,
            161..=256 => digest::<Sha256>,
            257..=384 => digest::<Sha384>,
            _ => digest::<Sha512>,
        }
    }
}

fn xxh3(salt: &[u8], key: &[u8]) -> Vec<u8> {
    XxHash3_128::oneshot(&[salt, key].concat()).to_be_bytes().to_vec()
}

fn digest<D: Digest>(salt: &[u8], key: &[u8]) -> Vec<u8> {
    D::new().chain_update(salt).chain_update(key).finalize().to_vec()
}

impl Places for Pybloom {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        let Key::Text(text) = key else {
            return Err(Error::Key { found: key.key_type() });
        };
        let digest = self.digest();
        let mut slice = 0;
        for i in 0_u32.. {
            let salt = digest(&i.to_le_bytes(), &[]);
            for word in digest(&salt, text.as_bytes()).chunks_exact(self.word() as usize) {
                if slice == self.slices {
                    return Ok(true);
                }
                let mut number = [0; 8];
                number[..word.len()].copy_from_slice(word);
                let place = u64::from_le_bytes(number) % self.bits_per_slice;
                if !each(slice * self.bits_per_slice + place) {
                    return Ok(false);
                }
                slice += 1;
            }
        }
        Ok(true)
    }
}

impl PybloomFilter {
    /// Makes an empty filter as the constructor of `BloomFilter` does.
    pub(super) fn new(capacity: u64, rate: f64) -> Result<Self, Error> {
        let ln_2 = core::f64::consts::LN_2;
        check_rate(rate)?;
        if capacity == 0 {
            return Err(Error::Size { parameter: "capacity" });
        }
        let slices = ((1.0 / rate).ln() / ln_2).ceil();
        if !slices.is_finite() {
            return Err(Error::Size { parameter: "rate" });
        }
        let bits = capacity as f64 * rate.ln().abs() / (slices * (ln_2 * ln_2));
        // Both conversions saturate.
        let (slices, bits_per_slice) = (slices as u64, bits.ceil() as u64);
        if slices.checked_mul(bits_per_slice).is_none() {
            return Err(Error::Size { parameter: "capacity" });
        }
        let system = Pybloom { rate, slices, bits_per_slice, capacity, count: 0 };
        Self::zeroed(system, system.bytes())
    }

    /// Sets the bits of a key and counts it, even if all were set or the filter is full.
    pub(super) fn insert_unchecked(&mut self, key: Key<'_>) -> Result<(), Error> {
        self.set(key)?;
        self.system.count();
        Ok(())
    }
}

impl System for Pybloom {
    fn read<'b>(cursor: &mut Cursor<'b>) -> Result<(Self, &'b [u8]), Error> {
        let (rate, slices, bits_per_slice) = (cursor.f64_le()?, cursor.u64_le()?, cursor.u64_le()?);
        let (capacity, count) = (cursor.u64_le()?, cursor.u64_le()?);
        check_rate(rate)?;
        unsigned_in_range("the number of bits per slice", bits_per_slice, 1, MAX_UNSIGNED)?;
        let most = MAX_SLICES.min(i64::MAX / bits_per_slice as i64);
        unsigned_in_range("the number of slices", slices, 1, most)?;
        // A scalable filter grows by the capacity, so the bits must suffice for it. One percent is
        // left for rounding.
        let bits = (slices * bits_per_slice) as f64;
        if capacity == 0 || bits_for(capacity as f64, rate) > bits * 1.01 {
            return Err(Error::Size { parameter: "capacity" });
        }
        let system = Self { rate, slices, bits_per_slice, capacity, count };
        Ok((system, cursor.take(system.bytes())?))
    }

    fn header(&self) -> Vec<u8> {
        let Self { rate, slices, bits_per_slice, capacity, count } = *self;
        [rate.to_bits(), slices, bits_per_slice, capacity, count].map(u64::to_le_bytes).concat()
    }

    fn format(&self) -> Format {
        Format::PybloomBloom
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("bits", self.slices * self.bits_per_slice),
            ("hash functions", self.slices),
            ("capacity", self.capacity),
            ("items", self.count),
        ]
    }

    fn rate(&self, bits: &BitArray) -> f64 {
        // Each slice has a place of its own.
        let fill = |slice| rates::fill(bits, slice * self.bits_per_slice, self.bits_per_slice);
        (0..self.slices).map(fill).product()
    }

    fn is_full(&self) -> bool {
        self.count > self.capacity
    }

    fn count(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    // The system writes 0. Such a filter would take keys far beyond its capacity.
    fn count_union(&mut self, other: &Self, bits: &BitArray) {
        let fill = rates::fill(bits, 0, self.slices * self.bits_per_slice);
        // Each key has set one bit of each slice (Swamidass and Baldi 2007).
        let estimate = (-(self.bits_per_slice as f64) * (-fill).ln_1p()).round() as u64;
        let (least, sum) = (self.count.max(other.count), self.count.saturating_add(other.count));
        self.count = estimate.clamp(least, sum);
    }

    fn unites_with(&self, other: &Self) -> bool {
        *self == Self { count: self.count, ..*other }
    }
}

#[cfg(test)]
mod tests {
    use super::{Places as _, Pybloom, PybloomFilter};
    use crate::foreign::{Error, Filter, Key};

    /// The first place of a key, the last one and the sum of all, from `make_hashfuncs` of
    /// pybloom_live 4.0.0 with the start of each slice added. They cover each digest, each width of
    /// a word, and several salts.
    #[test]
    fn places_are_those_of_each_digest() {
        let expected = [
            (4, 5991, 951, 18461, 43038),
            (8, 1000, 870, 7548, 32465),
            (9, 1000, 11, 8182, 39861),
            (10, 1438, 573, 13029, 68958),
            (11, 1000, 194, 10441, 59832),
            (16, 1000, 194, 15933, 129_116),
            (17, 32767, 24830, 533_747, 4_685_990),
            (5, 32768, 2011, 154_486, 386_284),
            (24, 1000, 597, 23474, 287_229),
            (25, 1000, 435, 24611, 315_828),
            (40, 1000, 435, 39805, 804_109),
            (8, 2_147_483_647, 1_539_440_299, 16_026_266_871, 68_970_147_384),
            (2, 2_147_483_648, 295_556_694, 3_248_447_668, 3_544_004_362),
            (9, 1_099_511_627_776, 114_152_249_635, 9_438_085_016_287, 44_957_758_674_005),
        ];
        for (slices, bits_per_slice, first, last, sum) in expected {
            let rule = Pybloom { slices, bits_per_slice, rate: 0.1, capacity: 1, count: 0 };
            let mut places = Vec::new();
            let each = &mut |place| {
                places.push(place);
                true
            };
            assert_eq!(rule.each(Key::Text("clé"), each), Ok(true));
            assert_eq!(places.len() as u64, slices, "{rule:?}");
            let ends = (places[0], places[places.len() - 1]);
            assert_eq!((ends, places.iter().sum::<u64>()), ((first, last), sum), "{rule:?}");
        }
    }

    /// The answers of `BloomFilter(3, 0.1).add` in pybloom_live 4.0.0: it takes one key more than
    /// its capacity. The key `1` sets no new bit.
    #[test]
    fn a_filter_is_full_above_its_capacity() {
        let mut filter = PybloomFilter::new(3, 0.1).unwrap();
        let answers: Vec<_> = (0..6).map(|i| filter.insert(Key::Text(&i.to_string()))).collect();
        let full = Err(Error::Full);
        assert_eq!(answers, [Ok(true), Ok(false), Ok(true), Ok(true), Ok(true), full]);
        assert_eq!(filter.system.count, 4);
    }
}
