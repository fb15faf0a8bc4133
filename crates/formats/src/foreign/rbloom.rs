//! rbloom: what `Bloom.save` of the Python package writes.
//!
//! ```text
//! u64 little-endian k, bits to the end of the file
//! ```
//!
//! The user brings the hash, an `i128`. Source: `lib.rs` of <https://github.com/KenanHanke/rbloom>.

use sha2::{Digest, Sha256};

use super::bits::BitArray;
use super::bloom::{ForeignBloomFilter, Places, System, bits_for, check_rate, max_probes};
use super::cursor::{Cursor, unsigned_in_range};
use super::error::Error;
use super::format::Format;
use super::key::Key;
use super::rates;

/// A `Bloom` of rbloom.
///
/// The file does not name the hash that the Python program uses. Here bytes and strings are hashed
/// as in rbloom's documentation, but without pickling: `int.from_bytes(sha256(key).digest()[:16],
/// "big", signed=True)`. For another hash there is
/// [`contains_hash`](super::Filter::contains_hash).
pub(super) type RbloomFilter = ForeignBloomFilter<Rbloom>;

/// The header, and the number of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rbloom {
    k: u64,
    bytes: u64,
}

impl Rbloom {
    /// Calls `each` with the places of a key with this hash, as [`Places::each`] does.
    fn each_of_hash(self, hash: i128, each: &mut dyn FnMut(u64) -> bool) -> bool {
        // A linear congruential generator of 128 bits. The bits 32 to 95 of its state give a place.
        const MULTIPLIER: u128 = 47_026_247_687_942_121_848_144_207_491_837_418_733;
        let mut state = hash as u128;
        (0..self.k).all(|_| {
            state = state.wrapping_mul(MULTIPLIER).wrapping_add(1);
            each((state >> 32) as u64 % (8 * self.bytes))
        })
    }
}

impl Places for Rbloom {
    fn each(&self, key: Key<'_>, each: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
        // The first half of the SHA-256 of a key.
        let digest: [u8; 32] = Sha256::digest(key.bytes()?).into();
        let (halves, _) = digest.as_chunks();
        Ok(self.each_of_hash(i128::from_be_bytes(halves[0]), each))
    }
}

impl RbloomFilter {
    /// Makes an empty filter as the constructor of `Bloom` does.
    pub(super) fn new(capacity: u64, rate: f64) -> Result<Self, Error> {
        check_rate(rate)?;
        if capacity == 0 {
            return Err(Error::Size { parameter: "capacity" });
        }
        let keys = capacity as f64;
        let size = bits_for(keys, rate);
        let k = (size / keys * core::f64::consts::LN_2) as u64;
        let bytes = (size as u64).div_ceil(8);
        Self::zeroed(Rbloom { k, bytes }, bytes)
    }
}

impl System for Rbloom {
    fn read<'b>(cursor: &mut Cursor<'b>) -> Result<(Self, &'b [u8]), Error> {
        let k = cursor.u64_le()?;
        let array = cursor.rest();
        let bytes = array.len() as u64;
        // A filter for a rate above 1/2 can have no hash functions, or even no bits. It finds each
        // key.
        let most = if array.is_empty() { 0 } else { max_probes(8 * bytes) };
        unsigned_in_range("the number of hash functions", k, 0, most)?;
        Ok((Self { k, bytes }, array))
    }

    fn contains_hash(&self, bits: &BitArray, hash: i128) -> Option<bool> {
        Some(self.each_of_hash(hash, &mut |place| bits.get(place)))
    }

    fn header(&self) -> Vec<u8> {
        self.k.to_le_bytes().to_vec()
    }

    fn format(&self) -> Format {
        Format::Rbloom
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        vec![("bits", 8 * self.bytes), ("hash functions", self.k)]
    }

    fn rate(&self, bits: &BitArray) -> f64 {
        if self.k == 0 { 1.0 } else { rates::of_places(bits, 8 * self.bytes, self.k) }
    }
}
