//! MetroHash64, variant 1.
//!
//! Own code: the crate `metrohash` reads words in the order of the processor, so that a big-endian
//! one has other hashes. Source: `metrohash64.cpp` of <https://github.com/jandrewrogers/MetroHash>.

const K0: u64 = 0xD6D0_18F5;
const K1: u64 = 0xA2AA_033B;
const K2: u64 = 0x6299_2FC1;
const K3: u64 = 0x30BC_5B29;

/// Returns the hash of bytes.
pub(super) fn metro_hash_64(bytes: &[u8], seed: u64) -> u64 {
    let start = seed.wrapping_add(K2).wrapping_mul(K0);
    let mut hash = start;

    // Blocks of 32 bytes go through four lanes.
    let (blocks, rest) = bytes.as_chunks::<32>();
    if !blocks.is_empty() {
        let mut v = [start; 4];
        for block in blocks {
            for (lane, k) in [K0, K1, K2, K3].into_iter().enumerate() {
                v[lane] = v[lane].wrapping_add(word(&block[8 * lane..][..8]).wrapping_mul(k));
                v[lane] = v[lane].rotate_right(29).wrapping_add(v[(lane + 2) % 4]);
            }
        }
        for (to, a, b, k_in, k_out) in
            [(2, 3, 1, K0, K1), (3, 2, 0, K1, K0), (0, 2, 3, K0, K1), (1, 3, 2, K1, K0)]
        {
            // The first lane of the sum is 0 for even targets, and 1 for odd ones.
            let sum = v[to % 2].wrapping_add(v[a]).wrapping_mul(k_in).wrapping_add(v[b]);
            v[to] ^= sum.rotate_right(37).wrapping_mul(k_out);
        }
        hash = hash.wrapping_add(v[0] ^ v[1]);
    }

    // At most 31 bytes are left: 16, 8, 4, 2 and 1 of them.
    let (pairs, rest) = rest.as_chunks::<16>();
    for pair in pairs {
        let half = |bytes| hash.wrapping_add(word(bytes).wrapping_mul(K2));
        let mut a = half(&pair[..8]).rotate_right(29).wrapping_mul(K3);
        let mut b = half(&pair[8..]).rotate_right(29).wrapping_mul(K3);
        a ^= a.wrapping_mul(K0).rotate_right(21).wrapping_add(b);
        b ^= b.wrapping_mul(K3).rotate_right(21).wrapping_add(a);
        hash = hash.wrapping_add(b);
    }
    let mut rest = rest;
    for (length, rotation) in [(8, 55), (4, 26), (2, 48), (1, 37)] {
        if let Some((part, after)) = rest.split_at_checked(length) {
            hash = hash.wrapping_add(word(part).wrapping_mul(K3));
            hash ^= hash.rotate_right(rotation).wrapping_mul(K1);
            rest = after;
        }
    }

    hash ^= hash.rotate_right(28);
    hash = hash.wrapping_mul(K0);
    hash ^ hash.rotate_right(29)
}

/// Returns at most 8 bytes as a little-endian number.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vector of the source: `MetroHash64::test_seed_0` and `test_seed_1`, as little-endian
    /// bytes.
    #[test]
    fn the_hashes_are_those_of_the_source() {
        let key = b"012345678901234567890123456789012345678901234567890123456789012";
        let hash = |seed| metro_hash_64(key, seed).to_le_bytes();
        assert_eq!(hash(0), [0x6B, 0x75, 0x3D, 0xAE, 0x06, 0x70, 0x4B, 0xAD]);
        assert_eq!(hash(1), [0x3B, 0x0D, 0x48, 0x1C, 0xF4, 0xB9, 0xB8, 0xDF]);
    }
}
