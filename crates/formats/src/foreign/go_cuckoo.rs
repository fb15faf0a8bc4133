//! Go, `github.com/seiflotfy/cuckoofilter`: what `Encode` returns.
//!
//! ```text
//! the fingerprints: buckets of 4 bytes, 0 is an empty slot; the number of buckets is a power of two
//! ```
//!
//! The hash is MetroHash64 with seed 1337. Source: `cuckoofilter.go` and `util.go`.

use std::io;

use super::cursor::in_range;
use super::error::Error;
use super::filter::Filter;
use super::format::Format;
use super::key::Key;
use super::metro::metro_hash_64;
use super::slots::Slots;

const SEED: u64 = 1337;
const BUCKET_SIZE: u8 = 4;
/// The most moves of an insert.
const MAX_MOVES: usize = 500;
/// The greatest capacity: the first bucket of a key has 32 bits.
const MAX_CAPACITY: u64 = 1 << 34;

/// A `Filter` of the Go package `cuckoofilter`.
///
/// Keys are bytes; a string is its bytes. An insert stores a key again if the filter contains it.
///
/// The package moves fingerprints at random if both buckets of a key are full. So does this filter,
/// with random numbers of its own: from the first such insert on, only the answers are those of the
/// package. If 500 moves find no empty slot, the package has lost a key; this filter takes the
/// moves back.
#[derive(Clone, Debug)]
pub(super) struct GoCuckooFilter {
    slots: Slots,
    /// The state of the random numbers.
    random: u64,
}

impl GoCuckooFilter {
    /// Makes an empty filter as `NewFilter` does.
    pub(super) fn new(capacity: u64) -> Result<Self, Error> {
        if capacity > MAX_CAPACITY {
            return Err(Error::Size { parameter: "capacity" });
        }
        let buckets = (capacity.next_power_of_two() / u64::from(BUCKET_SIZE)).max(1);
        Ok(Self { slots: Slots::empty(buckets, BUCKET_SIZE)?, random: SEED })
    }

    /// Reads a filter.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let length = bytes.len() as i64;
        let next = (bytes.len() as u64).next_power_of_two().max(4) as i64;
        in_range("the number of bytes", length, next, next)?;
        Ok(Self { slots: Slots::of_bytes(bytes, BUCKET_SIZE)?, random: SEED })
    }

    /// Returns the number of fingerprints.
    pub(super) fn count(&self) -> u64 {
        self.slots.as_bytes().iter().filter(|&&fingerprint| fingerprint != 0).count() as u64
    }

    /// Returns the fingerprint and the two buckets of a key.
    fn entry(&self, key: Key<'_>) -> Result<(u8, [u64; 2]), Error> {
        let hash = metro_hash_64(key.bytes()?, SEED);
        let fingerprint = (hash % 255) as u8 + 1;
        let first = hash >> 32 & (self.slots.buckets() - 1);
        Ok((fingerprint, [first, self.other(first, fingerprint)]))
    }

    fn other(&self, bucket: u64, fingerprint: u8) -> u64 {
        bucket ^ metro_hash_64(&[fingerprint], SEED) & (self.slots.buckets() - 1)
    }

    /// Returns a random number below a power of two: SplitMix64.
    fn random_below(&mut self, limit: u64) -> usize {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) & (limit - 1)) as usize
    }

    /// Stores a fingerprint by moving others. Returns whether it did; if not, nothing has changed.
    fn evict(&mut self, mut fingerprint: u8, buckets: [u64; 2]) -> bool {
        let mut bucket = buckets[self.random_below(2)];
        let mut moves = Vec::with_capacity(MAX_MOVES);
        for _ in 0..MAX_MOVES {
            let slot = self.random_below(BUCKET_SIZE.into());
            fingerprint = self.slots.swap(bucket, slot, fingerprint);
            moves.push((bucket, slot));
            bucket = self.other(bucket, fingerprint);
            if self.slots.replace(bucket, 0, fingerprint) {
                return true;
            }
        }
        for &(bucket, slot) in moves.iter().rev() {
            fingerprint = self.slots.swap(bucket, slot, fingerprint);
        }
        false
    }
}

impl Filter for GoCuckooFilter {
    fn contains(&self, key: Key<'_>) -> Result<bool, Error> {
        let (fingerprint, buckets) = self.entry(key)?;
        Ok(buckets.iter().any(|&bucket| self.slots.has(bucket, fingerprint)))
    }

    fn insert(&mut self, key: Key<'_>) -> Result<bool, Error> {
        let (fingerprint, buckets) = self.entry(key)?;
        let stored = buckets.iter().any(|&bucket| self.slots.replace(bucket, 0, fingerprint))
            || self.evict(fingerprint, buckets);
        if stored { Ok(true) } else { Err(Error::Full) }
    }

    fn remove(&mut self, key: Key<'_>) -> Result<bool, Error> {
        let (fingerprint, buckets) = self.entry(key)?;
        Ok(buckets.iter().any(|&bucket| self.slots.replace(bucket, fingerprint, 0)))
    }

    fn format(&self) -> Format {
        Format::GoCuckoo
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let (buckets, slots) = (self.slots.buckets(), BUCKET_SIZE.into());
        vec![("buckets", buckets), ("slots per bucket", slots), ("items", self.count())]
    }

    fn false_positive_rate(&self) -> f64 {
        let hashes: Vec<u64> = (0..=255).map(|number: u8| metro_hash_64(&[number], SEED)).collect();
        let mask = self.slots.buckets() - 1;
        let other = |bucket, fingerprint: u8| bucket ^ hashes[usize::from(fingerprint)] & mask;
        self.slots.false_positive_rate(other)
    }

    fn encoded_len(&self) -> u64 {
        self.slots.as_bytes().len() as u64
    }

    fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(self.slots.as_bytes())
    }
}
