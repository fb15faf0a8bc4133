//! bits-and-blooms: what `(*BloomFilter).WriteTo` of the Go package
//! `github.com/bits-and-blooms/bloom` writes.
//!
//! ```text
//! u64 m, u64 k, u64 m, words: all big-endian
//! ```
//!
//! The hash is Murmur3 x64 128 with seed 0, of the key and of the key with a byte 1 after it.
//! Source: `bloom.go` and `murmur.go`, and `github.com/bits-and-blooms/bitset`.

use super::bits::BitArray;
use super::bloom::{ForeignBloomFilter, Places, System, bits_for, check_rate, max_probes};
use super::cursor::{Cursor, MAX_UNSIGNED, unsigned_in_range};
use super::error::Error;
use super::format::Format;
use super::key::Key;
use super::rates;

/// A `BloomFilter` of the Go package bits-and-blooms.
///
/// Keys: bytes, as `Add` takes them, and strings, as `AddString`.
pub(super) type BitsAndBloomsFilter = ForeignBloomFilter<BitsAndBlooms>;

/// The header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BitsAndBlooms {
    /// The number of bits. It is not rounded up to whole words.
    m: u64,
    k: u64,
}

impl BitsAndBlooms {
    fn bytes(self) -> u64 {
        8 * self.m.div_ceil(64)
    }
}

impl Places for BitsAndBlooms {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        let bytes = key.bytes()?;
        let hash = fastmurmur3::murmur3_x64_128(bytes, 0);
        let hash_of_more = fastmurmur3::murmur3_x64_128(&[bytes, &[1]].concat(), 0);
        let of_key = [hash as u64, (hash >> 64) as u64];
        let of_more = [hash_of_more as u64, (hash_of_more >> 64) as u64];
        Ok((0..self.k).all(|i| {
            let odd = i % 2;
            let second = of_more[((i + odd) % 4 / 2) as usize];
            each(of_key[odd as usize].wrapping_add(i.wrapping_mul(second)) % self.m)
        }))
    }
}

impl BitsAndBloomsFilter {
    /// Makes an empty filter as `NewWithEstimates` does.
    pub(super) fn new(capacity: u64, rate: f64) -> Result<Self, Error> {
        check_rate(rate)?;
        let keys = capacity as f64;
        let m = bits_for(keys, rate).ceil();
        if capacity == 0 || m >= u64::MAX as f64 {
            return Err(Error::Size { parameter: "capacity" });
        }
        Self::with_size(m as u64, (core::f64::consts::LN_2 * m / keys).ceil() as u64)
    }

    /// Makes an empty filter as `New(m, k)` does: of `m` bits and `k` hash functions, each at least
    /// 1.
    pub(super) fn with_size(m: u64, k: u64) -> Result<Self, Error> {
        let system = BitsAndBlooms { m: m.max(1), k: k.max(1) };
        if system.k > max_probes(system.m) as u64 {
            return Err(Error::Size { parameter: "number of hash functions" });
        }
        Self::zeroed(system, system.bytes())
    }
}

impl System for BitsAndBlooms {
    const BIG_ENDIAN_WORDS: bool = true;

    fn read<'b>(cursor: &mut Cursor<'b>) -> Result<(Self, &'b [u8]), Error> {
        let (m, k, len) = (cursor.u64_be()?, cursor.u64_be()?, cursor.u64_be()?);
        unsigned_in_range("the number of bits", m, 1, MAX_UNSIGNED)?;
        unsigned_in_range("the number of hash functions", k, 1, max_probes(m))?;
        unsigned_in_range("the length of the set of bits", len, m as i64, m as i64)?;
        let system = Self { m, k };
        Ok((system, cursor.take(system.bytes())?))
    }

    fn header(&self) -> Vec<u8> {
        [self.m, self.k, self.m].map(u64::to_be_bytes).concat()
    }

    fn format(&self) -> Format {
        Format::BitsAndBlooms
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        vec![("bits", self.m), ("hash functions", self.k)]
    }

    fn rate(&self, bits: &BitArray) -> f64 {
        // Four numbers give the places, so that they hardly form a progression.
        rates::of_places(bits, self.m, self.k)
    }
}
