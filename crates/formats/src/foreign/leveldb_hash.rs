//! The hash of LevelDB, and of the legacy filters of RocksDB: 32 bits, like Murmur.
//!
//! Source: `util/hash.cc` of LevelDB and of RocksDB. They differ in the tail.

const M: u32 = 0xc6a4_a793;

/// Returns the hash of bytes. `tail` extends one of the last bytes: LevelDB takes it as unsigned,
/// RocksDB as signed.
pub(super) fn hash(bytes: &[u8], tail: fn(u8) -> u32) -> u32 {
    // Both seed their Bloom filters with this number. The length is a `u32` there.
    let mut hash = 0xbc9f_1d34 ^ (bytes.len() as u32).wrapping_mul(M);
    let (words, rest) = bytes.as_chunks::<4>();
    for &word in words {
        hash = hash.wrapping_add(u32::from_le_bytes(word)).wrapping_mul(M);
        hash ^= hash >> 16;
    }
    if !rest.is_empty() {
        for (place, &byte) in (0..).zip(rest) {
            hash = hash.wrapping_add(tail(byte) << (8 * place));
        }
        hash = hash.wrapping_mul(M);
        hash ^= hash >> 24;
    }
    hash
}
