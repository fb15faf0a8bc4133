//! XXPH3, the 64-bit hash of RocksDB: a preview of XXH3, with seed 0.
//!
//! It has the secret and the structure of XXH3, but other formulas for short keys, another
//! avalanche, and another accumulation for long ones. Own code: crates have only the released XXH3.
//! Source: `util/xxph3.h` of RocksDB, which is XXH3 of xxHash 0.7.2.

const PRIME32_1: u64 = 0x9E37_79B1;
const PRIME32_2: u64 = 0x85EB_CA77;
const PRIME32_3: u64 = 0xC2B2_AE3D;
const PRIME64_1: u64 = 0x9E37_79B1_85EB_CA87;
const PRIME64_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const PRIME64_3: u64 = 0x1656_67B1_9E37_79F9;
const PRIME64_4: u64 = 0x85EB_CA77_C2B2_AE63;
const PRIME64_5: u64 = 0x27D4_EB2F_1656_67C5;

/// The bytes of a stripe, and of the accumulators.
const STRIPE: usize = 64;
/// The bytes between two full uses of the secret.
const BLOCK: usize = 1024;

#[rustfmt::skip]
const SECRET: [u8; 192] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
];

/// Returns the hash of bytes.
pub(super) fn xxph3(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    match length {
        0 => fold(secret(0), PRIME64_2),
        1..=3 => {
            let word = [bytes[0], bytes[length / 2], bytes[length - 1], length as u8];
            avalanche(
                (u64::from(u32::from_le_bytes(word)) ^ secret(0) & 0xFFFF_FFFF)
                    .wrapping_mul(PRIME64_1),
            )
        }
        4..=8 => {
            let keyed = (read32(bytes, 0) | read32(bytes, length - 4) << 32) ^ secret(0);
            let mixed = (keyed ^ keyed >> 51).wrapping_mul(PRIME32_1).wrapping_add(length as u64);
            avalanche((mixed ^ mixed >> 47).wrapping_mul(PRIME64_2))
        }
        9..=16 => {
            let low = read(bytes, 0) ^ secret(0);
            let high = read(bytes, length - 8) ^ secret(8);
            let sum = (length as u64).wrapping_add(low).wrapping_add(high);
            avalanche(sum.wrapping_add(fold(low, high)))
        }
        17..=128 => {
            // Pairs of 16 bytes from both ends.
            let pair = |i| {
                let front = mix(bytes, 16 * i, 32 * i);
                front.wrapping_add(mix(bytes, length - 16 * (i + 1), 32 * i + 16))
            };
            avalanche((0..length.div_ceil(32)).map(pair).fold(start(length), u64::wrapping_add))
        }
        129..=240 => {
            let first = (0..8).map(|i| mix(bytes, 16 * i, 16 * i));
            let first = avalanche(first.fold(start(length), u64::wrapping_add));
            let more = (8..length / 16).map(|i| mix(bytes, 16 * i, 16 * (i - 8) + 3));
            let last = mix(bytes, length - 16, 136 - 17);
            avalanche(more.fold(first, u64::wrapping_add).wrapping_add(last))
        }
        _ => long(bytes),
    }
}

/// Hashes more than 240 bytes.
fn long(bytes: &[u8]) -> u64 {
    let mut sums =
        [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1];
    for block in bytes.chunks(BLOCK) {
        for (place, stripe) in block.as_chunks::<STRIPE>().0.iter().enumerate() {
            accumulate(&mut sums, stripe, 8 * place);
        }
        if block.len() == BLOCK {
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = (*sum ^ *sum >> 47 ^ secret(128 + 8 * i)).wrapping_mul(PRIME32_1);
            }
        }
    }
    // The last stripe ends with the bytes and overlaps the one before.
    if !bytes.len().is_multiple_of(STRIPE) {
        accumulate(&mut sums, &bytes[bytes.len() - STRIPE..], 192 - STRIPE - 7);
    }
    let merge =
        |i: usize| fold(sums[2 * i] ^ secret(11 + 16 * i), sums[2 * i + 1] ^ secret(19 + 16 * i));
    avalanche((0..4).map(merge).fold(start(bytes.len()), u64::wrapping_add))
}

fn accumulate(sums: &mut [u64; 8], stripe: &[u8], at: usize) {
    for (i, sum) in sums.iter_mut().enumerate() {
        let data = read(stripe, 8 * i);
        let keyed = data ^ secret(at + 8 * i);
        *sum = sum.wrapping_add(data).wrapping_add((keyed & 0xFFFF_FFFF) * (keyed >> 32));
    }
}

fn start(length: usize) -> u64 {
    (length as u64).wrapping_mul(PRIME64_1)
}

fn mix(bytes: &[u8], place: usize, at: usize) -> u64 {
    fold(read(bytes, place) ^ secret(at), read(bytes, place + 8) ^ secret(at + 8))
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

fn avalanche(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 37).wrapping_mul(PRIME64_3);
    hash ^ hash >> 32
}

fn secret(at: usize) -> u64 {
    read(&SECRET, at)
}

/// Reads 8 bytes, little-endian.
fn read(bytes: &[u8], place: usize) -> u64 {
    bytes[place..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

fn read32(bytes: &[u8], place: usize) -> u64 {
    bytes[place..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each length around which the formula changes. The vectors of RocksDB check lengths up to 69,
    /// and 10240; the other hashes here are those of a second implementation from the same
    /// description.
    #[test]
    fn the_hashes_of_all_lengths_are_pinned() {
        let hash = |length: u64| {
            let bytes: Vec<u8> = (0..length).map(|j| (131 * j + 7) as u8).collect();
            xxph3(&bytes)
        };
        for (length, expected) in [
            (0, 0x5342_c301_0fe1_dd04),
            (3, 0x8b93_d653_06b4_7960),
            (8, 0xe02b_b026_0ca2_f426),
            (16, 0x808d_c7f6_a08e_1828),
            (100, 0x8b24_6ecc_bbc2_83b5),
            (128, 0xb885_f0d2_6898_35e1),
            (129, 0xfe14_6eb2_e99b_1a68),
            (200, 0xdc07_fbe3_07a7_cb37),
            (240, 0xddce_7abb_d046_abf1),
            (241, 0xb1e5_3475_de84_b071),
            (1023, 0x8364_2416_1aee_f716),
            (1024, 0x144a_a676_708d_a11c),
            (1025, 0x6210_58c4_914d_5089),
            (3000, 0x02a5_dac6_aa65_b908),
        ] {
            assert_eq!(hash(length), expected, "{length}");
        }
    }
}
