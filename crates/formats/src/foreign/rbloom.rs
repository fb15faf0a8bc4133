//! rbloom: what `Bloom.save` of the Python package writes.
//!
//! ```text
//! u64 little-endian k, bits to the end of the file
//! ```
//!
//! The user brings the hash, an `i128`. Source: `lib.rs` of <https://github.com/KenanHanke/rbloom>.

use std::io;

use sha2::{Digest, Sha256};

use super::bits::BitArray;
use super::bloom::{self, bits_for, check_rate, max_probes};
use super::cursor::{Cursor, unsigned_in_range};
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::Key;
use super::rates;

/// A `Bloom` of rbloom.
///
/// The file does not name the hash that the Python program uses. Here bytes and strings are hashed
/// as in rbloom's documentation, but without pickling: `int.from_bytes(sha256(key).digest()[:16],
/// "big", signed=True)`. For another hash, use [`contains_hash`](Self::contains_hash) and
/// [`insert_hash`](Self::insert_hash).
///
/// # Examples
///
/// ```
/// # use tamis_formats as tamis;
/// use tamis::formats::foreign::{Filter, Key, RbloomFilter};
///
/// let mut filter = RbloomFilter::new(1000, 0.01)?;
/// filter.insert(Key::Bytes(b"a"))?;
/// assert!(filter.contains(Key::Text("a"))?);
/// assert_eq!(filter.encoded_len(), 8 + 1199);
/// # Ok::<(), tamis::formats::foreign::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RbloomFilter {
    rule: Rule,
    bits: BitArray,
}

/// The header, and the number of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rule {
    k: u64,
    bytes: u64,
}

impl Rule {
    fn each(self, hash: i128, each: &mut dyn FnMut(u64) -> bool) {
        // A linear congruential generator of 128 bits. The bits 32 to 95 of its state give a place.
        const MULTIPLIER: u128 = 47_026_247_687_942_121_848_144_207_491_837_418_733;
        let mut state = hash as u128;
        for _ in 0..self.k {
            state = state.wrapping_mul(MULTIPLIER).wrapping_add(1);
            if !each((state >> 32) as u64 % (8 * self.bytes)) {
                break;
            }
        }
    }
}

/// Returns the first half of the SHA-256 of a key.
fn hash(key: Key<'_>) -> Result<i128, Error> {
    let digest: [u8; 32] = Sha256::digest(key.bytes()?).into();
    let (halves, _) = digest.as_chunks();
    Ok(i128::from_be_bytes(halves[0]))
}

impl RbloomFilter {
    /// Makes an empty filter as the constructor of `Bloom` does.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] if rbloom makes no such filter, or [`Error::Alloc`].
    pub fn new(capacity: u64, rate: f64) -> Result<Self, Error> {
        check_rate(rate)?;
        if capacity == 0 {
            return Err(Error::Size { parameter: "capacity" });
        }
        let keys = capacity as f64;
        let size = bits_for(keys, rate);
        let k = (size / keys * core::f64::consts::LN_2) as u64;
        let bytes = (size as u64).div_ceil(8);
        Ok(Self { rule: Rule { k, bytes }, bits: BitArray::zeroed(bytes)? })
    }

    /// Reads a filter.
    ///
    /// # Errors
    ///
    /// [`Error`] if rbloom does not write such bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::{Filter, RbloomFilter};
    /// let bytes = RbloomFilter::new(10, 0.1)?.to_bytes();
    /// assert_eq!(RbloomFilter::from_bytes(&bytes)?.to_bytes(), bytes);
    /// # Ok::<(), tamis::formats::foreign::Error>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
        let k = cursor.u64_le()?;
        let bits = cursor.rest();
        let rule = Rule { k, bytes: bits.len() as u64 };
        // A filter for a rate above 1/2 can have no hash functions, or even no bits. It finds each
        // key.
        let most = if bits.is_empty() { 0 } else { max_probes(8 * rule.bytes) };
        unsigned_in_range("the number of hash functions", k, 0, most)?;
        Ok(Self { rule, bits: BitArray::of_bytes(bits)? })
    }

    /// Returns whether the filter may contain a key with this hash.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tamis_formats as tamis;
    /// use tamis::formats::foreign::RbloomFilter;
    /// let mut filter = RbloomFilter::new(1000, 0.01)?;
    /// assert!(filter.insert_hash(-7) && filter.contains_hash(-7) && !filter.contains_hash(7));
    /// # Ok::<(), tamis::formats::foreign::Error>(())
    /// ```
    #[must_use]
    pub fn contains_hash(&self, hash: i128) -> bool {
        let mut all = true;
        self.rule.each(hash, &mut |place| {
            all = self.bits.get(place);
            all
        });
        all
    }

    /// Inserts a key with this hash. Returns whether the filter has changed.
    pub fn insert_hash(&mut self, hash: i128) -> bool {
        let mut changed = false;
        self.rule.each(hash, &mut |place| {
            changed |= self.bits.set(place);
            true
        });
        changed
    }
}

impl Filter for RbloomFilter {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        Ok(self.contains_hash(hash(key)?))
    }

    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error> {
        Ok(self.insert_hash(hash(key)?))
    }

    fn union_with(&mut self, other: &dyn Filter) -> Result<(), Error> {
        let other = bloom::like(other, |other: &Self| other.rule == self.rule)?;
        self.bits.unite(&other.bits);
        Ok(())
    }

    fn format(&self) -> Format {
        Format::Rbloom
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        vec![("bits", 8 * self.rule.bytes), ("hash functions", self.rule.k)]
    }

    fn false_positive_rate(&self) -> f64 {
        if self.rule.k == 0 {
            1.0
        } else {
            rates::of_places(&self.bits, 8 * self.rule.bytes, self.rule.k)
        }
    }

    fn encoded_len(&self) -> u64 {
        8 + self.rule.bytes
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&self.rule.k.to_le_bytes())?;
        to.write_all(self.bits.as_bytes())
    }
}
