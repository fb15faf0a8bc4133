//! RedisBloom: the Bloom filter of `BF.SCANDUMP`, which grows by sub-filters.
//!
//! ```text
//! u64 items, u32 sub-filters, u32 options, u32 growth
//! of each sub-filter: u64 bytes, u64 bits, u64 items, f64 error, f64 bits per entry, u32 k, u64 capacity, u8 n2
//! the arrays of the sub-filters: all little-endian
//! ```
//!
//! The hash is MurmurHash64A with two seeds. Source: `src/sb.c` and `deps/bloom/bloom.c`.

use std::io;

use super::bits::BitArray;
use super::bloom::check_rate;
use super::cursor::{Cursor, in_range};
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::Key;
use super::rates;

/// The option of a filter that does not grow.
const NON_SCALING: u32 = 8;
/// The options of all filters: no rounding of sizes (1), hashes of 64 bits (4).
const OPTIONS: u32 = 1 + 4;
/// The growth that RedisBloom writes for a filter that does not grow. It is the default of all
/// filters.
const DEFAULT_GROWTH: u32 = 2;
/// The most that `EXPANSION` may be.
const MAX_GROWTH: u32 = 32_768;
/// The error of a sub-filter is this part of the error of the one before.
const TIGHTENING: f64 = 0.5;
/// A greater error is taken as this one.
const MAX_ERROR: f64 = 0.25;
/// The `k` of the least positive `f64` as the error.
const MAX_PROBES: i64 = 1075;
/// The bytes of the header before the sub-filters.
const HEADER: u64 = 20;
/// The bytes of a sub-filter in the header.
const SUB_HEADER: u64 = 53;

/// A Bloom filter of RedisBloom: `BF.RESERVE`, `BF.ADD`, `BF.EXISTS`, `BF.SCANDUMP` and
/// `BF.LOADCHUNK`.
///
/// Keys are bytes; a string is its bytes. An insert changes nothing if the filter may already
/// contain the key.
#[derive(Clone, Debug)]
pub(super) struct RedisModuleBloomFilter {
    items: u64,
    options: u32,
    growth: u32,
    /// From the oldest to the newest, at least one.
    subs: Vec<(Sub, BitArray)>,
}

/// The header of a sub-filter.
#[derive(Clone, Copy, Debug)]
struct Sub {
    bits: u64,
    items: u64,
    error: f64,
    bits_per_entry: f64,
    k: u32,
    capacity: u64,
}

impl Sub {
    /// Computes the sizes.
    fn new(capacity: u64, error: f64) -> Result<Self, Error> {
        let bits_per_entry = bits_per_entry(error);
        let bits = (capacity as f64 * bits_per_entry).trunc().max(1.0);
        if error <= 0.0 {
            return Err(Error::Size { parameter: "rate" });
        }
        if capacity == 0 || bits > i64::MAX as f64 / 2.0 {
            return Err(Error::Size { parameter: "capacity" });
        }
        let bits = (bits as u64).next_multiple_of(64);
        Ok(Self { bits, items: 0, error, bits_per_entry, k: probes(bits_per_entry), capacity })
    }

    /// Reads the header of a sub-filter that grows or not.
    fn read(cursor: &mut Cursor<'_>, grows: bool) -> Result<Self, Error> {
        let (bytes, bits, items) = (cursor.i64_le()?, cursor.i64_le()?, cursor.i64_le()?);
        let (error, bits_per_entry) = (cursor.f64_le()?, cursor.f64_le()?);
        let (k, capacity, n2) = (cursor.u32_le()?, cursor.i64_le()?, cursor.u8()?);
        in_range("the number of bytes", bytes, 1, i64::MAX / 8)?;
        in_range("the number of bits", bits, 8 * bytes, 8 * bytes)?;
        check_rate(error)?;
        // RedisBloom makes the same check.
        let of_entry = probes(bits_per_entry).into();
        in_range("the number of hash functions", k.into(), 1, MAX_PROBES)?;
        in_range("the number of hash functions", k.into(), of_entry, of_entry)?;
        // An entry of a filter that grows has more than one bit.
        in_range("the capacity", capacity, 1, if grows { bits } else { i64::MAX })?;
        in_range("the number of items", items, 0, capacity)?;
        // The bits suffice for the capacity, so that the next sub-filter has at most three times
        // `growth` of the bytes that are there. RedisBloom drops a fraction of a bit. One percent
        // is left for rounding.
        if (capacity as f64 * self::bits_per_entry(error)).trunc() > bits as f64 * 1.01 {
            return Err(Error::Size { parameter: "capacity" });
        }
        in_range("the logarithm of the size", n2.into(), 0, 0)?;
        let (bits, items, capacity) = (bits as u64, items as u64, capacity as u64);
        Ok(Self { bits, items, error, bits_per_entry, k, capacity })
    }

    fn write(&self, to: &mut Vec<u8>) {
        for number in [self.bits / 8, self.bits, self.items] {
            to.extend(number.to_le_bytes());
        }
        to.extend(self.error.to_le_bytes());
        to.extend(self.bits_per_entry.to_le_bytes());
        to.extend(self.k.to_le_bytes());
        to.extend(self.capacity.to_le_bytes());
        to.push(0);
    }

    fn places(self, (first, second): (u64, u64)) -> impl Iterator<Item = u64> {
        let place = move |i| first.wrapping_add(second.wrapping_mul(i)) % self.bits;
        (0..u64::from(self.k)).map(place)
    }
}

/// Returns the bits per entry for an error. The constants are as short as in the source.
fn bits_per_entry(error: f64) -> f64 {
    -error.ln() / 0.480_453_013_918_201
}

#[expect(clippy::approx_constant, reason = "ln 2 with more digits gives other sizes")]
fn probes(bits_per_entry: f64) -> u32 {
    (0.693_147_180_559_945 * bits_per_entry).ceil() as u32
}

fn hash(key: Key<'_>) -> Result<(u64, u64), Error> {
    let bytes = key.bytes()?;
    let first = murmur2::murmur64a(bytes, 0xc6a4_a793_5bd1_e995);
    Ok((first, murmur2::murmur64a(bytes, first)))
}

impl RedisModuleBloomFilter {
    /// Makes an empty filter as `BF.RESERVE` of RedisBloom 8 does. `expansion` is its `EXPANSION`,
    /// by default 2; `None` is `NONSCALING`. A rate above 0.25 is taken as 0.25.
    pub(super) fn new(capacity: u64, rate: f64, expansion: Option<u32>) -> Result<Self, Error> {
        check_rate(rate)?;
        if !(1..=MAX_GROWTH).contains(&expansion.unwrap_or(1)) {
            return Err(Error::Size { parameter: "expansion" });
        }
        let error = rate.min(MAX_ERROR);
        let (options, tightening) = match expansion {
            Some(_) => (OPTIONS, TIGHTENING),
            None => (OPTIONS + NON_SCALING, 1.0),
        };
        let growth = expansion.unwrap_or(DEFAULT_GROWTH);
        let mut filter = Self { items: 0, options, growth, subs: Vec::new() };
        filter.add_sub(capacity, error * tightening)?;
        Ok(filter)
    }

    /// Reads a filter: the data of all chunks, in order.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
        let (items, count, options) = (cursor.i64_le()?, cursor.u32_le()?, cursor.u32_le()?);
        let growth = cursor.u32_le()?;
        let grows = options & NON_SCALING == 0;
        let most = if grows { u32::MAX } else { 1 };
        in_range("the number of sub-filters", count.into(), 1, most.into())?;
        let known = OPTIONS | (options & NON_SCALING);
        in_range("the options", options.into(), known.into(), known.into())?;
        in_range("the growth", growth.into(), grows.into(), MAX_GROWTH.into())?;

        // All headers are before the arrays.
        let mut headers = Cursor::new(cursor.take(SUB_HEADER * u64::from(count))?);
        let mut subs = Vec::new();
        for _ in 0..count {
            let sub = Sub::read(&mut headers, grows)?;
            subs.push((sub, BitArray::of_bytes(cursor.take(sub.bits / 8)?)?));
        }
        cursor.end()?;
        // RedisBloom makes the same check.
        let of_subs =
            subs.iter().fold(0, |sum: i64, (sub, _)| sum.saturating_add(sub.items as i64));
        in_range("the number of items", items, of_subs, of_subs)?;
        Ok(Self { items: items as u64, options, growth, subs })
    }

    fn add_sub(&mut self, capacity: u64, error: f64) -> Result<(), Error> {
        let sub = Sub::new(capacity, error)?;
        let bits = BitArray::zeroed(sub.bits / 8)?;
        self.subs.push((sub, bits));
        Ok(())
    }

    fn header(&self) -> Vec<u8> {
        let mut header = Vec::new();
        header.extend(self.items.to_le_bytes());
        for number in [self.subs.len() as u32, self.options, self.growth] {
            header.extend(number.to_le_bytes());
        }
        self.subs.iter().for_each(|(sub, _)| sub.write(&mut header));
        header
    }
}

impl Filter for RedisModuleBloomFilter {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        let hash = hash(key)?;
        let in_sub = |(sub, bits): &(Sub, BitArray)| sub.places(hash).all(|place| bits.get(place));
        Ok(self.subs.iter().any(in_sub))
    }

    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error> {
        if self.contains(key)? {
            return Ok(false);
        }
        if let Some((newest, _)) = self.subs.last()
            && newest.items >= newest.capacity
        {
            if self.options & NON_SCALING != 0 {
                return Err(Error::Full);
            }
            let capacity = newest.capacity.checked_mul(self.growth.into());
            let capacity = capacity.ok_or(Error::Size { parameter: "capacity" })?;
            self.add_sub(capacity, newest.error * TIGHTENING)?;
        }
        if let Some((sub, bits)) = self.subs.last_mut() {
            for place in sub.places(hash(key)?) {
                bits.set(place);
            }
            sub.items += 1;
        }
        self.items += 1;
        Ok(true)
    }

    fn format(&self) -> Format {
        Format::RedisBloom
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let sum = |of: fn(&Sub) -> u64| {
            self.subs.iter().fold(0_u64, |sum, (sub, _)| sum.saturating_add(of(sub)))
        };
        vec![
            ("sub-filters", self.subs.len() as u64),
            ("bits", sum(|sub| sub.bits)),
            ("hash functions", self.subs.last().map_or(0, |(sub, _)| sub.k.into())),
            ("capacity", sum(|sub| sub.capacity)),
            ("items", self.items),
            ("expansion", if self.options & NON_SCALING == 0 { self.growth.into() } else { 0 }),
        ]
    }

    fn false_positive_rate(&self) -> f64 {
        let of_sub =
            |(sub, bits): &(Sub, BitArray)| rates::of_progression(bits, sub.bits, sub.k.into());
        rates::of_any(self.subs.iter().map(of_sub))
    }

    fn encoded_len(&self) -> u64 {
        let subs = self.subs.iter().map(|(sub, _)| SUB_HEADER + sub.bits / 8);
        HEADER + subs.sum::<u64>()
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&self.header())?;
        self.subs.iter().try_for_each(|(_, bits)| to.write_all(bits.as_bytes()))
    }
}
