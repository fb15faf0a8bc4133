//! An array of fingerprints of one byte, in buckets: the table of the cuckoo filters. 0 is an empty
//! slot.

use core::fmt;

use super::bits::BitArray;
use super::error::Error;

/// The bytes of a table. A bucket is its number; it must be in the table.
#[derive(Clone)]
pub(super) struct Slots {
    slots: BitArray,
    bucket_size: usize,
}

/// Writes the sizes, not the fingerprints.
impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slots({} buckets of {})", self.buckets(), self.bucket_size)
    }
}

impl Slots {
    /// Makes empty buckets.
    pub(super) fn empty(buckets: u64, bucket_size: u8) -> Result<Self, Error> {
        let bytes = buckets.checked_mul(bucket_size.into());
        let bytes = bytes.ok_or(Error::Alloc { bytes: u64::MAX })?;
        Ok(Self { slots: BitArray::zeroed(bytes)?, bucket_size: bucket_size.into() })
    }

    /// Copies the bytes of a file, which are whole buckets, at least one.
    pub(super) fn of_bytes(bytes: &[u8], bucket_size: u8) -> Result<Self, Error> {
        Ok(Self { slots: BitArray::of_bytes(bytes)?, bucket_size: bucket_size.into() })
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.slots.as_bytes()
    }

    pub(super) fn buckets(&self) -> u64 {
        (self.as_bytes().len() / self.bucket_size) as u64
    }

    pub(super) fn bucket(&self, bucket: u64) -> &[u8] {
        let start = bucket as usize * self.bucket_size;
        &self.as_bytes()[start..][..self.bucket_size]
    }

    fn bucket_mut(&mut self, bucket: u64) -> &mut [u8] {
        let start = bucket as usize * self.bucket_size;
        &mut self.slots.as_bytes_mut()[start..][..self.bucket_size]
    }

    /// Returns whether a bucket has a fingerprint.
    pub(super) fn has(&self, bucket: u64, fingerprint: u8) -> bool {
        self.bucket(bucket).contains(&fingerprint)
    }

    /// Returns the probability that a key which was not inserted is found: one of 255 fingerprints,
    /// and a bucket that is independent of it. `other` returns the other bucket of a fingerprint.
    ///
    /// It counts the pairs of a fingerprint and a first bucket that are found. A fingerprint in a
    /// bucket is found from there and from its other bucket, whose other bucket is this one again.
    /// So it counts twice, but only once if the other bucket has it too, since that one counts as
    /// well.
    pub(super) fn false_positive_rate(&self, other: impl Fn(u64, u8) -> u64) -> f64 {
        let found = (0..self.buckets()).map(|number| {
            // A fingerprint that is in a bucket several times counts once; 0 is none.
            let mut seen = [1_u64, 0, 0, 0];
            let mut pairs = 0;
            for &fingerprint in self.bucket(number) {
                let (word, bit) = (usize::from(fingerprint / 64), 1 << (fingerprint % 64));
                if seen[word] & bit == 0 {
                    seen[word] |= bit;
                    let both = self.has(other(number, fingerprint), fingerprint);
                    pairs += if both { 1 } else { 2 };
                }
            }
            pairs
        });
        found.sum::<u64>() as f64 / (255.0 * self.buckets() as f64)
    }

    /// Replaces the first such slot of a bucket. Returns whether there was one.
    pub(super) fn replace(&mut self, bucket: u64, from: u8, to: u8) -> bool {
        let slot = self.bucket_mut(bucket).iter_mut().find(|slot| **slot == from);
        slot.map(|slot| *slot = to).is_some()
    }

    /// Puts a fingerprint into a slot, and returns the one that was there.
    pub(super) fn swap(&mut self, bucket: u64, slot: usize, fingerprint: u8) -> u8 {
        core::mem::replace(&mut self.bucket_mut(bucket)[slot], fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The oracle: each fingerprint from each first bucket.
    #[test]
    fn the_rate_is_the_part_of_all_pairs_that_are_found() {
        let mut state = 7_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for bucket_size in [1, 2, 4, 9] {
            // Few fingerprints, so that buckets share them. Some are their own other bucket.
            let bytes: Vec<u8> = (0..16 * bucket_size).map(|_| 60 * random(5) as u8).collect();
            let slots = Slots::of_bytes(&bytes, bucket_size as u8).unwrap();
            let other = |bucket: u64, fingerprint: u8| bucket ^ (u64::from(fingerprint) % 16);
            let found = |bucket, fingerprint| {
                slots.has(bucket, fingerprint) || slots.has(other(bucket, fingerprint), fingerprint)
            };
            let pairs = (1..=255).flat_map(|of| (0..16).map(move |bucket| (bucket, of)));
            let count = pairs.filter(|&(bucket, of)| found(bucket, of)).count();
            let rate = slots.false_positive_rate(other);
            assert!((rate - count as f64 / (255.0 * 16.0)).abs() < 1e-12, "{bucket_size}: {rate}");
        }
    }
}
