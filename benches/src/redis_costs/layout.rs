//! Which bits of a key an item has, in our layout and in that of a classic Bloom filter.

use tamis::bloom::Geometry;
use tamis::hash::{HashItem, Rapid};
use tamis_bloom::raw;

/// The bits in a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// All bits of an item are in one line of 64 bytes.
    Lines(Geometry),
    /// The bits of an item are anywhere.
    Anywhere { bits: u64, probes: u32 },
}

/// Returns the hasher of all schemes.
pub(super) const fn hasher() -> Rapid {
    Rapid::with_seed(1)
}

impl Layout {
    /// Returns the bytes of the key.
    pub(super) const fn bytes(self) -> u64 {
        match self {
            Self::Lines(geometry) => geometry.bits() / 8,
            Self::Anywhere { bits, .. } => bits / 8,
        }
    }

    /// Returns the words with bits of an item, by their number in the key, and the bits; none if
    /// the bits are anywhere.
    pub(super) fn words(self, item: u64) -> impl Iterator<Item = (u64, u64)> {
        let found = match self {
            Self::Lines(geometry) => raw::bits_of(geometry, hasher().hash_item(&item)),
            Self::Anywhere { .. } => None,
        };
        let words = found.into_iter().flat_map(|(line, words)| (8 * line..).zip(words));
        words.filter(|(_, bits)| *bits != 0)
    }

    /// Returns the offsets of an item's bits, as the commands of Redis count them: from the highest
    /// bit of the first byte.
    pub(super) fn offsets(self, item: u64) -> Vec<u64> {
        let Self::Anywhere { bits, probes } = self else {
            let ones = self.words(item).flat_map(|(word, bits)| {
                let ones = (0..64).filter(move |bit| bits >> bit & 1 == 1);
                ones.map(move |bit| 64 * word + (bit ^ 7))
            });
            return ones.collect();
        };
        // Double hashing: a second hash is the step from bit to bit.
        let first = hasher().hash_item(&item);
        let step = hasher().hash_item(&first) | 1;
        let hashes = (0..u64::from(probes)).map(|n| first.wrapping_add(n.wrapping_mul(step)));
        hashes.map(|hash| ((u128::from(hash) * u128::from(bits)) >> 64) as u64).collect()
    }

    /// Returns a key that has these items.
    pub(super) fn filled(self, items: impl Iterator<Item = u64>) -> Vec<u8> {
        let mut key = vec![0; self.bytes() as usize];
        for offset in items.flat_map(|item| self.offsets(item)) {
            key[offset as usize / 8] |= 0x80 >> (offset % 8);
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use tamis::BlockedBloomFilter;

    use super::*;

    /// The words and the offsets are the same bits, and all are in the key.
    #[test]
    fn a_key_has_the_bits_of_its_items() {
        let builder = BlockedBloomFilter::<u64>::builder().capacity(1000);
        let lines = Layout::Lines(builder.false_positive_rate(1e-6).geometry().unwrap());
        let anywhere = Layout::Anywhere { bits: 20_000, probes: 7 };
        let key = lines.filled(0..1000);
        for item in 0..1000 {
            for (word, bits) in lines.words(item) {
                let bytes = key[8 * word as usize..][..8].try_into().unwrap();
                assert_eq!(u64::from_le_bytes(bytes) & bits, bits);
            }
            let ones: u32 = lines.words(item).map(|(_, bits)| bits.count_ones()).sum();
            assert_eq!(lines.offsets(item).len(), ones as usize);
            assert_eq!(anywhere.offsets(item).len(), 7);
        }
        for layout in [lines, anywhere] {
            let ones = |items| -> u32 {
                layout.filled(items).iter().map(|byte: &u8| byte.count_ones()).sum()
            };
            let each = layout.offsets(5).len();
            assert!(ones(5..6) as usize <= each && ones(0..1000) as usize > 300 * each);
        }
    }
}
