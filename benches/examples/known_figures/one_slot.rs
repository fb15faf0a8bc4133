//! A cuckoo filter with one slot per bucket, which only fills half: no shape of the library.

use std::mem;

/// The moves after which an insert gives up.
const MOVES: u32 = 10_000;

/// A table of fingerprints of 16 bits, one per bucket; zero is an empty bucket.
#[derive(Debug)]
pub(crate) struct OneSlot {
    buckets: Vec<u16>,
}

impl OneSlot {
    /// Makes an empty table of a power of two of buckets.
    pub(crate) fn new(buckets: u64) -> Self {
        Self { buckets: vec![0; buckets.next_power_of_two() as usize] }
    }

    /// Inserts a fingerprint into the bucket of a hash. The one that was there moves to its other
    /// bucket, and so on. Returns `false`, and has lost one, if this does not end.
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        let mask = self.buckets.len() - 1;
        let mut fingerprint = (hash as u16).max(1);
        let mut at = (hash >> 32) as usize & mask;
        (0..MOVES).any(|_| {
            mem::swap(&mut self.buckets[at], &mut fingerprint);
            let other = u64::from(fingerprint).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            at ^= (other >> 32) as usize & mask;
            fingerprint == 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_fingerprint_is_in_its_other_bucket() {
        let mut table = OneSlot::new(64);
        // Two of one class have two buckets; the third one finds none.
        let hash = 7 << 32 | 5;
        assert_eq!([0; 3].map(|_| table.insert(hash)), [true, true, false]);
        assert_eq!(table.buckets.iter().filter(|&&bucket| bucket == 5).count(), 2);
    }
}
