//! ORC: a protobuf message `orc.proto.BloomFilter` with a `utf8bitset`.
//!
//! ```text
//! u8 0x08 (field 1, a varint), varint k, u8 0x1a (field 3, bytes), varint length, words: little-endian
//! ```
//!
//! A `BLOOM_FILTER_UTF8` stream of an ORC file is a message that repeats this one. Older
//! `BLOOM_FILTER` streams have field 2, which this file does not read. Bytes are hashed by one lane
//! of Murmur3 x64, integers by Thomas Wang's mix. Source: `BloomFilter.java`, `BloomFilterIO.java`
//! and `Murmur3.java` of `org.apache.orc.util`.

use super::bits::BitArray;
use super::bloom::{
    self, ForeignBloomFilter, Places, System, bits_for, check_rate, max_probes, round,
};
use super::cursor::{Cursor, in_range, unsigned_in_range};
use super::error::Error;
use super::format::Format;
use super::key::Key;
use super::rates;
use super::thrift::push_varint;

const TAG_K: u8 = 0x08;
const TAG_BITS: u8 = 0x1a;
/// The most words: the number of bits is an `i32`.
const MAX_WORDS: i64 = i32::MAX as i64 / 64;

/// A `BloomFilterUtf8` of ORC.
///
/// Keys: a string goes in as `addString` does it, bytes as `addBytes`, an integer as `addLong`.
pub(super) type OrcFilter = ForeignBloomFilter<Orc>;

/// The header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Orc {
    k: u32,
    words: u32,
}

impl Orc {
    fn bits(self) -> u64 {
        64 * u64::from(self.words)
    }
}

impl Places for Orc {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        let hash = match key {
            Key::Bytes(bytes) => hash(bytes),
            Key::Text(text) => hash(text.as_bytes()),
            Key::I32(number) => hash_of_integer(number.into()),
            Key::I64(number) => hash_of_integer(number),
        };
        let halves = (hash as i32, (hash >> 32) as i32);
        Ok(bloom::sums_of_32_bits(halves, self.k, self.bits(), each))
    }
}

impl OrcFilter {
    /// Makes an empty filter as the constructor of `BloomFilterUtf8` does.
    pub(super) fn new(capacity: u64, rate: f64) -> Result<Self, Error> {
        check_rate(rate)?;
        // A multiple of 64 bits gets a whole word more. The conversion saturates.
        let words = bits_for(capacity as f64, rate) as u64 / 64 + 1;
        if capacity == 0 || capacity > i64::MAX as u64 || words > MAX_WORDS as u64 {
            return Err(Error::Size { parameter: "capacity" });
        }
        let words = words as u32;
        let bits = f64::from(words) * 64.0;
        let k = round(bits / capacity as f64 * core::f64::consts::LN_2).max(1.0);
        let system = Orc { k: k as u32, words };
        Self::zeroed(system, system.bits() / 8)
    }
}

impl System for Orc {
    fn read<'b>(cursor: &mut Cursor<'b>) -> Result<(Self, &'b [u8]), Error> {
        tag(cursor, TAG_K)?;
        let k = varint(cursor)?;
        tag(cursor, TAG_BITS)?;
        let length = varint(cursor)?;
        unsigned_in_range("the number of bytes", length, 8, 8 * MAX_WORDS)?;
        in_range("the number of bytes after whole words", length as i64 % 8, 0, 0)?;
        unsigned_in_range("the number of hash functions", k, 1, max_probes(8 * length))?;
        Ok((Self { k: k as u32, words: (length / 8) as u32 }, cursor.take(length)?))
    }

    fn header(&self) -> Vec<u8> {
        let mut header = vec![TAG_K];
        push_varint(&mut header, self.k.into());
        header.push(TAG_BITS);
        push_varint(&mut header, self.bits() / 8);
        header
    }

    fn format(&self) -> Format {
        Format::Orc
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        vec![("bits", self.bits()), ("hash functions", self.k.into())]
    }

    fn rate(&self, bits: &BitArray) -> f64 {
        rates::of_progression(bits, self.bits(), self.k.into())
    }
}

fn tag(cursor: &mut Cursor<'_>, tag: u8) -> Result<(), Error> {
    in_range("the tag of a field", cursor.u8()?.into(), tag.into(), tag.into())
}

/// Reads a number in groups of 7 bits, the least significant group first.
fn varint(cursor: &mut Cursor<'_>) -> Result<u64, Error> {
    let mut number = 0;
    // The numbers of the format have at most 32 bits, and five groups have 35.
    for group in 0..5 {
        let byte = cursor.u8()?;
        number |= u64::from(byte & 0x7f) << (7 * group);
        if byte < 0x80 {
            // A writer uses the shortest form.
            let min = i64::from(group > 0);
            in_range("the last byte of a varint", byte.into(), min, 0x7f)?;
            return Ok(number);
        }
    }
    Err(Error::Field { field: "the length of a varint", found: 6, min: 1, max: 5 })
}

/// Returns the hash of bytes: `Murmur3.hash64`, one lane of Murmur3 x64 128.
fn hash(bytes: &[u8]) -> u64 {
    const SEED: u64 = 104_729;
    let mixed = |word: u64| {
        word.wrapping_mul(0x87c3_7b91_1142_53d5).rotate_left(31).wrapping_mul(0x4cf5_ad43_2745_937f)
    };
    let (words, tail) = bytes.as_chunks::<8>();
    let mut hash = words.iter().fold(SEED, |hash, &word| {
        let hash = hash ^ mixed(u64::from_le_bytes(word));
        hash.rotate_left(27).wrapping_mul(5).wrapping_add(0x52dc_e729)
    });
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    // Without a tail this word is 0, and its mix is 0 too.
    hash ^= mixed(u64::from_le_bytes(last));
    hash ^= bytes.len() as u64;
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// Returns the hash of an integer (`BloomFilter.getLongHash`): Thomas Wang's mix of 64 bits, but
/// shifts to the right copy the sign.
fn hash_of_integer(key: i64) -> u64 {
    let mut hash = (!key).wrapping_add(key << 21);
    hash ^= hash >> 24;
    hash = hash.wrapping_mul(265);
    hash ^= hash >> 14;
    hash = hash.wrapping_mul(21);
    hash ^= hash >> 28;
    hash.wrapping_add(hash << 31) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 45 keys at a rate of 1/2 need 64.9 bits. ORC drops the fraction, and adds 64.
    #[test]
    fn a_multiple_of_64_bits_gets_a_word_more() {
        let filter = OrcFilter::new(45, 0.5).unwrap();
        assert_eq!((filter.system.words, filter.system.k), (2, 2));
    }
}
